"""Comparisons, choices, casts, and arithmetic with integers.

Each is one step, and so is each function of an expression. What torch makes of the types decides the layer: it is run
on stand-ins, and the result has its type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import common_shape, emit_typed, memory_like
from kuiper.engine.values import AnyValue, HostValue, Value, is_known
from kuiper.errors import KuiperError
from kuiper.layers.element_type import ELEMENT_TYPES
from kuiper.layers.operators.compare import Compare
from kuiper.layers.operators.logical import Logical
from kuiper.layers.operators.onnx_shapes import OnnxExpand
from kuiper.layers.operators.to import To, TypeAs
from kuiper.layers.operators.where import MaskedFill, Where
from kuiper.layers.promotion import promoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.expression.expression_layer import Expression

_EXACT_AS_FLOAT = 1 << 24
"""Integers up to here are float32 numbers, too."""


@lowers(Compare)
def lower_compare(layer: Compare, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """torch.gt and its like, with a tensor or a number."""
    if len(inputs) == 1 and (layer.other is None or isinstance(layer.other, np.ndarray)):
        return None
    operands = _operands(builder, [*inputs, *([layer.other] if len(inputs) == 1 else [])])
    return (
        None if operands is None else _emitted(builder, layer.op.type.rpartition(".")[2], operands, np.dtype(np.bool_))
    )


@lowers(Where)
def lower_where(layer: Where, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """torch.where with a condition that is computed."""
    if layer.condition is not None:
        return None
    names = layer.op.input_names[-(len(inputs) - 1) :] if len(inputs) > 1 else ()
    chosen = {**layer.numbers, **dict(zip(names, inputs[1:], strict=True))}
    return _where(builder, inputs[0], chosen["input"], chosen["other"])


@lowers(MaskedFill)
def lower_masked_fill(layer: MaskedFill, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """Tensor.masked_fill with a number."""
    x = builder.tensor(inputs[0])
    if x is None or len(inputs) != 2 or layer.value is None:
        return None
    return _where(builder, inputs[1], np.asarray(layer.value, x.view.dtype), x)


def _where(builder: Builder, condition: AnyValue, chosen: Any, other: Any) -> list[Value] | None:
    mask = builder.tensor(condition)
    if mask is None or mask.view.dtype != np.bool_ or chosen is None or other is None:
        return None
    dtype = promoted([_example(chosen), _example(other)])
    if dtype == np.float32:  # two numbers: nothing beside them says so
        chosen, other = (np.asarray(one, dtype) if isinstance(one, (int, float)) else one for one in (chosen, other))
    operands = _operands(builder, [chosen, other])
    return None if operands is None else _emitted(builder, "where", [mask, *operands], dtype)


def emit_choice(builder: Builder, condition: AnyValue, chosen: np.float32, other: np.float32) -> Value | None:
    """One of two numbers by a tensor of bools; None if it is no such tensor."""
    made = _where(builder, condition, np.asarray(chosen), np.asarray(other))
    return None if made is None else made[0]


@lowers(Logical)
def lower_logical(layer: Logical, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """torch.logical_and and its like, of bools."""
    operands = _operands(builder, inputs)
    if operands is None or any(operand.view.dtype != np.bool_ for operand in operands):
        return None
    word = layer.op.type.rpartition("_")[2]
    if word != "not":
        return _emitted(builder, word, operands, np.dtype(np.bool_))
    return _emitted(builder, "eq", [*operands, builder.typed_constant(np.zeros((), np.int64))], np.dtype(np.bool_))


@lowers(OnnxExpand)
def lower_expand(layer: OnnxExpand, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """ONNX's Expand to a shape that the plan knows: a view."""
    x = builder.tensor(inputs[0])
    if x is None or not is_known(inputs[1]):
        return None
    try:
        return [Value(x.buffer, layer.forward(x.view, _example(inputs[1])))]
    except KuiperError:
        return None  # the layer says why


