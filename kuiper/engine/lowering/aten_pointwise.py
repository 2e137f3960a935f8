"""Functions of each number as programs of the elementwise kernel, and questions about numbers as comparisons.

outer, addr, kron, diff     products and differences of views that broadcast
isnan                       x != x
isfinite                    |x| < infinity
triu                        a choice between x and 0, by a mask that is known
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import axis_of, decline_if, known_examples
from kuiper.engine.expression_code import Code, Instruction
from kuiper.engine.lowering.aten_functions import float_tensors, lowers_function, settings_of
from kuiper.engine.lowering.elementwise import emit_elementwise
from kuiper.engine.lowering.placement import memory_by_rows, memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.lowering.typed_numbers import memory_like as typed_like
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, Value, narrow
from kuiper.layers.operators.isnan import IsInf, IsNaN
from kuiper.layers.operators.tril import Tril

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.lowering.aten_functions import Arguments

_X: Instruction = ("load", 0, 0)
_Y: Instruction = ("load", 1, 0)
_BOOL = np.dtype(np.bool_)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _computed(builder: Builder, operands: list[Value], *program: Instruction) -> Value:
    """What the program makes of operands that broadcast: the current operator's output."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    out = memory_like(builder, operands[0], shape)
    emit_elementwise(builder, Code(program, tuple(range(len(operands)))), operands, out)
    return out


def _with_axes(x: Value, *index: Any) -> Value:
    return Value(x.buffer, x.view[index])


@lowers_function("aten::logit")
def lower_logit(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.logit: log(x / (1 - x))."""
    found, eps = float_tensors(builder, arguments[:1]), arguments[1] if len(arguments) > 1 else None
    decline_if(not found[0].shape or not (eps is None or _is_number(eps)) or not _few_axes(*found))
    clipped: tuple[Instruction, ...] = (_X,) if eps is None else (_X, ("clip", eps, 1 - eps))
    return [
        _computed(builder, found, *clipped, ("constant", 1, 0), *clipped, ("sub", 0, 0), ("div", 0, 0), ("log", 0, 0))
    ]


@lowers_function("aten::outer")
def lower_outer(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.outer."""
    x, y = float_tensors(builder, arguments, 1, 1)
    return [_computed(builder, [_with_axes(x, slice(None), None), _with_axes(y, None)], _X, _Y, ("mul", 0, 0))]


@lowers_function("aten::addr")
def lower_addr(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.addr: beta x + alpha a b, of two rows a and b."""
    (x, a, b), (beta, alpha) = float_tensors(builder, arguments[:3], 2, 1, 1), settings_of(arguments[3:], (1, 1))
    decline_if(x.shape != (*a.shape, *b.shape) or not (_is_number(beta) and _is_number(alpha)))
    scaled = [_X, ("constant", beta, 0), ("mul", 0, 0), _Y, ("load", 2, 0), ("mul", 0, 0), ("constant", alpha, 0)]
    operands = [x, _with_axes(a, slice(None), None), _with_axes(b, None)]
    return [_computed(builder, operands, *scaled, ("mul", 0, 0), ("add", 0, 0))]


@lowers_function("aten::kron")
def lower_kron(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.kron of two matrices: every number of the one times the whole other."""
    x, y = float_tensors(builder, arguments, 2, 2)
    (a, b), (c, d) = x.shape, y.shape
    out = memory_by_rows(builder, (a * c, b * d))
    operands = [_with_axes(x, slice(None), None, slice(None), None), _with_axes(y, None, slice(None), None)]
    target = Value(out.buffer, out.view.reshape(a, c, b, d))
    emit_elementwise(builder, Code((_X, _Y, ("mul", 0, 0)), (0, 1)), operands, target)
    return [out]


@lowers_function("aten::diff")
def lower_diff(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.diff, once, without numbers put in front or behind."""
    (x,) = float_tensors(builder, arguments[:1])
    n, dim, before, after = settings_of(arguments[1:], (1, -1, None, None))
    decline_if(n != 1 or before is not None or after is not None or not isinstance(dim, int))
    axis = axis_of(dim, x.view.ndim)
    size = x.shape[axis] - 1
    decline_if(size < 1 or not _few_axes(x))
    return [_computed(builder, [narrow(x, axis, 1, size), narrow(x, axis, 0, size)], _X, _Y, ("sub", 0, 0))]


@lowers(IsNaN)
def lower_isnan(layer: IsNaN, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.isnan: only NaN is not equal to itself."""
    x = _tensor(builder, inputs[0])
    return [_compared(builder, "ne", x, x)]


@lowers(IsInf)
def lower_isinf(layer: IsInf, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.isinf."""
    decline_if(layer.op.type != "aten::isinf")
    x = _tensor(builder, inputs[0])
    return [_compared(builder, "eq", _magnitude(builder, x), _number(builder, math.inf))]


@lowers_function("aten::isfinite")
def lower_isfinite(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.isfinite."""
    x = _tensor(builder, arguments[0])
    return [_compared(builder, "lt", _magnitude(builder, x), _number(builder, math.inf))]


@lowers_function("aten::isposinf")
def lower_isposinf(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.isposinf."""
    return [_compared(builder, "eq", _tensor(builder, arguments[0]), _number(builder, math.inf))]


@lowers_function("aten::isneginf")
def lower_isneginf(builder: Builder, arguments: Arguments) -> Sequence[AnyValue]:
    """torch.isneginf."""
    return [_compared(builder, "eq", _tensor(builder, arguments[0]), _number(builder, -math.inf))]


@lowers(Tril)
def lower_tril(layer: Tril, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.tril and torch.triu: a mask that is known chooses between x and 0."""
    x = _tensor(builder, inputs[0])
    decline_if(x.view.ndim < 2)
    settings = known_examples(inputs[1:])
    mask = builder.typed_constant(layer.forward(np.ones(x.shape[-2:], np.bool_), *settings))
    out = typed_like(builder, [x], x.shape, np.dtype(np.float32))
    emit_typed(builder, "where", out, [mask, x, _number(builder, 0)])
    return [out]


def _few_axes(*found: Value) -> bool:
    return all(value.view.ndim <= MAX_NDIM for value in found)


def _tensor(builder: Builder, argument: Any) -> Value:
    """A float32 tensor of some axes on the arena."""
    (x,) = float_tensors(builder, [argument])
    decline_if(not x.shape or not _few_axes(x))
    return x


def _number(builder: Builder, number: float) -> Value:
    return builder.constant(np.asarray(number, np.float32))


def _magnitude(builder: Builder, x: Value) -> Value:
    out = builder.rows(x.shape, fixed=True)
    emit_elementwise(builder, Code((_X, ("abs", 0, 0))), [x], out)
    return out


def _compared(builder: Builder, operation: str, x: Value, y: Value) -> Value:
    out = typed_like(builder, [x], x.shape, _BOOL)
    emit_typed(builder, operation, out, [x, y])
    return out
