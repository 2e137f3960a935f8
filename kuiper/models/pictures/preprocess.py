"""From a photo to the numbers that a network takes.

    read_image: any file, array or picture -> upright RGB
    -> resize_shorter -> centre_crop       (or resize, which distorts)
    -> normalise: (pixel / 255 - mean) / std, as (1, 3, h, w)

Sizes, rounding and the smoothing resize are torchvision's on pictures of Pillow, so a network sees what it saw when it
was trained. Sizes are (height, width) here, although Pillow itself says (width, height).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image

from kuiper.errors import ImageError, ParameterError, ShapeError
from kuiper.models.pictures.picture_file import MAX_PIXELS, decode_picture, open_picture

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = npt.NDArray[np.float32]
ImageSource = str | os.PathLike[str] | bytes | npt.NDArray[np.generic] | Image.Image

_SIXTEEN_BITS = ("I", "I;16", "I;16L", "I;16B", "I;16N")
_TO_8_BITS = np.rint(np.arange(65536) / 257).astype(np.uint8)


def read_image(source: ImageSource) -> Image.Image:
    """The picture upright and in RGB, whatever it was: a file, the bytes of one, an array (h, w), (h, w, 3) or
    (h, w, 4) of uint8, or a picture of Pillow.

    The orientation that cameras note in EXIF is applied; greys of 16 bits are scaled to 8; what is
    transparent is laid on white.

    Raises
    ------
    ImageError
        If the file is not an image of a raster format (``picture_file.FORMATS``), not a whole one, or has more than
        ``picture_file.MAX_PIXELS``; or if the array is not of that kind.
    """
    if isinstance(source, Image.Image):
        return to_rgb(source, "image")
    if isinstance(source, np.ndarray):
        return to_rgb(_from_array(source), "image")
    where = "picture" if isinstance(source, bytes) else os.fspath(source)
    picture = decode_picture(source, where) if isinstance(source, bytes) else open_picture(where)
    try:
        return to_rgb(picture, where)
    except (ValueError, MemoryError) as error:  # a mode that Pillow does not convert
        if isinstance(error, ImageError):
            raise
        raise ImageError(where, "an image that can be read", str(error) or type(error).__name__) from error


def to_rgb(image: Image.Image, where: str = "image") -> Image.Image:
    """The same picture in mode RGB.

    Parameters
    ----------
    image : a picture of any mode; what is transparent is laid on white, and greys of 16 bits are scaled to 8
    where : the name of the file, for error messages

    Returns
    -------
    A picture of the same size.

    Raises
    ------
    ImageError
        If brightness is stored in a way that has no fixed white (float, or integers beyond 16 bits).

    Examples
    --------
    >>> to_rgb(Image.new("RGBA", (1, 1), (255, 0, 0, 0))).getpixel((0, 0))
    (255, 255, 255)
    """
    if image.mode in _SIXTEEN_BITS:
        grey = np.asarray(image)
        if grey.min(initial=0) < 0 or grey.max(initial=0) > 65535:
            raise ImageError(where, "greys of 8 or 16 bits", f"values {grey.min()} to {grey.max()}")
        return Image.fromarray(_TO_8_BITS[grey]).convert("RGB")
    if image.mode == "F":
        raise ImageError(where, "greys of 8 or 16 bits", "floats", "scale them to 0..255 as uint8")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), layer).convert("RGB")
    return image.convert("RGB")


def resize(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture at exactly this size by bilinear interpolation, smoothed where it shrinks.

    Parameters
    ----------
    image : a picture
    size : (height, width) in pixels

    Returns
    -------
    A picture of this size; its proportions may change.

    Raises
    ------
    ParameterError
        If a side is not above 0, or the result would have more than ``picture_file.MAX_PIXELS``.

    Examples
    --------
    >>> resize(Image.new("RGB", (450, 300)), (64, 32)).size  # Pillow says (width, height)
    (32, 64)

    Source: ``torchvision.transforms.Resize`` on pictures of Pillow.
    """
    height, width = size
    if min(size) < 1:
        raise ParameterError("resize", "a height and width above 0", size)
    check_pixels("resize", height, width)
    return image.resize((width, height), Image.Resampling.BILINEAR)


def resize_shorter(image: Image.Image, size: int) -> Image.Image:
    """The picture with its shorter side at this length and its proportions kept.

    Parameters
    ----------
    image : a picture
    size : pixels of the shorter side

    Returns
    -------
    A picture whose longer side is rounded down.

    Raises
    ------
    ParameterError
        If ``size`` is not above 0, or the result would have more than ``picture_file.MAX_PIXELS``.

    Examples
    --------
    >>> resize_shorter(Image.new("RGB", (451, 300)), 32).size
    (48, 32)
    """
    width, height = image.size
    shorter = min(width, height)
    return resize(image, (size * height // shorter, size * width // shorter))


def centre_crop(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The middle of the picture; half a pixel goes to the even side, as in torchvision.

    Parameters
    ----------
    image : a picture
    size : (height, width) in pixels

    Returns
    -------
    A picture of this size.

    Raises
    ------
    ShapeError
        If the picture is smaller.

    Examples
    --------
    >>> centre_crop(Image.new("RGB", (48, 32)), (32, 32)).size
    (32, 32)
    """
    height, width = size
    if min(size) < 1 or height > image.height or width > image.width:
        expected = f"1 <= size <= the picture's {image.height}x{image.width}"
        raise ShapeError("centre_crop", expected, f"{height}x{width}")
    top, left = round((image.height - height) / 2), round((image.width - width) / 2)
    return image.crop((left, top, left + width, top + height))


def normalise(image: Image.Image, mean: Sequence[float] = (0, 0, 0), std: Sequence[float] = (1, 1, 1)) -> Array:
    """``(pixel / 255 - mean) / std`` for each channel.

    Parameters
    ----------
    image : a picture
    mean : of red, green and blue, as fractions of 255
    std : the same, not 0

    Returns
    -------
    float32 of shape (1, 3, h, w).

    Examples
    --------
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


def check_pixels(where: str, height: int, width: int) -> None:
    """Refuse to make a picture of more than ``picture_file.MAX_PIXELS``: of a line of 1 x 60000, say, one 224 high.

    Parameters
    ----------
    where : who would make it, for the message
    height : in pixels
    width : in pixels

    Raises
    ------
    ParameterError
        If it would have more.

    Examples
    --------
    >>> check_pixels("resize", 100000, 100000)
    Traceback (most recent call last):
    kuiper.errors.ParameterError: resize: expected at most 134,217,728 pixels, got 100000x100000
    """
    if height * width > MAX_PIXELS:
        raise ParameterError(where, f"at most {MAX_PIXELS:,} pixels", f"{height}x{width}")
