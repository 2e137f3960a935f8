"""Whether the code that judges is still what it was: needed where no wall keeps a submission from changing it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

State = tuple[int, ...]
NOT_RUN = {
    ".kuiper",
    ".git",
    ".pytest_cache",
    ".hypothesis",
    "__pycache__",
}  # none of it is read while grading in this mode


class Snapshot:
    """The states of all files and folders below some folders; a file that came and went has changed the folder's."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders
        self._before = dict(_states(folders))

    def changed(self) -> list[str]:
        """The files that are not what they were, first names first."""
        now = dict(_states(self.folders))
        return sorted(path for path in now.keys() | self._before.keys() if now.get(path) != self._before.get(path))


def judging_code(root: Path) -> list[Path]:
    """Where the code comes from that judges: the checkout, kuiper, Python and its libraries."""
    paths = sysconfig.get_paths()
    folders = [
        root,
        Path(__file__).resolve().parents[1],
        *(Path(paths[name]) for name in ("stdlib", "purelib", "platlib")),
    ]
    folders += [Path(path) for path in sys.path if Path(path).is_dir()]
    found = [folder.resolve() for folder in folders]
    return [path for path in dict.fromkeys(found) if not any(path != o and path.is_relative_to(o) for o in found)]


def _states(folders: list[Path]) -> Iterator[tuple[str, State]]:
    tops = set(map(os.fspath, folders))
    waiting = list(tops)
    while waiting:
        folder = waiting.pop()
        try:
            if folder not in tops:  # there the folders come and go that are left out
                yield folder, _state(os.lstat(folder))
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in NOT_RUN:
                            waiting.append(entry.path)
                    else:
                        yield entry.path, _state(entry.stat(follow_symlinks=False))
        except OSError:
            continue


def _state(state: os.stat_result) -> State:
    return state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns
