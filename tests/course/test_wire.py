from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

import numpy as np
import pytest

from kuiper import Tensor
from kuiper.course.errors import CourseError
from kuiper.course.wire import dumps, loads, plain


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Token:
    kind: str
    place: tuple[int, int]


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -2.5,
        float("inf"),
        "ü\n",
        b"\x00\xff",
        [1, [2]],
        (1, (2,)),
        {1, 2},
        {"a": 1, 2: (3,)},
        {"array": 1},
        (),
    ],
)
def test_plain_values_come_back(value: Any) -> None:
    back = plain(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool, np.complex64])
def test_arrays_come_back(dtype: Any) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    for given in (array, np.asfortranarray(array), array[:0], array[0, 0]):
        back = plain(given)
        np.testing.assert_array_equal(back, given)
        assert back.dtype == given.dtype


def test_memory_order_crosses() -> None:
    array = np.zeros((4, 6))
    assert plain(array.T).flags.f_contiguous
    gaps = plain(array[::2, ::3])
    assert not gaps.flags.c_contiguous
    assert not gaps.flags.f_contiguous


def test_objects_become_plain() -> None:
    assert plain(Point(1, 2)) == (1, 2)
    assert plain(Token("name", (1, 2))) == {"kind": "name", "place": (1, 2)}
    assert plain(Colour.RED) == "RED"
    assert plain(Tensor.from_list([1.0, 2.0]) if hasattr(Tensor, "from_list") else np.ones(2)).shape == (2,)


@pytest.mark.parametrize("value", [object(), lambda: 1, [object()], np.array([object()]), type])
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(CourseError, match="expected"):
        dumps(value)


def test_too_deep_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(CourseError, match="levels of nesting"):
        dumps(value)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "nonsense",
        '{"pickle": "x"}',
        '{"array": ["O", [1], "C", "AAAAAAAAAAA="]}',
        '{"array": ["<f4", [-1], "C", ""]}',
        '{"array": ["<f4", [99999999999], "C", ""]}',
        '{"array": ["(1000000000,)f8", [1], "C", ""]}',
        '{"array": ["i4,f8", [1], "C", ""]}',
        '{"array": ["<f8", [0, 1000000000000000000000000000000], "C", ""]}',
        '{"set": [[1]]}',
        '{"array": "x"}',
        '{"dict": [[[1], 2]]}',
        '{"tuple": 3}',
        "[" * 100000,
        "1" * 5000,
    ],
)
def test_hostile_lines_are_refused(line: str) -> None:
    with pytest.raises(CourseError):
        loads(line)


def test_gaps_take_no_more_than_twice_the_memory() -> None:
    line = f'{{"array": ["|u1", {[1] * 31 + [1000]}, "gaps", "{"AAAA" * 333}AA=="]}}'
    array = loads(line)
    assert array.shape == (1,) * 31 + (1000,)
    assert array.base is not None
    assert array.base.nbytes == 2000
