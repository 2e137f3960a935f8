"""Reshapes that are no view: one copy, between the finest axes that both shapes are made of.

    attention's heads side by side       (n, heads, l, d) seen as (n, l, heads, d)  ->  (n, l, c)
                                     source  n  l  heads  d
                                     target  n  l    c = heads * d  seen as  n  l  heads  d

Splitting an axis never needs a copy, only joining two does. So source and target, both split, are views of one shape.
"""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import answer_of, decline_if, known_examples
from kuiper.engine.kernels.layout import Copy
from kuiper.engine.lowering.placement import can_copy, copy_between, memory_by_rows, view_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.planned_step import StepKind
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import ARENA, copy_into
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.operators.flatten import Flatten
from kuiper.layers.operators.reshape import Reshape, ReshapeAs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder

_FEW_BYTES = 4096  # whose import takes less than a call in Python


@lowers(Reshape, ReshapeAs, Flatten)
def lower_reshape(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The same numbers in the same order: a view, or one copy."""
    x = inputs[0]
    examples = [value.view if isinstance(value, Value) else value.example for value in inputs]
    decline_if(not isinstance(examples[0], np.ndarray) or examples[0].size == 0)
    if examples[0].dtype != np.float32:
        return [_viewed(layer, inputs, builder)]
    result = answer_of(layer, *examples)
    if isinstance(x, PythonValue):
        decline_if(x.constant or not result.ndim)
        return [_imported(builder, x, result.shape)]
    return [view_of(x, result) or reshaped(builder, x, result.shape)]


def _viewed(layer: Any, inputs: list[AnyValue], builder: Builder) -> AnyValue:
    """Integers or bools in a shape that the plan knows: a view or a copy; a few from outside are imported."""
    x, shapes = inputs[0], known_examples(inputs[1:])
    if isinstance(x, PythonValue):
        decline_if(x.constant or not x.shape or x.example.nbytes > _FEW_BYTES)
        x = builder.tensor(x)
    decline_if(len(x.shape) > MAX_NDIM)
    result = answer_of(layer, x.view, *shapes)
    return view_of(x, result) or _in_c_order(builder, x, result.shape)


def _in_c_order(builder: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    """A copy of integers or bools in this shape."""
    dense = builder.typed(x.shape, x.view.dtype)
    emit_typed(builder, "copy", dense, [x])
    return Value(dense.buffer, dense.view.reshape(shape))


def _imported(builder: Builder, x: PythonValue, shape: tuple[int, ...]) -> Value:
    """An array from outside, which lies in C order and so has any shape: it comes onto the arena in this one."""

    def make() -> Value:
        target = builder.image(shape, fixed=True) if len(shape) == 4 else builder.rows(shape, fixed=True)
        binding = builder.bind(x)
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        ends = {"source": 0, "source_binding": binding[0], "target_binding": ARENA}
        builder.emit(
            "import",
            lambda: Copy({**ends, "target": target.offset}, shape, strides, target.strides),
            bindings=[binding],
            writes=[target],
            more_bytes=4 * target.view.size,
            kind=StepKind.IMPORT,
        )
        return target

    return builder.in_form(x, ("reshaped", shape), make)


def reshaped(builder: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    """A copy of ``x`` in another shape: the current operator's output; declines if it takes more than one copy."""
    parts = common_parts(x.shape, shape)
    if parts is not None:
        source = x.view.reshape(parts)
        out = builder.image(shape, exact=True) if _makes_pixels(source.strides, parts, shape) else None
        out = out or memory_by_rows(builder, shape)
        target = out.view.reshape(parts)
        if can_copy(source, target):
            copy_into(builder, Value(x.buffer, source), Value(out.buffer, target))
            return out
    dense = builder.rows(x.shape, fixed=True, padded=False)
    copy_between(builder, x, dense)
    return Value(dense.buffer, dense.view.reshape(shape))


def common_parts(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The longest axes from which both shapes, of equally many numbers, can be joined; None if there are none.

    >>> common_parts((2, 6, 5), (12, 5)), common_parts((4, 15), (2, 6, 5)), common_parts((4, 6), (6, 4))
    ((2, 6, 5), (2, 2, 3, 5), None)
    """
    cuts = sorted({1, *accumulate(a, mul), *accumulate(b, mul)})
    if any(after % before for before, after in pairwise(cuts)):
        return None
    return tuple(after // before for before, after in pairwise(cuts))


def _makes_pixels(strides: Sequence[int], parts: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether numbers that are side by side in the source become channels of an image."""
    if len(shape) != 4:
        return False
    before, through = shape[0], shape[0] * shape[1]
    ends = list(accumulate(parts, mul))
    return any(stride == 4 and before < end <= through for stride, end in zip(strides, ends, strict=True))
