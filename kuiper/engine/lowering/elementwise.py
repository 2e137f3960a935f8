"""Expressions, activations, batch norms: whatever is a function of the numbers in one place of each operand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.engine.declined import Declined, common_shape
from kuiper.engine.expression_code import ELEMENTWISE_LAYERS, Code, code_of
from kuiper.engine.functions import CODES, in_library
from kuiper.engine.kernels.elementwise import Elementwise
from kuiper.engine.lowering.integers import lower_expression
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import ARENA
from kuiper.engine.values import AnyValue, Value, new_rows
from kuiper.expression.expression_layer import Expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array


@lowers(*ELEMENTWISE_LAYERS)
def lower_elementwise(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """One pass over memory, whatever the expression."""
    examples = [value.view if isinstance(value, Value) else value.example for value in inputs]
    code = code_of(layer, examples)
    if code is None and type(layer) is Expression:
        return lower_expression(layer, inputs, builder)
    if code is None or not code.inputs:
        raise Declined
    found = [builder.on_arena(inputs[k]) for k in code.inputs]
    shape = common_shape(*(value.shape for value in found), *(weight.shape for weight in code.weights))
    if not shape:
        number = builder.rows((1,), fixed=True, exact=True)
        emit_elementwise(builder, code, found, number)
        return [Value(number.buffer, number.view.reshape(()))]
    if len(shape) == 4 and not _lie_by_rows(found, shape):
        out = builder.image(shape, exact=True)
    else:
        out = builder.rows(shape, padded=_rows_are_padded(found, shape), exact=True)
    emit_elementwise(builder, code, found, out)
    return [out]


def emit_elementwise(builder: Builder, code: Code, operands: Sequence[Value], out: Value) -> None:
    """Add the pass that fills ``out`` from the operands and the weights of the code."""
    operands = [*operands, *(builder.constant(weight) for weight in code.weights)]

    def make() -> Step:
        views = [(ARENA, out.offset, out.strides)]
        views += [(ARENA, value.offset, _broadcast_strides(value.view, out.shape)) for value in operands]
        return Elementwise(out.shape, views, code.instructions)

    builder.emit(
        " ".join(name for name, _, _ in code.instructions if name not in ("load", "constant")) or "copy",
        make,
        reads=operands,
        writes=[out],
        flops=out.view.size * sum(name not in ("load", "constant") for name, _, _ in code.instructions),
        relocatable=True,
        in_library=any(in_library(CODES[name]) for name, _, _ in code.instructions),
    )


def _broadcast_strides(view: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Of an operand of a result of this shape, in floats; 0 along axes that the operand lacks, or has once."""
    strides = tuple(stride // 4 if size > 1 else 0 for size, stride in zip(view.shape, view.strides, strict=True))
    return (0,) * (len(shape) - view.ndim) + strides


def _lie_by_rows(operands: Sequence[Value], shape: tuple[int, ...]) -> bool:
    """Whether all operands of this shape have the numbers of their last axis side by side, as scores do.

    If no operand has this shape, each has to have that axis: sums of all pairs of two lists of vectors. One whose last
    axis repeats a number lies in no way.
    """
    whole = [operand for operand in operands if operand.shape == shape and (operand.strides[3] or shape[3] == 1)]
    if not whole and all(len(operand.shape) == 4 and operand.shape[3] == shape[3] > 1 for operand in operands):
        whole = list(operands)
    along = 3 if shape[3] > 1 else 2
    return bool(whole) and all(operand.strides[along] == 1 and operand.strides[1] != 1 for operand in whole)


def _rows_are_padded(operands: Sequence[Value], shape: tuple[int, ...]) -> bool:
    """Whether an operand of the output's shape has whole vectors in each row: the output had better have them, too."""
    padded = new_rows(shape).strides
    return any(operand.shape == shape and operand.strides == padded for operand in operands)
