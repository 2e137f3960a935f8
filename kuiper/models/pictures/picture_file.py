"""The one place that opens pictures: formats from a list, files of a bounded size, and an error for everything else.

Pillow by itself would hand PostScript to another program, ``gs``, and would open what claims billions of pixels.
"""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import IO, TYPE_CHECKING

from PIL import Image, ImageOps, UnidentifiedImageError

from kuiper.bounded_file import obstacle
from kuiper.errors import ImageError

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = (
    *("AVIF", "BMP", "DIB", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG"),
    *("PPM", "QOI", "SGI", "TGA", "TIFF", "WEBP"),
)
"""Rows of pixels, which Pillow decodes by itself; nothing is opened in another format."""

MAX_PIXELS = 2**27
"""Of a picture that is opened or made: 134 million, half a gigabyte in RGB. Files that say more are mostly bombs."""


@cache
def known_formats() -> tuple[str, ...]:
    """Those of FORMATS that this Pillow was built with."""
    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def open_picture(where: str) -> Image.Image:
    """The first picture in a file, decoded and upright, in the mode in which it is stored.

    Raises
    ------
    ImageError
        If the file is no regular file, of no format in FORMATS, damaged, or has more than MAX_PIXELS.
    """
    got = obstacle(where)
    if got:
        raise ImageError(where, "a file", got)
    try:
        with open(where, "rb") as file:
            return _decoded(file, where)
    except OSError as error:
        raise ImageError(where, "an image that can be read", str(error)) from error


def decode_picture(data: bytes, where: str) -> Image.Image:
    """The first picture in what a file would have in it; ``where`` is what messages call it.

    Raises
    ------
    ImageError
        As ``open_picture``.
    """
    return _decoded(io.BytesIO(data), where)


def _decoded(file: IO[bytes], where: str) -> Image.Image:
    try:
        with _no_warnings():
            if not file.read(1):
                raise ImageError(where, "an image", "an empty file")
            file.seek(0)
            with Image.open(file, formats=known_formats()) as image:
                _check_pixels(image, where)
                image.load()
                _check_pixels(image, where)  # of an icon, only its own header says how large it is
                return _upright(image)
    except ImageError:
        raise
    except UnidentifiedImageError as error:
        raise ImageError(where, "an image", "a file of another kind") from error
    except Image.DecompressionBombError as error:
        raise ImageError(where, _AT_MOST, "more") from error
    except Exception as error:  # decoders of broken files raise anything
        raise ImageError(where, "an image that can be read", str(error) or type(error).__name__) from error


_AT_MOST = f"a picture of at most {MAX_PIXELS:,} pixels"


def _check_pixels(image: Image.Image, where: str) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise ImageError(where, _AT_MOST, f"{image.width}x{image.height}")


def _upright(image: Image.Image) -> Image.Image:
    """As the orientation in EXIF says; a picture whose EXIF is broken is as upright as one without."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:
        return image.copy()


_PILLOW = r"(PIL|kuiper\.models\.pictures\.picture_file)\b"
_lock = Lock()
_inside = 0
_before = warnings.catch_warnings()


@contextmanager
def _no_warnings() -> Iterator[None]:
    """No warning of Pillow's is shown while any thread reads a picture: of large ones, or of odd metadata.

    ``catch_warnings`` changes what holds for all threads and puts back what it found, so the first to come in and
    the last to leave do that.
    """
    global _inside, _before
    if getattr(sys.flags, "context_aware_warnings", False):  # Python 3.14: it holds for this thread alone
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=_PILLOW)
            yield
        return
    with _lock:
        if _inside == 0:
            _before = warnings.catch_warnings()
            _before.__enter__()
            warnings.filterwarnings("ignore", module=_PILLOW)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _before.__exit__(None, None, None)
