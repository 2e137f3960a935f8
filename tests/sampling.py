"""What CI runs of a check that takes long: all that the change touches, and of the rest a sample drawn by a seed.

    python -m tests.sampling --one-in 3 notebooks/*.ipynb    the files that it touches, and one in three

The change is what differs from the commit in KUIPER_BASE (default: the newest that is four hours older than HEAD).
KUIPER_SEED is the seed (default: the hash of HEAD, so that each commit draws another sample). pytest takes the same
two for its option --one-in. ``make nightly`` runs all of everything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).parents[1]
SESSION = 4 * 60 * 60  # seconds: what was committed in them is one change
CODE = (".py", ".pyi", ".pyx", ".pxd", ".h")


@cache
def seed() -> str:
    """What samples are drawn by."""
    return os.environ.get("KUIPER_SEED") or _git("rev-parse", "--short=12", "HEAD") or "0"


@cache
def base() -> str:
    """The commit that the change is compared with; empty where there is none, as outside of a repository.

    Raises
    ------
    ValueError
        If KUIPER_BASE names no commit of this repository.
    """
    if named := os.environ.get("KUIPER_BASE"):
        found = _git("rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
        if not found:
            raise ValueError(f"KUIPER_BASE: expected a commit of this repository, got {named!r}")
        return found
    date = _git("log", "-1", "--format=%ct", "HEAD")
    return _git("rev-list", "-1", f"--before={int(date) - SESSION}", "HEAD") if date else ""


@cache
def changed() -> frozenset[str]:
    """The files that the change adds or alters, committed or not, as paths from the root."""
    if not base():
        return frozenset()
    names = _git("diff", "--name-only", base()).splitlines()
    return frozenset([*names, *_git("ls-files", "--others", "--exclude-standard").splitlines()])


def words() -> str:
    """What a sample was drawn by, as it is set to draw the same again."""
    return f"KUIPER_SEED={seed()} KUIPER_BASE={base() or '(no commit)'}"


def touched_tests(paths: Iterable[str]) -> frozenset[str]:
    """Names of test files: the changed ones, and those that bear the name of a changed module.

    >>> sorted(touched_tests(["kuiper/engine/tile.pxd", "tests/graph/test_copies.py", "README.md"]))
    ['test_copies.py', 'test_tile.py']
    """
    files = [PurePosixPath(path) for path in paths]
    own = [file.name for file in files if file.name.startswith("test_") and file.suffix == ".py"]
    namesakes = [f"test_{file.stem}.py" for file in files if file.suffix in CODE and file.name not in own]
    return frozenset([*own, *namesakes])


def left_out(items: Sequence[pytest.Item], one_in: int) -> set[str]:
    """The names of the tests that neither the change touches nor the sample has.

    Raises
    ------
    pytest.UsageError
        If the sample cannot be drawn.
    """
    if one_in < 1:
        raise pytest.UsageError(f"--one-in: expected a number from 1 on, got {one_in}")
    touched = touched_tests(changed())
    untouched = [item.nodeid for item in items if item.path.name not in touched]
    return set(untouched).difference(drawn(untouched, one_in, seed()))


def drawn(names: Iterable[str], one_in: int, by: str) -> list[str]:
    """About one in this many of the names. Whether one is drawn depends on the seed alone, not on the other names.

    >>> drawn(["a", "b", "c", "d"], 1, "seed")
    ['a', 'b', 'c', 'd']
    >>> 20 < len(drawn(map(str, range(100)), 4, "seed")) < 30
    True
    """
    return [name for name in names if zlib.crc32(f"{by} {name}".encode()) % one_in == 0]


def chosen_files(files: Sequence[str], paths: Iterable[str], one_in: int, by: str) -> list[str]:
    """The files that are called like a changed one, whatever their ending, and a sample of the others, in their order.

    >>> chosen_files(["site/docs/inside/engine.html"], ["docs/inside/engine.md"], 1_000_000, "seed")
    ['site/docs/inside/engine.html']
    """
    touched, sample = {PurePosixPath(path).stem for path in paths}, set(drawn(files, one_in, by))
    return [file for file in files if PurePosixPath(file).stem in touched or file in sample]


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Print which of some files CI looks at.")
    parser.add_argument("--one-in", type=int, default=1, metavar="N")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.one_in < 1:
        parser.error(f"--one-in: expected a number from 1 on, got {arguments.one_in}")
    chosen = chosen_files(arguments.files, changed(), arguments.one_in, seed())
    print(f"{len(chosen)} of {len(arguments.files)} files, one in {arguments.one_in}, {words()}", file=sys.stderr)
    print(*chosen)


if __name__ == "__main__":
    main()
