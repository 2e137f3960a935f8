"""Gated linear units: one pass over both halves, which are views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.declined import axis_of, decline_if
from kuiper.engine.expression_code import Code
from kuiper.engine.lowering.elementwise import emit_elementwise
from kuiper.engine.lowering.placement import memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import narrow
from kuiper.layers.operators.glu import GLU

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue

_GATED = Code((("load", 0, 0), ("load", 1, 0), ("sigmoid", 0, 0), ("mul", 0, 0)), (0, 1))


@lowers(GLU)
def lower_glu(layer: GLU, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.GLU."""
    x = builder.on_arena(inputs[0])
    decline_if(not 1 <= x.view.ndim <= MAX_NDIM)
    axis = axis_of(layer.dim, x.view.ndim)
    decline_if(x.shape[axis] % 2)
    size = x.shape[axis] // 2
    halves = [narrow(x, axis, start, size) for start in (0, size)]
    out = memory_like(builder, x, halves[0].shape)
    emit_elementwise(builder, _GATED, halves, out)
    return [out]
