"""Comparisons, choices, casts, and arithmetic with integers.

Each is one step, and so is each function of an expression. What torch makes of the types decides the layer: it is run
on stand-ins, and the result has its type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, answer_of, common_shape, decline_if, known_examples
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed, memory_like
from kuiper.engine.values import AnyValue, PythonValue, Value
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
def lower_compare(layer: Compare, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.gt and its like, with a tensor or a number."""
    decline_if(len(inputs) == 1 and (layer.other is None or isinstance(layer.other, np.ndarray)))
    operands = _operands(builder, [*inputs, *([layer.other] if len(inputs) == 1 else [])])
    return [_emitted(builder, layer.op.type.rpartition(".")[2], operands, np.dtype(np.bool_))]


@lowers(Where)
def lower_where(layer: Where, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.where with a condition that is computed."""
    decline_if(layer.condition is not None)
    names = layer.op.input_names[-(len(inputs) - 1) :] if len(inputs) > 1 else ()
    chosen = {**layer.numbers, **dict(zip(names, inputs[1:], strict=True))}
    return [emit_choice(builder, inputs[0], chosen["input"], chosen["other"])]


@lowers(MaskedFill)
def lower_masked_fill(layer: MaskedFill, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Tensor.masked_fill with a number."""
    x = builder.tensor(inputs[0])
    decline_if(len(inputs) != 2 or layer.value is None)
    return [emit_choice(builder, inputs[1], np.asarray(layer.value, x.view.dtype), x)]


def emit_choice(builder: Builder, condition: AnyValue, chosen: Any, other: Any) -> Value:
    """One of two tensors or numbers by a tensor of bools."""
    mask = builder.tensor(condition)
    decline_if(mask.view.dtype != np.bool_ or chosen is None or other is None)
    dtype = promoted([_example(chosen), _example(other)])
    if dtype == np.float32:  # two numbers: nothing beside them says so
        numbers = (int, float, np.float32)
        chosen, other = (np.asarray(one, dtype) if isinstance(one, numbers) else one for one in (chosen, other))
    return _emitted(builder, "where", [mask, *_operands(builder, [chosen, other])], dtype)


@lowers(Logical)
def lower_logical(layer: Logical, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.logical_and and its like, of bools."""
    operands = _operands(builder, inputs)
    decline_if(any(operand.view.dtype != np.bool_ for operand in operands))
    word = layer.op.type.rpartition("_")[2]
    if word == "not":
        word, operands = "eq", [*operands, builder.typed_constant(np.zeros((), np.int64))]
    return [_emitted(builder, word, operands, np.dtype(np.bool_))]


@lowers(OnnxExpand)
def lower_expand(layer: OnnxExpand, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """ONNX's Expand to a shape that the plan knows: a view."""
    x = builder.tensor(inputs[0])
    return [Value(x.buffer, answer_of(layer, x.view, *known_examples(inputs[1:2])))]


@lowers(To)
def lower_to(layer: To, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Tensor.to: the same numbers in another element type."""
    return [_cast(builder, inputs[0], layer.dtype)]


@lowers(TypeAs)
def lower_type_as(layer: TypeAs, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Tensor.type_as."""
    return [_cast(builder, inputs[0], getattr(_example(inputs[1]), "dtype", None))]


def _cast(builder: Builder, value: AnyValue, dtype: np.dtype | None) -> Value:
    if dtype is None:
        raise Declined
    x = builder.tensor(value)
    return x if x.view.dtype == dtype else _emitted(builder, "copy", [x], dtype)


@dataclass(frozen=True, slots=True)
class _Term:
    """What a function of an expression gives: its operation, its arguments (terms, inputs or numbers) and its type."""

    operation: str
    arguments: tuple[Any, ...]
    dtype: np.dtype


_ARITHMETIC = frozenset({"add", "sub", "mul"})
_DIVISIONS = frozenset({"floor_divide", "remainder"})
_BITS = frozenset({"and", "or", "xor"})


def lower_expression(layer: Expression, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """An expression of integers, a step for each function; declines if there is one that no step can do exactly."""
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
        else:
            stack.append(_term(move.label, arguments))
    (result,) = stack
    decline_if(not isinstance(result, _Term))
    return [_evaluated(builder, result)]


def _known(argument: Any) -> Any:
    """A plain number that is known while planning; None for all else."""
    example = argument.example if isinstance(argument, PythonValue) and argument.constant else argument
    return example if isinstance(example, (bool, int, float)) else None


def _term(label: str, arguments: tuple[Any, ...]) -> _Term:
    """A function of tensors and numbers, if there is a step for it."""
    if label in ELEMENT_TYPES and len(arguments) == 1:
        return _Term("copy", arguments, np.dtype(ELEMENT_TYPES[label]))
    decline_if(label not in _ARITHMETIC | _DIVISIONS | _BITS or len(arguments) != 2)
    examples = [_sample(argument) for argument in arguments]
    decline_if(not all(isinstance(example, (bool, int, float, np.ndarray)) for example in examples))
    dtype = promoted(examples)
    decline_if((dtype.kind == "b" and label not in _BITS) or (dtype.kind == "f" and label in _BITS))
    has_floats = any(isinstance(example, np.ndarray) and example.dtype == dtype for example in examples)
    decline_if(dtype.kind == "f" and not has_floats)  # a number with a fraction beside integers only
    decline_if(label in _DIVISIONS and (dtype.kind not in "iu" or not _known(arguments[1])))
    return _Term(label, arguments, dtype)


def _sample(argument: Any) -> Any:
    """Something of the type of an argument."""
    return np.empty((1,), argument.dtype) if isinstance(argument, _Term) else _example(argument)


def _evaluated(builder: Builder, term: _Term) -> Value:
    arguments = [_evaluated(builder, each) if isinstance(each, _Term) else each for each in term.arguments]
    return _emitted(builder, term.operation, _operands(builder, arguments), term.dtype)


def _emitted(builder: Builder, operation: str, operands: list[Value], dtype: np.dtype) -> Value:
    """The result of one step."""
    shape = common_shape(*(operand.shape for operand in operands))
    decline_if(not shape or dtype.name not in TYPES)
    out = memory_like(builder, operands, shape, dtype)
    emit_typed(builder, operation, out, operands)
    return out


def _operands(builder: Builder, given: Sequence[Any]) -> list[Value]:
    """Tensors, and numbers as tensors without axes."""
    examples = [_example(value) for value in given]
    arrays = [example for example in examples if isinstance(example, np.ndarray)]
    operands = []
    for value, example in zip(given, examples, strict=True):
        known = not isinstance(value, (Value, PythonValue)) or (isinstance(value, PythonValue) and value.constant)
        is_number = known and np.ndim(example) == 0
        decline_if(not is_number and not isinstance(value, (Value, PythonValue)))
        operands.append(_number(builder, example, arrays) if is_number else builder.tensor(value))
    return operands


def _example(value: Any) -> Any:
    if isinstance(value, Value):
        return value.view
    return value.example if isinstance(value, PythonValue) else value


def _number(builder: Builder, number: Any, arrays: Sequence[np.ndarray]) -> Value:
    """A number beside arrays, in a type in which it and they are exact."""
    decline_if(not isinstance(number, (bool, int, float, np.ndarray, np.generic)))
    floats = any(array.dtype == np.float32 for array in arrays if array is not number)
    if not floats and np.asarray(number).dtype.kind in "biu":
        return builder.typed_constant(np.asarray(number, np.int64))
    decline_if(not floats or (isinstance(number, int) and abs(number) > _EXACT_AS_FLOAT))
    return builder.constant(np.asarray(number, np.float32))
