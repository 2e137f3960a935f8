"""Errors that beginners make, and the sentence that each gets: what compilers of today say, asked here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.builder import load_pyx
from kuiper.course.causes import cause_of, typical_cause
from kuiper.course.errors import ExerciseSyntaxError
from kuiper.course.observation import Raised, observe
from kuiper.course.testing import Mismatch, calling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "from kuiper.simd.vector cimport vec, load, splat, store\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


def said(code: str, folder: Path, cache: Path) -> str:
    path = folder / "wrong.pyx"
    path.write_text(code)
    with pytest.raises(ExerciseSyntaxError) as caught:
        load_pyx(path, cache)
    return cause_of(Raised.of(caught.value))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def f(x):\n    for i in range(3)\n        x = 1\n", "the colon is missing"),
        ("def f(x)\n    return x\n", "the colon is missing"),
        ("def f(x):\n    return np.zeros(3)\n", "`import numpy as np` is missing"),
        ("def f(x):\n    return valeu\n", "`valeu` has no value yet"),
        ("def f(float x):\n    return expf(x)\n", "`expf` is not imported"),
        ("def f(x):\n    for i in range(3):\n        cdef int y = i\n", "`cdef` stands inside of a loop"),
        ("def f(x):\n    if x = 2:\n        return 1\n", "`=` is written where `==` is meant"),
        ("def f(x):\n    if x:\n        return 1\n    else if x:\n        return 2\n", "Python says `elif`"),
        ("def f(x):\n    if x && x:\n        return 1\n", "`&&` is C: Python says `and`"),
        ("def f(x):\n    return (x + 1\n", "a bracket is opened and not closed"),
        ("def f(x):\n    for i in range(3):\n    x = 2\n", "is not indented"),
        ("def f(x):\n    for i in range(3):\n        x = 2\n      x = 3\n", "not indented alike"),
        ("def f(const float[:] x):\n    x[0] = 1\n", "which may only be read"),
        (HEAD + "def f(float[::1] x):\n    cdef vec a = load(x[0])\n", "the `&` is missing"),
        (HEAD + "def f(const float[:, ::1] x):\n    cdef vec a = load(x[0, 1])\n", "the `&` is missing"),
        (HEAD + "def f(float[::1] x):\n    cdef vec a = splat(0)\n    store(x[0], a)\n", "the `&` is missing"),
    ],
)
def test_cause_of_what_cython_refuses(tmp_path: Path, cache: Path, code: str, words: str) -> None:
    assert words in said(code, tmp_path, cache)


@pytest.mark.parametrize(
    "message",
    [
        "x.pyx:4:16: error: incompatible types when assigning to type \u2018kuiper_vec\u2019 from \u2018int\u2019",
        "x.pyx:4:16: error: incompatible types when assigning to type 'kuiper_vec' from type 'int'",
        "x.pyx:4:16: error: assigning to 'kuiper_vec' from incompatible type 'double'",
    ],
)
def test_cause_of_a_vec_that_is_set_to_a_number(message: str) -> None:
    assert "splat(number)" in cause_of(Raised("ExerciseSyntaxError", (), message))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: {}["a"].x, ""),
        (lambda: len(None), "something is None"),  # type: ignore[arg-type]
        (lambda: 1 / 0, "divided by 0"),
        (lambda: [][3], "not smaller than the length"),
        (lambda: "abc".__getitem__(2 / 1), "`/` makes a float"),  # type: ignore[call-overload]
        (lambda: {[1]}, "a list is put into a set"),  # type: ignore[type-var]
        (lambda: max(3, 4)[0], "an index is used on a int"),  # type: ignore[index]
        (lambda: bool(np.ones(2)), "any()"),
        (lambda: np.ones(2) + np.ones(3), "shapes (2,) and (3,)"),
        (lambda: nowhere, "`nowhere` has no value yet"),  # type: ignore[name-defined] # noqa: F821
    ],
)
def test_cause_of_what_python_raises(function: Callable[[], object], words: str) -> None:
    raised = observe(function, (), {}).raised
    assert raised is not None
    cause = cause_of(raised)
    assert words in cause
    assert bool(words) == bool(cause)


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (None, 3, "the `return` is missing"),
        ([1], (1,), "tuple(...)"),
        (2.0, 2, "`//` does not"),
        (np.ones(2), np.ones(2, np.float32), "float64"),
        ([1.0], np.ones(1, np.float32), "np.array"),
        (4, 5, ""),
    ],
)
def test_typical_cause_of_an_answer_of_another_type(got: object, expected: object, words: str) -> None:
    with pytest.raises(Mismatch) as caught:
        calling(lambda: got).gives(expected)
    assert words in typical_cause(caught.value)
    assert bool(words) == bool(typical_cause(caught.value))


def test_cause_of_an_endless_loop_is_a_sentence() -> None:
    assert cause_of(Raised("EndlessLoop", (), "no answer within 10 seconds")).startswith("a loop never ends")
