"""Cython declares few exceptions in a worker; the others are raised and caught alike."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.course.places import python_environment

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
class Own(LookupError):
    pass


def fail(n):
    try:
        if n == 0: raise KeyError("a")
        if n == 1: raise Own("b")
        if n == 2: raise OverflowError(3)
        if n == 3: raise StopIteration(7)
        if n == 4: raise NotImplementedError
        if n == 5: raise ValueError("v") from KeyError("k")
        assert n != 6, "six"
        if n == 7: [][0]
        return 1 / (n - 8)
    except (ArithmeticError, LookupError) as error:
        return type(error).__name__, error.args
    except StopIteration as error:
        return error.value


def outside(const float[:] x):
    try:
        return x[99]
    except IndexError as error:
        return str(error)
"""
CODE = """
import sys
from pathlib import Path
import numpy as np
from kuiper.course.builder import load_pyx
from kuiper.course.worker import prepare_cython
if sys.argv[3] == "few":
    prepare_cython()
module = load_pyx(Path(sys.argv[1]), Path(sys.argv[2]))
for number in range(9):
    try:
        print(module.fail(number))
    except Exception as error:
        print(repr(error), repr(error.__cause__))
print(module.outside(np.zeros(2, np.float32)))
from Cython.Compiler import Builtin
print("StopIteration" in Builtin.builtin_types, file=sys.stderr)
"""


def answered(tmp_path: Path, how: str) -> tuple[str, str]:
    """What a compiled module prints, and whether Cython has declared an exception that is rare."""
    path, cache = tmp_path / f"{how}.pyx", tmp_path / how
    path.write_text(TEXT)
    cache.mkdir()
    words = [sys.executable, "-c", CODE, str(path), str(cache), how]
    done = subprocess.run(words, env=python_environment(), capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.strip()


def test_exceptions_that_are_not_declared_are_raised_and_caught_alike(tmp_path: Path) -> None:
    pytest.importorskip("Cython")
    few, all_of_them = answered(tmp_path, "few"), answered(tmp_path, "all")
    assert (few[1], all_of_them[1]) == ("False", "True")
    assert few[0] == all_of_them[0]
    assert "('KeyError', ('a',))" in few[0]
