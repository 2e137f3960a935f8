"""From a photo to the numbers that a network takes.

    read_image: any file, array or picture -> upright RGB
    -> resize_shorter -> centre_crop       (or resize, which distorts)
    -> normalise: (pixel / 255 - mean) / std, as (1, 3, h, w)

Sizes, rounding and the smoothing resize are torchvision's on pictures of Pillow, so a network sees what it saw when it
was trained. Sizes are (height, width) here, although Pillow itself says (width, height).
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from kuiper.errors import ImageError, ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = npt.NDArray[np.float32]
ImageSource = str | os.PathLike[str] | npt.NDArray[np.generic] | Image.Image

_SIXTEEN_BITS = ("I", "I;16", "I;16L", "I;16B", "I;16N")


def read_image(source: ImageSource) -> Image.Image:
    """The picture upright and in RGB, whatever it was: a file, an array (h, w), (h, w, 3) or (h, w, 4) of uint8, or a
    picture of Pillow.

    The orientation that cameras note in EXIF is applied; greys of 16 bits are scaled to 8; what is
    transparent is laid on white.

    Raises
    ------
    ImageError
        If the file is not an image or not a whole one, or if the array is not of that kind.
    """
    if isinstance(source, Image.Image):
        return to_rgb(source, "image")
    if isinstance(source, np.ndarray):
        return to_rgb(_from_array(source), "image")
    where = os.fspath(source)
    _refuse_all_but_files(where)
    try:
        with Image.open(where) as image:
            image.load()
            return to_rgb(ImageOps.exif_transpose(image), where)
    except UnidentifiedImageError as error:
        raise ImageError(where, "an image", "a file of another kind") from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, ImageError):
            raise
        raise ImageError(where, "an image that can be read", str(error) or type(error).__name__) from error


def to_rgb(image: Image.Image, where: str = "image") -> Image.Image:
    """The same picture in mode RGB.

    >>> to_rgb(Image.new("RGBA", (1, 1), (255, 0, 0, 0))).getpixel((0, 0))
    (255, 255, 255)

    Raises
    ------
    ImageError
        If brightness is stored in a way that has no fixed white (float, or integers beyond 16 bits).
    """
    if image.mode in _SIXTEEN_BITS:
        grey = np.asarray(image).astype(np.int64)
        if grey.min(initial=0) < 0 or grey.max(initial=0) > 65535:
            raise ImageError(where, "greys of 8 or 16 bits", f"values {grey.min()} to {grey.max()}")
        return Image.fromarray(np.rint(grey / 257).astype(np.uint8)).convert("RGB")
    if image.mode == "F":
        raise ImageError(where, "greys of 8 or 16 bits", "floats", "scale them to 0..255 as uint8")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), layer).convert("RGB")
    return image.convert("RGB")


def resize(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture at exactly (height, width) by bilinear interpolation, smoothed where it shrinks.

    Raises
    ------
    ParameterError
        If a side is not above 0.
    """
    height, width = size
    if min(size) < 1:
        raise ParameterError("resize", "a height and width above 0", size)
    return image.resize((width, height), Image.Resampling.BILINEAR)


def resize_shorter(image: Image.Image, size: int) -> Image.Image:
    """The picture with its shorter side at ``size`` and its proportions kept.

    >>> resize_shorter(Image.new("RGB", (451, 300)), 32).size
    (48, 32)
    """
    width, height = image.size
    shorter = min(width, height)
    return resize(image, (size * height // shorter, size * width // shorter))


def centre_crop(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The middle (height, width) of the picture; half a pixel goes to the even side, as in torchvision.

    Raises
    ------
    ShapeError
        If the picture is smaller.
    """
    height, width = size
    if min(size) < 1 or height > image.height or width > image.width:
        expected = f"1 <= size <= the picture's {image.height}x{image.width}"
        raise ShapeError("centre_crop", expected, f"{height}x{width}")
    top, left = round((image.height - height) / 2), round((image.width - width) / 2)
    return image.crop((left, top, left + width, top + height))


def normalise(image: Image.Image, mean: Sequence[float] = (0, 0, 0), std: Sequence[float] = (1, 1, 1)) -> Array:
    """``(pixel / 255 - mean) / std`` for each channel, as float32 of shape (1, 3, h, w).

    >>> normalise(Image.new("RGB", (1, 1), (255, 0, 51)), (0, 0.5, 0), (1, 0.5, 1)).ravel().tolist()
    [1.0, -1.0, 0.20000000298023224]
    """
    pixels = np.asarray(to_rgb(image), np.float32) / 255
    scaled = (pixels - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[np.newaxis])


def _from_array(array: npt.NDArray[np.generic]) -> Image.Image:
    fits = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if not fits or array.dtype != np.uint8 or array.size == 0:
        expected = "uint8 of shape (h, w), (h, w, 3) or (h, w, 4)"
        raise ImageError("image", expected, f"{array.dtype} of shape {array.shape}")
    return Image.fromarray(array)


def _refuse_all_but_files(where: str) -> None:
    """A pipe or a device could keep the decoder waiting forever, and "no image" is a poor word for a folder."""
    try:
        status = os.stat(where)
    except (OSError, ValueError) as error:
        got = "nothing there" if isinstance(error, FileNotFoundError) else str(error)
        raise ImageError(where, "a file", got) from error
    if not stat.S_ISREG(status.st_mode):
        raise ImageError(where, "a file", "a directory" if stat.S_ISDIR(status.st_mode) else "a special file")
    if status.st_size == 0:
        raise ImageError(where, "an image", "an empty file")
