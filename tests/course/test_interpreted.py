"""A .pyx that runs as Python: what Cython adds to the language, and the errors that it raises."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kuiper.course.interpreted import constants, interpreted, namespace


def run(text: str, **numbers: int) -> dict[str, Any]:
    """The names that a text of Cython defines."""
    names = namespace({"LANES": 4, **numbers})
    exec(compile(interpreted(text), "<pyx>", "exec"), names)
    return names


def test_interpreted_keeps_the_numbers_of_lines() -> None:
    text = "from libc.math cimport expf\n\n\ndef f(\n    float x,\n    int n,\n):\n    cdef int i\n    return x * n\n"
    function = interpreted(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert (function.lineno, function.body[-1].lineno) == (4, 9)


def test_interpreted_computes_in_float32() -> None:
    f = run("def f(float x):\n    cdef float total = 16777216\n    total += x\n    return total\n")["f"]
    assert f(1.0) == 16777216


def test_interpreted_casts_bind_to_what_stands_behind_them() -> None:
    names = run("def f(float x):\n    return 10 * <int> x + 1, 10 * <int>(x + 1.9), <double> <int> x / 2\n")
    assert names["f"](2.9) == (21, 40, 1.0)


def test_interpreted_whole_numbers_wrap_around() -> None:
    names = run("def f(int x):\n    return <signed char> x, <unsigned char> x, <short> x\n")
    assert names["f"](40_200) == (8, 8, -25336)


@pytest.mark.parametrize("index", [-1, 3])
def test_interpreted_memoryviews_refuse_indices_outside(index: int) -> None:
    f = run("def f(const float[:, :] x, Py_ssize_t i):\n    return x[0, i]\n")["f"]
    with pytest.raises(IndexError, match=r"Out of bounds on buffer access \(axis 1\)"):
        f(np.zeros((2, 3), np.float32), index)


def test_interpreted_memoryviews_refuse_other_arrays() -> None:
    f = run("def f(float[:] x):\n    return x.shape[0]\n")["f"]
    with pytest.raises(ValueError, match="Buffer dtype mismatch, expected 'float' but got 'double'"):
        f(np.zeros(3))
    with pytest.raises(ValueError, match=r"wrong number of dimensions \(expected 1, got 2\)"):
        f(np.zeros((3, 1), np.float32))


def test_interpreted_memoryviews_write_to_the_array() -> None:
    f = run("def f(float[:, :] x):\n    x[1, 0] = 5\n    x[0][1] = 7\n")["f"]
    array = np.zeros((2, 2), np.float32)
    f(array)
    assert array.tolist() == [[0, 7], [5, 0]]


def test_interpreted_bytes_do_not_overflow_in_products() -> None:
    f = run("def f(const signed char[:] x):\n    cdef int total = 0\n    total += x[0] * x[0]\n    return total\n")["f"]
    assert f(np.array([127], np.int8)) == 127 * 127


def test_interpreted_local_arrays_hold_old_numbers() -> None:
    f = run("def f(int i):\n    cdef float sums[2]\n    sums[0] = 1\n    return sums[i]\n")["f"]
    assert f(0) == 1
    assert f(1) < -1e38
    with pytest.raises(IndexError, match="index 2 is outside of a local C array of 2 elements"):
        f(2)


def test_interpreted_vectors_are_loaded_and_stored() -> None:
    text = (
        "cdef extern from *:\n    enum:\n        ROWS\n\n"
        "def f(const float[:] x, float[:] out):\n    cdef vec[ROWS] sums\n    cdef float[LANES] numbers\n"
        "    sums[1] = splat(2)\n    sums[1] = fma(load(&x[1]), sums[1], sums[1])\n"
        "    store(&numbers[0], sums[1])\n    out[0] = numbers[3]\n"
    )
    out = np.zeros(1, np.float32)
    run(text, ROWS=2)["f"](np.arange(5, dtype=np.float32), out)
    assert out[0] == 10


def test_interpreted_division_by_zero_is_that_of_cython() -> None:
    f = run("def f(float x, float y):\n    return x / y\n")["f"]
    with pytest.raises(ZeroDivisionError, match="float division"):
        f(0, 0)


def test_interpreted_enums_are_constants() -> None:
    names = run("cdef enum:\n    ADD = 2  # one\n    SUB = 3\n\ndef f(int code):\n    return code == SUB\n")
    assert names["f"](3)
    assert not names["f"](2)


def test_interpreted_refuses_what_it_does_not_know() -> None:
    with pytest.raises(SyntaxError):
        interpreted("cdef struct Pair:\n    int first\n")


def test_constants_are_those_of_the_students_module() -> None:
    text = "enum { COLUMNS = VECTORS * LANES };\nTILE_SIZE = ROWS, COLUMNS  # the tests ask for it\n"
    found = constants(text, SimpleNamespace(TILE_SIZE=(6, 96)))
    assert (found["ROWS"], found["COLUMNS"], found["VECTORS"] * found["LANES"]) == (6, 96, 96)
