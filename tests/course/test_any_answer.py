"""Whatever a student's function answers, the comparison says what differs and the report draws it."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.course.causes import typical_cause
from kuiper.course.comparison import difference
from kuiper.course.errors import CourseError
from kuiper.course.observation import Raised, observe
from kuiper.course.phrases import said
from kuiper.course.testing import MAX_LINES, Mismatch, calling
from kuiper.course.wire import plain
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 25


class Hostile:
    """Raises whatever is asked of it."""

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("do not ask")

    __repr__ = __str__ = __len__ = __iter__ = __eq__ = __array__ = __bool__ = __getitem__ = __float__ = _raise
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class Endless:
    """Never comes to an end when it is printed, measured or gone through."""

    def __iter__(self) -> Iterator[int]:
        return itertools.count()

    def __repr__(self) -> str:
        return "x" * 10_000_000

    def __len__(self) -> int:
        return 2**62

    def __eq__(self, other: object) -> bool:
        while True:
            pass

    __hash__ = None  # type: ignore[assignment]


class Yes:
    """Is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Liar(int):
    """A number that says it is another class, and whose text is none."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise RuntimeError("no class")

    def __str__(self) -> Any:  # type: ignore[override]
        return 3


class Nameless(type):
    """A type whose name cannot be asked for."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")


class Unnamed(metaclass=Nameless):
    pass


class DumbError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class WideArray:
    """Says that it is an array, and hands out a list."""

    def __array__(self, *words: object, **more: object) -> Any:
        return [1, 2]


def nested(depth: int, kind: Callable[[list[Any]], Any] = list) -> Any:
    value: Any = kind([])
    for _ in range(depth):
        value = kind([value])
    return value


def holding_itself() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def holding_itself_as_dict() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def twice_as_much_each_time(levels: int) -> list[Any]:
    """A few objects, which are 2 to the power of ``levels`` if one goes through them."""
    value: list[Any] = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def scalars() -> list[Any]:
    """One of each of NumPy's dtypes."""
    codes = sorted(set(np.typecodes["All"]) - set("OVMm"))
    units = [np.datetime64("2024-01-01"), np.timedelta64(3, "s"), np.void(b"\x00\xff")]
    return [np.zeros((), code)[()] for code in codes] + units


def arrays() -> list[Any]:
    structured = np.zeros(3, [("x", np.float32), ("y", np.int64, (2,))])
    with_objects = np.array([1, "two", None, 4], object)
    with_objects[3] = Hostile()
    ring = np.empty(2, object)
    ring[0] = ring[1] = ring
    return [
        *(np.zeros(shape, np.float32) for shape in ((), (0,), (3,), (2, 0, 3), (2, 3), (1,) * 32, (400, 400))),
        *(np.array([np.nan, np.inf, -np.inf, 3], kind) for kind in (np.float16, np.float64, np.longdouble, complex)),
        np.array([2**63, 1], np.uint64),
        np.array([[True, False]]),
        np.array(["\x1b[2J", "\ud800"]),
        np.array([b"\x00"], "S3"),
        np.full((2, 3), 1e38, np.float32),
        np.ma.masked_array([1.0, 2.0, 3.0], [True, False, True]),
        np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1],
        structured,
        structured[0],
        with_objects,
        ring,
    ]


def answers() -> list[Any]:
    return [
        *(None, True, 0, -1, 3, 2.5, 1j, 10**4, 2**64, -(2**200), 10**5000, float("nan"), float("inf"), 1e308),
        *("", "text", "\x1b[2J\x07\r\n", "\ud800\u202e", "long" * 100_000, b"\x00\xff" * 100, bytearray(b"x")),
        *([], [1, 2, 3], [1, [2, (3,)]], (1,), {1, 2}, {"a": 1}, {(1, 2): [3]}, {2: {"\n": None}}, range(5)),
        *(nested(50), nested(100_000), nested(100_000, tuple), holding_itself(), holding_itself_as_dict()),
        *([Hostile()], (Endless(),), {"a": Hostile()}, {Unnamed: Unnamed()}, list(range(100_000))),
        *(Hostile(), Hostile, Endless(), Yes(), Liar(3), Unnamed(), Unnamed, DumbError(), WideArray()),
        *(iter([1]), (i for i in itertools.count()), lambda: 0, NotImplemented, ..., np, object(), memoryview(b"ab")),
        *scalars(),
        *arrays(),
    ]


