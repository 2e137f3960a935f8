"""Which pictures to work on: files as they are given, and all pictures in folders."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from PIL import Image

from kuiper.models.pictures.picture_file import known_formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Place = str | os.PathLike[str]


def find_pictures(places: Iterable[Place], leave_out: Place | None = None) -> list[str]:
    """The paths of the pictures at these places, each picture once.

    A file is taken whatever its name is. A folder stands for the files in it, and in the folders in it, whose names end
    like pictures, in natural order: 9.png before 10.png. Hidden ones are passed over, and so is the folder
    ``leave_out``. Links are followed, but no folder is entered twice.

    >>> from kuiper.models import bundled_photo
    >>> [os.path.basename(path) for path in find_pictures([bundled_photo().parent])]
    ['cat.jpg', 'digits.png', 'shapes.png']

    Raises
    ------
    OSError
        If a folder cannot be read.
    """
    avoided = os.path.realpath(leave_out) if leave_out is not None else None
    found: dict[str, str] = {}
    for place in places:
        for path in _walk(place, avoided) if os.path.isdir(place) else [os.fspath(place)]:
            found.setdefault(os.path.abspath(path), path)
    return list(found.values())


def natural_order(name: str) -> tuple[list[str | int], str]:
    """A sorting key by which numbers in names count as numbers.

    >>> sorted(["b10.png", "a.png", "b9.png", "B1.png"], key=natural_order)
    ['a.png', 'B1.png', 'b9.png', 'b10.png']
    """
    parts = re.split(r"(\d+)", name.casefold())
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], name


@cache
def picture_suffixes() -> frozenset[str]:
    """The endings of files in the formats that are opened, in lower case, as far as this Pillow has them.

    >>> {".jpg", ".png", ".webp"} <= picture_suffixes(), {".eps", ".pdf"} & picture_suffixes()
    (True, set())
    """
    registered = Image.registered_extensions()  # which loads all that Pillow has
    return frozenset(suffix for suffix, kind in registered.items() if kind in known_formats())


def _walk(top: Place, avoided: str | None) -> Iterator[str]:
    entered = set()
    for folder, folders, files in os.walk(top, onerror=_raise, followlinks=True):
        real = os.path.realpath(folder)
        if real in entered or real == avoided:
            folders.clear()
            continue
        entered.add(real)
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=natural_order)
        for name in sorted(files, key=natural_order):
            if not name.startswith(".") and os.path.splitext(name)[1].lower() in picture_suffixes():
                yield os.path.join(folder, name)


def _raise(error: OSError) -> None:
    raise error
