"""Softmax and log-softmax: one step, whichever axis it is along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.engine.declined import Declined, axis_of
from kuiper.engine.kernels.softmax import Softmax as SoftmaxStep
from kuiper.engine.lowering.placement import memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.layers.operators.softmax import LogSoftmax, Softmax, Softmax2d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.engine.values import AnyValue, Value

_MAX_AXES = MAX_NDIM + 1  # six for the step to walk over, and the one that it is along
_OPERATIONS = 5  # for each number; see the layer


@lowers(Softmax, LogSoftmax, Softmax2d)
def lower_softmax(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.Softmax, nn.LogSoftmax and nn.Softmax2d."""
    x = builder.on_arena(inputs[0])
    rank = x.view.ndim
    dim = _channels(rank) if type(layer) is Softmax2d else layer.dim
    if dim is None and type(layer) is not Softmax2d:
        dim = 0 if rank in (1, 3) else 1  # torch's old rule
    if dim is None or rank > _MAX_AXES:
        raise Declined
    axis = axis_of(dim, rank)
    out = memory_like(builder, x, x.shape)
    emit_softmax(builder, x, out, axis, type(layer) is LogSoftmax)
    return [out]


def _channels(rank: int) -> int | None:
    return -3 if rank in (3, 4) else None


def emit_softmax(
    builder: Builder, x: Value, out: Value, axis: int, logarithm: bool = False, zeros: bool = False
) -> None:
    """Add the softmax of ``x`` along an axis; ``out`` may be ``x``.

    ``zeros`` makes zeros of a row with nothing but -inf, which would be NaN; its numbers lie side by side.
    """
    others = [other for other in range(x.view.ndim) if other != axis]

    def make() -> Step:
        numbers = {
            "source": x.offset, "target": out.offset, "size": x.shape[axis],
            "source_stride": x.strides[axis], "target_stride": out.strides[axis], "logarithm": logarithm,
            "zeros": zeros,
        }  # fmt: skip
        if numbers["size"] == 1:
            numbers["source_stride"] = numbers["target_stride"] = 1
        strides = [[value.strides[other] for other in others] for value in (x, out)]
        return SoftmaxStep(numbers, [x.shape[other] for other in others], *strides)

    builder.emit(
        "log-softmax" if logarithm else "softmax",
        make,
        reads=[x],
        writes=[out],
        relocatable=True,
        flops=_OPERATIONS * x.view.size,
    )