def expectations() -> list[Any]:
    return [
        *(None, True, 0, 3, 2.5, 2**70, "text", b"\x00", [], [1, 2, 3], (1,), {1, 2}, {"a": 1}, [[1.0, 2.0], [3.0, 4]]),
        *(nested(50), np.zeros((2, 3), np.float32), np.zeros((), np.int64), np.zeros((400, 400), np.float32)),
        *(np.array([np.nan, 1.0]), [np.nan, np.inf, 0, 3], np.array([[True, False]]), {"x": np.ones(3, np.float32)}),
    ]


def drawn(got: Any, expected: Any, tolerance: float) -> list[str]:
    """The lines of a report, all of which are safe for a terminal."""
    words = difference(got, expected, tolerance)
    mismatch = Mismatch(["call(x)"], expected, got, words or "", tolerance=tolerance)
    assert isinstance(typical_cause(mismatch), str)
    lines = [*mismatch.lines(), said(words or "")]
    assert all(type(line) is str for line in lines)
    assert all(line == printable(line) and len(line) < 400 for line in lines), lines
    assert len(lines) <= MAX_LINES + 1
    assert str(mismatch).splitlines() == lines[:-1]
    return lines


@pytest.mark.parametrize("tolerance", [0.0, 1e-5])
def test_every_answer_is_compared_and_drawn(tolerance: float) -> None:
    for got in answers():
        for expected in expectations():
            drawn(got, expected, tolerance)


def test_equal_answers_are_equal_and_others_are_not() -> None:
    for expected in expectations():
        assert difference(expected, expected) is None
        assert difference(Hostile(), expected)
        assert difference(Yes(), expected)
        assert difference(Liar(3), expected)


def test_answers_inside_of_others_are_compared_and_drawn() -> None:
    """Random nests, from a seed, of what the tests above take one by one."""
    draw = random.Random(SEED)
    leaves = answers()

    def nest(depth: int) -> Any:
        kind = draw.choice(["list", "tuple", "dict", "leaf", "leaf"])
        if kind == "leaf" or depth == 0:
            return draw.choice(leaves)
        parts = [nest(depth - 1) for _ in range(draw.randrange(4))]
        return parts if kind == "list" else tuple(parts) if kind == "tuple" else dict(enumerate(parts))

    for _ in range(400):
        got, expected = nest(3), nest(3)
        drawn(got, expected, draw.choice([0.0, 1e-6]))
        drawn([1, got], [1, expected], 0.0)


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (2**64, 2**64 + 1, "another value"),
        (2**2000, 1.5, "another value"),
        ([2**64], np.array([1.0]), "list where an array"),
        (np.array([2**64], object), np.array([1.0]), "dtype object where float64"),
        (np.array([1 + 1j]), [1.0], "1 of 1 values differ"),
    ],
)
def test_numbers_of_every_size_are_numbers(got: Any, expected: Any, words: str) -> None:
    assert words in (difference(got, expected) or "")


def test_whole_numbers_beyond_64_bits_are_close_or_not() -> None:
    assert difference(2**200 + 1, 2**200, 1e-5) is None
    assert difference(2**200 + 2**190, 2**200, 1e-5)
    assert difference(2**2000, 2.0, 1e-5)


def test_an_answer_that_cannot_cross_to_the_test_is_an_error_of_the_student() -> None:
    for value in [*answers(), twice_as_much_each_time(50)]:
        seen = observe(lambda value=value: value, (), {})
        if seen.raised is not None:
            assert seen.raised.type == "CourseError"
            with pytest.raises(CourseError, match="expected"):
                plain(value)


def test_an_exception_that_has_no_words_is_one_nevertheless() -> None:
    def raising() -> None:
        raise DumbError

    seen = observe(raising, (), {})
    assert seen.raised is not None
    assert seen.raised.type == "DumbError"
    assert "__str__ raises" in Raised.of(DumbError()).message
    with pytest.raises(Mismatch, match="DumbError"):
        calling(raising).gives(3)
