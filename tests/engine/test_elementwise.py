"""Elementwise steps against NumPy, on operands that lie in an arena in any way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.engine.expression_code import code_of_expression
from kuiper.engine.kernels.elementwise import Elementwise
from kuiper.errors import ParameterError
from kuiper.expression.evaluation import compile_expression, evaluate
from tests.arrays import numbers
from tests.engine.one_step import UNTOUCHED, round_up, run_step

if TYPE_CHECKING:
    from collections.abc import Sequence

Strides = tuple[int, ...]
COPY = [("load", 0, 0)]


class Memory:
    """An arena under construction, NaN wherever nothing was put."""

    def __init__(self) -> None:
        self.array = np.full(5, np.nan, np.float32)

    def put(self, x: np.ndarray, order: Sequence[int] | None = None, gap: int = 0) -> tuple[int, int, Strides]:
        """A view of ``x``: axes in this order in memory, ``gap`` floats behind each stretch along the last."""
        if x.ndim == 0:
            return *self.put(x.reshape(1))[:2], ()
        order = range(x.ndim) if order is None else order
        moved = x.transpose(order)
        room = np.full((*moved.shape[:-1], moved.shape[-1] + gap), np.nan, np.float32)
        room[..., : moved.shape[-1]] = moved
        strides = [0] * x.ndim
        for axis, stride in zip(order, room.strides, strict=True):
            strides[axis] = stride // 4
        offset = len(self.array)
        self.array = np.concatenate([self.array, room.ravel(), np.full(3, np.nan, np.float32)])
        return -1, offset, tuple(strides)

    def target(
        self, shape: Sequence[int], order: Sequence[int] | None = None, gap: int = 0
    ) -> tuple[int, int, Strides]:
        return self.put(np.full(shape, UNTOUCHED, np.float32), order, gap)

    def run(self, step: Elementwise) -> np.ndarray:
        return run_step(step, np.concatenate([self.array, np.full(64, np.nan, np.float32)]))


def at(arena: np.ndarray, view: tuple[int, int, Strides], shape: Sequence[int]) -> np.ndarray:
    """The numbers of a view."""
    strides = [4 * stride for stride in view[2]]
    return np.lib.stride_tricks.as_strided(arena[view[1] :], shape, strides)


def check(
    text: str,
    inputs: Sequence[np.ndarray],
    orders: Sequence[Sequence[int] | None] = (None, None, None),
    gaps: Sequence[int] = (0, 0, 0),
    rtol: float = 2e-6,
) -> Elementwise:
    """Compare the step of an expression with its value; nothing outside of the output may be written."""
    wanted = evaluate(text, inputs)
    memory = Memory()
    code = code_of_expression(compile_expression(text, len(inputs)), inputs)
    assert code is not None
    views = [memory.target(wanted.shape, orders[0], gaps[0])]
    for x, order, gap in zip(inputs, orders[1:], gaps[1:], strict=False):
        binding, offset, strides = memory.put(x, order, gap)
        missing = wanted.ndim - x.ndim
        sizes = (1,) * missing + x.shape
        padded = (0,) * missing + strides
        strides = tuple(0 if size == 1 else stride for size, stride in zip(sizes, padded, strict=True))
        views.append((binding, offset, strides))
    step = Elementwise(wanted.shape, [views[0], *(views[k + 1] for k in code.inputs)], code.instructions)
    arena = memory.run(step)
    result = at(arena, views[0], wanted.shape)
    np.testing.assert_allclose(result, wanted, rtol=rtol, atol=1e-35)
    at(memory.array, views[0], wanted.shape)[...] = result
    np.testing.assert_array_equal(arena[: len(memory.array)], memory.array)
    return step


@pytest.mark.parametrize("size", [1, 2, 7, 15, 16, 17, 33, 2047, 2048, 2049, 5000])
@pytest.mark.parametrize("text", ["add(@0,@1)", "mul(sub(@0,@1),add(@0,@1))", "neg(add(@1,2))", "sub(1,mul(@0,@1))"])
def test_elementwise_does_any_length(text: str, size: int) -> None:
    check(text, [numbers(size), numbers(size, seed=1)])


@pytest.mark.parametrize("text", ["add(@0,@1)", "exp(sub(@0,@1))", "neg(@0)"])
@pytest.mark.parametrize(("size", "tasks"), [(32768, 1), (32784, 2), (32785, 2), (131088, 6), (300_001, 10)])
def test_elementwise_cuts_a_long_array_into_an_even_number_of_tasks(text: str, size: int, tasks: int) -> None:
    step = check(text, [numbers(size), numbers(size, seed=1)][: text.count("@")])
    assert step.tasks == tasks if "exp" not in text else step.tasks > 1 and step.tasks % 2 == 0


@pytest.mark.parametrize(
    "shape", [(3, 5, 7, 9), (2, 24, 5, 6), (1, 3, 80, 2), (2, 1, 1, 40), (40, 3, 2, 1), (1, 1, 1, 1)]
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
@pytest.mark.parametrize("gaps", [(0, 0, 0), (8, 8, 8), (0, 3, 1), (5, 0, 0)])
def test_elementwise_walks_over_any_layout(shape: Strides, order: Strides, gaps: Strides) -> None:
    x, y = numbers(*shape), numbers(*shape, seed=1)
    check("sub(@0,mul(@1,3))", [x, y], [order, order, order], gaps)
    check("sub(@0,mul(@1,3))", [x, y], [None, order, (0, 2, 3, 1)], gaps)


@pytest.mark.parametrize("length", range(1, 20))
@pytest.mark.parametrize("rows", [1, 3, 600])
def test_elementwise_does_short_rows_of_any_length(length: int, rows: int) -> None:
    x, y = numbers(2, rows, length), numbers(2, rows, length, seed=1)
    check("sub(@0,mul(@1,3))", [x, y], gaps=(5, 7, 0))
    check("sub(@0,mul(@1,3))", [x, numbers(2, rows, 1, seed=1)], gaps=(1, 0, 0))  # a number for each row
    check("sub(@0,mul(@1,3))", [x, numbers(2, 1, length, seed=1)], gaps=(0, 3, 0))  # a row for all
    check("sub(@0,mul(@1,3))", [x, y], [None, (2, 0, 1), (1, 2, 0)], gaps=(2, 0, 1))


@pytest.mark.parametrize("length", range(1, 20))
def test_elementwise_reads_short_rows_of_arrays_from_outside_exactly(length: int) -> None:
    x = numbers(31, length + 4)
    end = np.ascontiguousarray(x[:, 4:])
    out = np.full((31, length + 2), UNTOUCHED)
    views = [(0, 0, (length + 2, 1)), (1, 4, (length + 4, 1)), (2, 0, (length, 1))]
    program = [*COPY, ("load", 1, 0), ("add", 0, 0)]
    run_step(Elementwise((31, length), views, program), np.zeros(1, np.float32), [out, x, end])
    np.testing.assert_array_equal(out[:, :length], 2 * x[:, 4:])
    np.testing.assert_array_equal(out[:, length:], UNTOUCHED)


@pytest.mark.parametrize(
    "other", [(24, 1, 1), (2, 24, 1, 1), (5, 6), (6,), (1, 1, 1, 1), (), (2, 1, 5, 1), (1, 24, 5, 1)]
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_elementwise_broadcasts(other: Strides, order: Strides) -> None:
    x, y = numbers(2, 24, 5, 6), np.asarray(numbers(*other, seed=1))
    check("mul(@0,add(@1,1))", [x, y], [order, order, None], (8, 8, 0))
    check("mul(add(@1,1),@0)", [x, y], [order, (0, 2, 3, 1), None], (0, 0, 0))


def test_elementwise_broadcasts_both_operands() -> None:
    check("add(@0,@1)", [numbers(40, 1), numbers(1, 50, seed=1)])
    check("add(@0,@1)", [numbers(3, 1, 50), numbers(40, 1, seed=1)])
    check("mul(@0,2)", [numbers(1)])


def test_elementwise_with_a_gate_is_as_cheap_as_without() -> None:
    """(n, c, 1, 1) on channels-last: the padded channels are part of the work, so that every row is whole vectors."""
    x, gate = numbers(2, 24, 7, 7), numbers(2, 24, 1, 1, seed=1)
    memory = Memory()
    order, gap = (0, 2, 3, 1), round_up(24) - 24
    out, source, weights = memory.target(x.shape, order, gap), memory.put(x, order, gap), memory.put(gate, order, gap)
    weights = (-1, weights[1], (*weights[2][:2], 0, 0))
    step = Elementwise(x.shape, [out, source, weights], [*COPY, ("load", 1, 0), ("mul", 0, 0)], whole_vectors=True)
    arena = memory.run(step)
    np.testing.assert_array_equal(at(arena, out, x.shape), x * gate)


@pytest.mark.parametrize("size", [16, 40, 2048, 5000])
def test_elementwise_works_in_place(size: int) -> None:
    x, y = numbers(3, size), numbers(3, size, seed=1)
    memory = Memory()
    first, second = memory.put(x, gap=7), memory.put(y, gap=2)
    program = [("load", 0, 0), ("square", 0, 0), ("load", 1, 0), ("mul", 0, 0), ("load", 0, 0), ("sub", 0, 0)]
    arena = memory.run(Elementwise(x.shape, [first, first, second], program))
    np.testing.assert_allclose(at(arena, first, x.shape), x * x * y - x, rtol=1e-6, atol=1e-6)
    arena = memory.run(Elementwise(x.shape, [first, first], [("load", 0, 0), ("clip", 0, 1)]))
    np.testing.assert_array_equal(at(arena, first, x.shape), x.clip(0, 1))


def test_elementwise_reads_and_writes_arrays_from_outside() -> None:
    x = numbers(7, 5)
    out = np.full((5, 7), UNTOUCHED)
    step = Elementwise((7, 5), [(1, 0, (1, 7)), (0, 0, (5, 1))], [*COPY, ("abs", 0, 0)], whole_vectors=True)
    run_step(step, np.zeros(1, np.float32), [x, out])
    np.testing.assert_array_equal(out, np.abs(x).T)


def test_elementwise_copies_and_fills() -> None:
    memory = Memory()
    x = numbers(6, 50)
    out, source = memory.target((50, 6), gap=3), memory.put(x)
    arena = memory.run(Elementwise((50, 6), [out, (-1, source[1], source[2][::-1])], COPY))
    np.testing.assert_array_equal(at(arena, out, (50, 6)), x.T)
    arena = memory.run(Elementwise((50, 6), [out], [("constant", 2.5, 0)]))
    np.testing.assert_array_equal(at(arena, out, (50, 6)), np.full((50, 6), 2.5))


def test_elementwise_cuts_big_work_into_tasks() -> None:
    x = numbers(300_000)
    assert check("add(@0,1)", [x]).tasks >= 8
    assert check("mul(exp(@0),2)", [x[:3000]]).tasks <= 2
    assert check("add(@0,1)", [x[:500]]).tasks == 1


@pytest.mark.parametrize(
    ("shape", "views", "program", "message"),
    [
        ((4,), [(-1, 0, (1,))] * 10, COPY, "at most 8 operands"),
        ((4,), [(-1, 0, (1,))] * 2, COPY * 65, "64 instructions"),
        ((4,), [(-1, 0, (1,))] * 2, COPY * 2, "a program of one result"),
        ((2,) * 7, [(-1, 0, tuple(3**k for k in range(7)))] * 2, COPY, "at most 6 axes, got 7"),
    ],
)
def test_elementwise_refuses_what_does_not_fit(
    shape: Strides, views: list[Any], program: list[Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        Elementwise(shape, views, program)


SPECIAL = np.float32(
    [0, -0.0, 1, -1, 0.5, -0.5, 2, 3.7, -3.7, 90, -90, 1e-3, -1e-3, 1e-20, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan]
)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "max", "min", "pow", "fmod", "atan2"])
def test_functions_of_two_numbers_take_special_values(name: str) -> None:
    x, y = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    check(f"{name}(@0,@1)", [x, y], rtol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor",
        "log", "log10", "log1p", "neg", "reciprocal", "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan",
        "tanh", "trunc",
    ],
)  # fmt: skip
def test_functions_of_one_number_take_special_values(name: str) -> None:
    values = np.concatenate([SPECIAL, np.linspace(-4, 4, 301, dtype=np.float32), np.float32(2) ** np.arange(-148, 127)])
    check(f"{name}(@0)", [values.astype(np.float32)], rtol=2e-6)


@pytest.mark.parametrize("exponent", [-1, -0.5, 0, 0.5, 1, 2, 3, 2.5, -2])
def test_pow_takes_torchs_short_ways(exponent: float) -> None:
    check(f"pow(@0,{exponent})", [SPECIAL], rtol=1e-6)


def test_log_is_exact_to_the_last_bits() -> None:
    x = np.concatenate([np.geomspace(1e-45, 3e38, 20000), 1 + np.linspace(-0.01, 0.01, 2001)]).astype(np.float32)
    memory = Memory()
    out, source = memory.target(x.shape), memory.put(x)
    result = at(memory.run(Elementwise(x.shape, [out, source], [*COPY, ("log", 0, 0)])), out, x.shape)
    exact = np.log(x.astype(np.float64))
    assert np.abs(result - exact).max(where=exact != 0, initial=0) <= 1e-5
    assert (np.abs(result - exact) <= 3e-7 * np.abs(exact)).all()


@pytest.mark.parametrize("shape", [(3, 2, 2, 7), (2, 2, 2, 2), (1, 3, 2, 1030)])
def test_elementwise_walks_over_axes_of_two(shape: Strides) -> None:
    x, y = numbers(*shape), numbers(*shape, seed=1)
    for order in ((0, 1, 2, 3), (1, 0, 2, 3), (2, 0, 1, 3)):
        check("sub(@0,mul(@1,3))", [x, y], [None, order, (1, 2, 0, 3)], (0, 3, 5))
