"""Folders in which a submission has written: made, and removed again without following anything that it left there."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder; whatever it holds at the end is removed, links as links, and however deep it is nested."""
    folder = Path(tempfile.mkdtemp(prefix="kuiper-grade-")).resolve()
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder. What cannot be removed stays; nothing outside of it is touched.

    Folders in it are moved up and emptied one by one: no path grows longer than two names, whatever the nesting.
    """
    names = count()
    for _ in range(1_000_000):
        below = _entries(folder)
        left = [path for path in below if _is_folder(path) or not _unlink(path)]
        if not any(map(_is_folder, left)):
            break
        moved = False
        for path in filter(_is_folder, left):
            _open_up(path)
            for inner in _entries(path):
                if _is_folder(inner):
                    _open_up(inner)
                    moved |= _move(inner, folder / f".removed-{os.getpid()}-{next(names)}")
                else:
                    moved |= _unlink(inner)
            with contextlib.suppress(OSError):
                path.rmdir()
                moved = True
        if not moved:
            break
    with contextlib.suppress(OSError):
        folder.rmdir()


def _entries(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _open_up(folder: Path) -> None:
    """Give a folder back the rights that it may have taken from itself; a link in its place is left alone."""
    if not hasattr(os, "O_PATH"):
        with contextlib.suppress(OSError, NotImplementedError):
            folder.chmod(0o700)
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)
        finally:
            os.close(descriptor)


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _move(path: Path, target: Path) -> bool:
    try:
        path.rename(target)
    except OSError:
        return False
    return True