@lowers(To)
def lower_to(layer: To, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """Tensor.to: the same numbers in another element type."""
    return None if layer.dtype is None else _cast(builder, inputs[0], layer.dtype)


@lowers(TypeAs)
def lower_type_as(layer: TypeAs, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """Tensor.type_as."""
    dtype = getattr(_example(inputs[1]), "dtype", None)
    return None if dtype is None else _cast(builder, inputs[0], dtype)


def _cast(builder: Builder, value: AnyValue, dtype: np.dtype) -> list[Value] | None:
    x = builder.tensor(value)
    if x is None:
        return None
    return [x] if x.view.dtype == dtype else _emitted(builder, "copy", [x], dtype)


@dataclass(frozen=True, slots=True)
class _Term:
    """What a function of an expression gives: its operation, its arguments (terms, inputs or numbers) and its type."""

    operation: str
    arguments: tuple[Any, ...]
    dtype: np.dtype


_ARITHMETIC = frozenset({"add", "sub", "mul"})
_DIVISIONS = frozenset({"floor_divide", "remainder"})
_BITS = frozenset({"and", "or", "xor"})


def lower_expression(layer: Expression, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """An expression of integers, a step for each function; None if there is one that no step can do exactly."""
    stack: list[Any] = []
    for move in layer.program.steps:
        if move.function is None:
            stack.append(move.constant if move.input is None else inputs[move.input])
            continue
        first = len(stack) - move.arity
        arguments = tuple(stack[first:])
        del stack[first:]
        known = [_known(argument) for argument in arguments]
        if all(value is not None for value in known):
            stack.append(move.function(*known))
            continue
        term = _term(move.label, arguments)
        if term is None:
            return None
        stack.append(term)
    (result,) = stack
    if not isinstance(result, _Term) or not _can_be_had(builder, result):
        return None
    value = _evaluated(builder, result)
    return None if value is None else [value]


def _known(argument: Any) -> Any:
    """A plain number that is known while planning; None for all else."""
    example = argument.example if isinstance(argument, HostValue) and argument.constant else argument
    return example if isinstance(example, (bool, int, float)) else None


def _term(label: str, arguments: tuple[Any, ...]) -> _Term | None:
    """A function of tensors and numbers, if there is a step for it."""
    if label in ELEMENT_TYPES and len(arguments) == 1:
        dtype = np.dtype(ELEMENT_TYPES[label])
        return _Term("copy", arguments, dtype) if dtype.name in TYPES else None
    if label not in _ARITHMETIC | _DIVISIONS | _BITS or len(arguments) != 2:
        return None
    examples = [_sample(argument) for argument in arguments]
    if not all(isinstance(example, (bool, int, float, np.ndarray)) for example in examples):
        return None
    dtype = promoted(examples)
    if dtype.name not in TYPES or (dtype.kind == "b" and label not in _BITS) or (dtype.kind == "f" and label in _BITS):
        return None
    if dtype.kind == "f" and not any(
        isinstance(example, np.ndarray) and example.dtype == dtype for example in examples
    ):
        return None  # a number with a fraction beside integers only
    if label in _DIVISIONS and (dtype.kind not in "iu" or not _known(arguments[1])):
        return None
    return _Term(label, arguments, dtype)


def _sample(argument: Any) -> Any:
    """Something of the type of an argument."""
    return np.empty((1,), argument.dtype) if isinstance(argument, _Term) else _example(argument)


def _can_be_had(builder: Builder, term: _Term) -> bool:
    """Whether all tensors of a term can be on the arena: nothing is emitted before that is known."""
    for argument in term.arguments:
        example = _example(argument)
        if isinstance(argument, _Term):
            if not _can_be_had(builder, argument):
                return False
        elif isinstance(example, np.ndarray) and (example.dtype.name not in TYPES or not example.size):
            return False
    return True


def _evaluated(builder: Builder, term: _Term) -> Value | None:
    arguments = [_evaluated(builder, each) if isinstance(each, _Term) else each for each in term.arguments]
    operands = _operands(builder, arguments)
    made = None if operands is None else _emitted(builder, term.operation, operands, term.dtype)
    return None if made is None else made[0]


def _emitted(builder: Builder, operation: str, operands: list[Value], dtype: np.dtype) -> list[Value] | None:
    """The result of one step."""
    shape = common_shape(operands)
    if shape is None or not shape or dtype.name not in TYPES:
        return None
    out = memory_like(builder, operands, shape, dtype)
    emit_typed(builder, operation, out, operands)
    return [out]


def _operands(builder: Builder, given: Sequence[Any]) -> list[Value] | None:
    """Tensors, and numbers as tensors without axes; None if one is neither."""
    examples = [_example(value) for value in given]
    arrays = [example for example in examples if isinstance(example, np.ndarray)]
    operands = []
    for value, example in zip(given, examples, strict=True):
        known = not isinstance(value, (Value, HostValue)) or (isinstance(value, HostValue) and value.constant)
        if known and np.ndim(example) == 0:
            operand = _number(builder, example, arrays)
        else:
            operand = builder.tensor(value) if isinstance(value, (Value, HostValue)) else None
        if operand is None:
            return None
        operands.append(operand)
    return operands


def _example(value: Any) -> Any:
    if isinstance(value, Value):
        return value.view
    return value.example if isinstance(value, HostValue) else value


def _number(builder: Builder, number: Any, arrays: Sequence[np.ndarray]) -> Value | None:
    """A number beside arrays, in a type in which it and they are exact; None if there is none."""
    if not isinstance(number, (bool, int, float, np.ndarray, np.generic)):
        return None
    floats = any(array.dtype == np.float32 for array in arrays if array is not number)
    if not floats and np.asarray(number).dtype.kind in "biu":
        return builder.typed_constant(np.asarray(number, np.int64))
    if not floats or (isinstance(number, int) and abs(number) > _EXACT_AS_FLOAT):
        return None
    return builder.constant(np.asarray(number, np.float32))
