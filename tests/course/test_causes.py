"""Errors that beginners make, and the sentence that each gets: what compilers of today say, asked here."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.builder import load_pyx
from kuiper.course.causes import cause_of, has_precise_cause, typical_cause
from kuiper.course.errors import ExerciseSyntaxError
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Observation, Raised, observe
from kuiper.course.testing import UNREFUSED, Mismatch, calling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "from kuiper.simd.vector cimport vec, load, splat, store\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


def said(code: str, folder: Path, cache: Path) -> str:
    path = folder / "wrong.pyx"
    path.write_text(code, encoding="utf-8")
    with pytest.raises(ExerciseSyntaxError) as caught:
        load_pyx(path, cache)
    return cause_of(Raised.of(caught.value))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def f(x)\uff1a\n    return x\n", "is not that of an English keyboard"),
        ("def f(x):\n\u3000\u3000return x\n", "is not that of an English keyboard"),
        ("def f(x):\n    for i in range(3)\n        x = 1\n", "the colon is missing"),
        ("def f(x)\n    return x\n", "the colon is missing"),
        ("def f(x):\n    return np.zeros(3)\n", "`import numpy as np` is missing"),
        ("def f(x):\n    return valeu\n", "`valeu` has no value yet"),
        ("def f(float x):\n    return expf(x)\n", "`expf` is not imported"),
        ("def f(x):\n    for i in range(3):\n        cdef int y = i\n", "`cdef` stands inside of a loop"),
        ("def f(x):\n    if x = 2:\n        return 1\n", "`=` is written where `==` is meant"),
        ("def f(x):\n    if x:\n        return 1\n    else if x:\n        return 2\n", "Python says `elif`"),
        ("def f(x):\n    x++\n    return x\n", "`++` is C"),
        ("def f(x):\n    for (i = 0; i < 3; i++):\n        x = 2\n", "Python says `for i in range(n):`"),
        ("def f(x):\n    if (x) {\n        return 1\n    }\n", "`{` is C"),
        ("def f(x):\n    // a comment\n    return x\n", "`#` does"),
        ("def f(x):\n    return !x\n", "Python says `not`"),
        ("def f(x):\n    return x ? 1 : 2\n", "`b if a else c`"),
        ("def f(x):\n    int i = 3\n    return i\n", "`cdef` is missing in front of `int`"),
        ("def f(x):\n    return true\n", "a capital letter"),
        ("def f(const float[:, :] x):\n    cdef float y = x[0]\n    return y\n", "an index is missing"),
        ("def f(float x):\n    cdef int y = x\n    return y\n", "where a value of type int belongs"),
        ("def f(x):\n    cdef float[4] y\n    y = [1]\n", "a list of another length"),
        ("def f(x):\n    if x && x:\n        return 1\n", "`&&` is C: Python says `and`"),
        ("def f(x):\n    return (x + 1\n", "a bracket is opened and not closed"),
        ("def f(float[:] x, float i):\n    return x[i]\n", "an index is a float: `cdef int`"),
        ("def f(float[:, :] columns):\n    columns = 0\n", "`columns[:] = ` writes it into each"),
        ("def f(float[:, :] x):\n    x[0] = [1, 2]\n", "a list is put into one number"),
        ("def f(float[:] x, float a):\n    x[:] = x * a\n", "`*` is used on a whole memoryview"),
        ("def f(x):\n    for i in range(3):\n    x = 2\n", "is not indented"),
        ("def f(x):\n    for i in range(3):\n        x = 2\n      x = 3\n", "not indented alike"),
        ("def f(const float[:] x):\n    x[0] = 1\n", "which may only be read"),
        (HEAD + "def f(float[::1] x):\n    cdef vec a = load(x[0])\n", "the `&` is missing"),
        (HEAD + "def f(const float[:, ::1] x):\n    cdef vec a = load(x[0, 1])\n", "the `&` is missing"),
        (HEAD + "def f(float[::1] x):\n    cdef vec a = splat(0)\n    store(x[0], a)\n", "the `&` is missing"),
        ("def f(Py_ssize_t[::1] x, double y):\n    x[0] = y\n", "`cdef double` holds it, `<Py_ssize_t>x` cuts it off"),
        (HEAD + "def f(float[::1] x):\n    cdef vec a = splat(0)\n    store(a, &x[0])\n", "takes the address first"),
        (HEAD + "def f():\n    cdef vec[2][2] a\n    a[0, 1] = splat(0)\n", "a[i][j], not a[i, j]"),
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
        "x.pyx:4:16: error: incompatible type for argument 1 of \u2018kuiper_fma\u2019",
        "x.pyx:4:16: error: passing 'float' to parameter of incompatible type 'kuiper_vec'",
    ],
)
def test_cause_of_a_vec_that_is_set_to_a_number(message: str) -> None:
    assert "splat(number)" in cause_of(Raised("ExerciseSyntaxError", (), message))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("y = np.sqrt(x + eps", "a bracket is opened and not closed, or a comma"),
        ("y = np.sqrt((x + eps) * f(x[0])", "a bracket is opened and not closed, or a comma"),
        ("y = f((x + eps) f(x[0]))", "a comma or an operator is missing"),
    ],
)
def test_cause_of_a_comma_that_python_misses(line: str, words: str) -> None:
    """It misses one where the brackets of a line above are open, too."""
    message = f"x.py:4:5: invalid syntax. Perhaps you forgot a comma?\n    {line}\n    ^"
    assert cause_of(Raised("ExerciseSyntaxError", (), message)).startswith(words)


@pytest.mark.parametrize(
    ("error", "line", "words"),
    [
        (
            "ValueError: The truth value of an array with more than one element is ambiguous.",
            "m = max(a, b)",
            "np.maximum",
        ),
        (
            "ValueError: The truth value of an array with more than one element is ambiguous.",
            "m = np.max(a) or b",
            "any()",
        ),
        (
            "ValueError: The truth value of an array with more than one element is ambiguous.",
            "if a == None:",
            "`is None`",
        ),
        ("ValueError: The truth value of an array with more than one element is ambiguous.", "", "any()"),
        ("TypeError: Pool.take() takes 0 positional arguments but 1 was given", "", "method `take` lacks its first"),
    ],
)
def test_cause_of_an_error_goes_by_the_line_too(error: str, line: str, words: str) -> None:
    kind, message = error.split(": ", 1)
    raised = Raised(kind, (), message, f"exercises/x.py:3: {line}" if line else "")
    assert words in cause_of(raised)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: "".join([1]), ""),  # type: ignore[list-item]
        (lambda: len(None), "something is None"),  # type: ignore[arg-type]
        (lambda: 1 / 0, "divided by 0"),
        (lambda: [][3], "not smaller than the length of the list"),
        (lambda: "abc"[3], "not smaller than the length of the string"),
        (lambda: "abc".__getitem__(2 / 1), "`//` of two integers does not"),  # type: ignore[call-overload]
        (lambda: {[1]}, "a list is put into a set"),  # type: ignore[type-var]
        (lambda: len(x for x in [1]), "a generator has no length and no index"),  # type: ignore[arg-type]
        (lambda: zip([1], [2], strict=False)[0], "a zip has no length and no index"),  # type: ignore[index]
        (lambda: heapq.nlargest(2, [1]), "`import heapq` is missing"),  # type: ignore[name-defined] # noqa: F821
        (lambda: max(3, 4)[0], "an index is used on a int"),  # type: ignore[index]
        (lambda: bool(np.ones(2)), "any()"),
        (lambda: np.ones(2) + np.ones(3), "shapes (2,) and (3,)"),
        (lambda: {}["bias"], "asked for 'bias', which it does not have"),
        (lambda: (3).dtype, "a int is asked for its `dtype`"),  # type: ignore[attr-defined]
        (lambda: (1, 2) - 0.5, "`-` is used on a tuple and a float"),  # type: ignore[operator]
        (lambda: (lambda x: x)(), "called without its 'x'"),  # type: ignore[call-arg]
        (lambda: (lambda x: x)(1, 2), "called with 2 arguments"),  # type: ignore[call-arg]
        (lambda: len("abc")(4), "a int is called"),  # type: ignore[operator]
        (lambda: [1].remove(2), "does not hold it"),
        (lambda: int("-2.5"), "'-2.5' is read by int"),
        (lambda: float("neg"), "float() gets 'neg'"),
        (lambda: 4 + "2", "a text is taken for a number"),  # type: ignore[operator]
        (lambda: "2" + 4, "are joined by `+`"),  # type: ignore[operator]
        (lambda: [a for a, b in [[1, 2, 3]]], "more parts than the 2 names"),
        (lambda: [a for a, b in [[1]]], "has 1 parts where 2 names"),
        (lambda: np.ones((2, 2)).__setitem__(0, np.ones(3)), "the shape (3,) is stored where"),
        (lambda: math.sin(np.ones(2)), "takes one number"),
        (lambda: np.array([[1, 2], [3]]), "np.concatenate"),
        (lambda: np.concatenate([np.ones((1, 2)), np.ones((1, 3))]), "the right `axis`"),
        (lambda: np.concatenate([np.ones(2), np.ones((1, 3))]), "the right `axis`"),
        (lambda: np.ones((2, 3)) @ np.ones((2, 3)), "to be transposed"),
        (lambda: np.ones((2, 3)).dot(np.ones((2, 3))), "to be transposed"),
        (lambda: np.ones(6).reshape(4, 2), "6 numbers is to get the shape (4,2)"),
        (lambda: np.divide(np.ones(2), 2, out=np.ones(2, np.uint8)), "`x /= y` does not"),
        (lambda: np.ones((4, 4))[np.arange(3), np.arange(2)], "in pairs"),
        (lambda: np.ones((2, 3))[0, 3], "axis 1 of an array has the length 3"),
        (lambda: np.ones(2)[0, 0], "an array of 1 axes"),
        (lambda: np.frombuffer(b"abcd", np.uint8).__setitem__(0, 1), "may only be read"),
        (lambda: (x for x in [1]), "a generator is returned"),
        (lambda: [object()], "an object of type object"),
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
        (2.0, 2, "`//` of two integers does not"),
        (np.ones(2), np.ones(2, np.float32), "float64"),
        ([1.0], np.ones(1, np.float32), "np.array"),
        (np.ones(2, np.int32), np.ones(2, np.int64), "int32, and int64 is asked for"),
        (np.ones(2), (np.ones(2), np.ones(2)), "one array is returned where several"),
        (np.ones((2, 1)), np.ones(2), "an axis of length 1 is left over"),
        (np.ones(2), np.ones((2, 1)), "an axis of length 1 is missing"),
        (np.ones((4, 2, 3)), np.ones((2, 3)), "an axis too many"),
        (np.ones(3), np.ones((2, 3)), "lacks an axis"),
        (np.ones((2, 6)), np.ones((3, 4)), "a `reshape` is missing, or wrong"),
        (np.arange(12.0).reshape(2, 6) + 1, np.arange(12.0).reshape(3, 4), ""),
        (np.arange(3) + 1.0, [2, 3, 4], "every number is -1 off"),
        (np.ones((3, 2)), np.ones((2, 3)), "in another order"),
        (np.ones((3, 4)), np.ones((2, 3)), ""),
        (4, 9, ""),
    ],
)
def test_typical_cause_of_an_answer_of_another_type(got: object, expected: object, words: str) -> None:
    with pytest.raises(Mismatch) as caught:
        calling(lambda: got).gives(expected)
    assert words in typical_cause(caught.value)
    assert bool(words) == bool(typical_cause(caught.value))


def test_typical_cause_of_what_a_test_has_handed_over_and_finds_changed() -> None:
    def given_after(numbers: list[int]) -> list[int]:
        numbers.append(3)
        return numbers

    with pytest.raises(Mismatch) as caught:
        calling(given_after, [1, 2]).keeps([1, 2])
    assert "a copy is to be changed" in typical_cause(caught.value)
    assert caught.value.got == [1, 2, 3]
    calling(given_after, [1, 2]).keeps([1, 2, 3])


def test_typical_cause_of_arrays_that_are_not_filled_or_changed() -> None:
    def doubled(x: np.ndarray) -> np.ndarray:
        x *= 2
        return x

    with pytest.raises(Mismatch) as caught:
        calling(doubled, np.ones(2)).gives([2, 2])
    assert "a copy is to be changed" in typical_cause(caught.value)
    out = np.zeros(2)
    with pytest.raises(Mismatch) as caught:
        calling(lambda out: None, out).fills(out, [1, 2])
    assert "nothing is written" in typical_cause(caught.value)


@pytest.mark.parametrize(("kind", "is_said"), [(ValueError, True), (Exception, True), (OSError, False)])
def test_typical_cause_of_a_message_without_its_word(kind: type[Exception], is_said: bool) -> None:
    with pytest.raises(Mismatch) as caught:
        calling(int, "x").raises(kind, "seven")
    assert ("its message does not have 'seven'" in typical_cause(caught.value)) == is_said


def test_typical_cause_of_an_error_of_another_kind(tmp_path: Path) -> None:
    """Raised on purpose, in a line of an exercise."""
    file = tmp_path / "exercises" / "wrong.py"
    file.parent.mkdir()
    file.write_text("def wrong(x):\n    raise KeyError(x)\n")
    module: dict[str, Callable[..., object]] = {}
    exec(compile(file.read_text(), str(file), "exec"), module)
    with pytest.raises(Mismatch) as caught:
        calling(module["wrong"], 3).raises(ValueError, "3")
    assert typical_cause(caught.value) == "the error that is raised is a KeyError, where a ValueError is asked for"


def at_exercise(kind: str, code: str, message: str = "") -> Raised:
    return Raised(kind, (kind, "Exception"), message, f"course/exercises/f.py:3: {code}")


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (3, "nothing checks for this case: an `if` with `raise ValueError(...)`"),
        (
            at_exercise("KeyError", "return entries[name]"),
            "nothing checks for this case, so that Python's own KeyError",
        ),
        (at_exercise("TypeError", "raise TypeError('act')"), "is a TypeError, where a ValueError is asked for"),
        (at_exercise("ValueError", "raise ValueError('no')", "no"), "its message does not have 'act'"),
        (at_exercise("NameError", "y", "name 'y' is not defined"), "`y` has no value yet"),
        (Raised("EndlessLoop", (), "no answer"), "a loop never ends"),
    ],
)
def test_typical_cause_where_an_error_is_asked_for(got: object, words: str) -> None:
    seen = Observation(raised=got) if isinstance(got, Raised) else Observation(got)
    call = calling(lambda: None)
    call._call = lambda: seen  # type: ignore[method-assign]
    with pytest.raises(Mismatch) as caught:
        call.raises(ValueError, "act")
    assert words in typical_cause(caught.value)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def f(x)\uff1a\n    return x\n", "`\uff1a` is no sign of an English keyboard"),
        ("def f(x):\n    return max(x\uff0c 2)\n", "`\uff0c` is no sign of an English keyboard"),
        ("def f(x):\n    return \u201cx\u201d\n", "`\u201c` is no sign of an English keyboard"),
        ("def f(x):\n\u3000return x\n", "is not that of an English keyboard"),
    ],
)
def test_cause_of_full_width_signs_that_python_refuses(code: str, words: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        compile(code, "f.py", "exec")
    assert words in cause_of(Raised("ExerciseSyntaxError", (), str(caught.value)))


def test_cause_of_a_compiled_function_that_gets_too_few() -> None:
    raised = Raised("TypeError", (), "gemm() takes exactly 5 positional arguments (3 given)")
    assert cause_of(raised) == "a function that takes 5 arguments is called with 3"


def test_typical_cause_of_a_check_that_refuses_too_much() -> None:
    raised = at_exercise("ValueError", "raise ValueError(f'too small: {n}')", "too small: 4")
    assert "your own check" in typical_cause(StudentError(raised, "f"))


def test_typical_cause_of_a_check_that_another_function_meets_blames_neither() -> None:
    trace = "".join(
        f'  File "/class/course5_models/exercises/preprocess.py", line {line}, in {name}\n    {code}\n'
        for line, name, code in ((9, "preprocess", "x = crop(image, 2)"), (4, "crop", "raise ValueError('2x4')"))
    )
    raised = at_exercise("ValueError", "raise ValueError('2x4')", "2x4")
    assert cause_of(replace(raised, trace=trace)).startswith("`crop` refuses what `preprocess` hands to it")
    own = trace.replace("in crop", "in preprocess")
    assert cause_of(replace(raised, trace=own)).startswith("your own check")


def test_an_assertion_is_the_students_own_check() -> None:
    raised = at_exercise("AssertionError", "assert x.shape[0] == 3, 'channels'", "channels")
    error = Mismatch(["f()"], "ValueError that mentions 'channels'", raised, UNREFUSED[0])
    assert typical_cause(error) == "the error that is raised is a AssertionError, where a ValueError is asked for"


def test_a_check_of_a_reference_is_not_the_students_own() -> None:
    place = "course2_graph/solutions/forward.py:158: raise ValueError(f'{op.name}: {shape}')"
    raised = Raised("ValueError", ("ValueError", "Exception"), "x: (2, 3)", place)
    assert not raised.is_on_purpose
    assert cause_of(raised) == ""


def test_cause_of_an_endless_loop_is_a_sentence() -> None:
    assert cause_of(Raised("EndlessLoop", (), "no answer within 10 seconds")).startswith("a loop never ends")


def test_typical_cause_tells_no_answer_from_a_part_that_is_none() -> None:
    words = "NoneType where int is expected"
    assert typical_cause(Mismatch(["f()"], 1, None, words)) == "nothing is returned: the `return` is missing"
    assert typical_cause(Mismatch(["f()"], (1, 2), (1, None), words)) == "a part of what is returned is None"


@pytest.mark.parametrize(
    ("kind", "message", "is_precise"),
    [
        ("NameError", "name 'math' is not defined", True),
        ("ValueError", "too many values to unpack (expected 3)", True),
        ("TypeError", "im2col() takes exactly 10 positional arguments (8 given)", True),
        ("SystemExit", "", True),
        ("IndexError", "Out of bounds on buffer access (axis 0)", False),  # by what, it does not say
        ("EndlessLoop", "no answer within 2 seconds", False),
        ("StopIteration", "", False),  # nothing is known of it
    ],
)
def test_has_precise_cause_is_true_of_errors_that_say_what_is_wrong(kind: str, message: str, is_precise: bool) -> None:
    error = Mismatch(["f()"], 1, Raised(kind, (), message), "raised")
    assert has_precise_cause(error) is is_precise
    assert not has_precise_cause(Mismatch(["f()"], 1, Raised(kind, (), message, "f.py:3: raise x"), "raised"))
