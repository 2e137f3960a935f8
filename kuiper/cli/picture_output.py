"""Pictures that commands write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image

from kuiper.errors import ImageError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path


def check_picture_name(option: str, path: Path) -> None:
    """Find out before the work, not after it, that Pillow cannot write this kind of file.

    Raises
    ------
    ParameterError
        If the name does not end like that of a picture.
    """
    if Image.registered_extensions().get(path.suffix.lower()) not in Image.SAVE:
        raise ParameterError(option, "a picture's file name, such as OUT.png", path)


def save_picture(picture: Image.Image, path: Path) -> None:
    """Write the picture in the format that its name says.

    Raises
    ------
    ImageError
        If that format cannot hold it (a JPEG has at most 65535 pixels a side).
    OSError
        If the file cannot be written.
    """
    try:
        picture.save(path)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ImageError(str(path), f"a format that can hold {picture.width}x{picture.height} pixels", error) from error
