"""The header of vectors, compiled once for a folder of modules: gcc reads it for longer than it compiles an exercise.

gcc takes a compiled header at every level of optimisation, and reads the text beside it where it cannot take it, as
after another version of itself was installed. Other compilers have rules of their own and read the text each time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VECTORS = "kuiper/simd/vector.h"
TEXT = f"""\
#if defined(__clang__) || !defined(__GNUC__)
#error only gcc's compiled headers are used
#endif
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include "{VECTORS}"
"""
_HEADERS = Path(__file__).parents[1] / "simd"


def precompiled(c_file: Path, folder: Path, command: Sequence[str]) -> list[str]:
    """The words that let a compiler begin with the compiled header; none where a file has no vectors.

    Parameters
    ----------
    c_file : what is to be compiled
    folder : where the compiled header is kept
    command : how, but for the names of files
    """
    if f'#include "{VECTORS}"' not in c_file.read_text(encoding="utf-8"):
        return []
    header = folder / f"vectors_{_digest(command)}.h"
    if not header.exists():
        _make(header, command)
    return ["-include", str(header)] if _compiled(header).exists() else []


def _compiled(header: Path) -> Path:
    return header.with_name(f"{header.name}.gch")


def _digest(command: Sequence[str]) -> str:
    """Of all that goes in; gcc itself sees whether its version is another one."""
    digest = hashlib.sha256(repr((sys.version, TEXT, *command)).encode())
    program = shutil.which(command[0])
    if program:
        state = os.stat(program)
        digest.update(repr((state.st_size, state.st_mtime_ns)).encode())
    for header in sorted(_HEADERS.glob("*.h")):
        digest.update(header.name.encode() + header.read_bytes())
    return digest.hexdigest()[:16]


def _make(header: Path, command: Sequence[str]) -> None:
    """Both files appear whole, the text last: where it stands alone, the compiler has refused."""
    with tempfile.TemporaryDirectory(dir=header.parent) as place:
        text, made = Path(place, header.name), Path(place, f"{header.name}.gch")
        text.write_text(TEXT, encoding="utf-8")
        words = [*command, "-x", "c-header", str(text), "-o", str(made)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode == 0:
            os.replace(made, _compiled(header))
        os.replace(text, header)
