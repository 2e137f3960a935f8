"""From layers to programs of ``kernels/elementwise.pyx``: expressions, activations, and the like.

    Expression "mul(add(@0,1),@1)"     load 0  constant 1  add  load 1  mul
    LeakyReLU, negative_slope 0.1      load 0  leaky_relu 0.1
    BatchNorm                          load 0  load 1  load 2  multiply_add     operands 1 and 2: scale and shift

The kernel knows float32 only. What has integers, bools or complex numbers in it is left to the layers, as are
functions that the kernel lacks. Sizes and other plain numbers are known when a plan is made: constants of the program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.functions import CODES, arguments_of
from kuiper.engine.kernels.elementwise import MAX_INSTRUCTIONS, MAX_OPERANDS, MAX_PLACES
from kuiper.expression.expression_layer import Expression
from kuiper.expression.fused_expression import FusedExpression
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.operators.batch_norm import BatchNorm
from kuiper.layers.operators.clamp import Clamp
from kuiper.layers.operators.prelu import PReLU

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.expression.evaluation import Program
    from kuiper.expression.evaluation import Step as Move
    from kuiper.layers.activation import Activation
    from kuiper.layers.layer import Array

Instruction = tuple[str, float, float]
"""A name from CODES and two settings: the number of an operand, a constant, or those of the function."""

_LOAD: Instruction = ("load", 0, 0)


@dataclass(frozen=True, slots=True)
class Code:
    """A program and its operands: the inputs of the layer that it reads, then weights that broadcast with them."""

    instructions: tuple[Instruction, ...]
    inputs: tuple[int, ...] = (0,)
    weights: tuple[Array, ...] = ()


def code_of(layer: Any, examples: Sequence[Any]) -> Code | None:
    """The program that does what this layer does with inputs like these; None if there is none.

    An example is an array of the input's shape and type, or a plain number that is the input itself.

    >>> from types import SimpleNamespace
    >>> code_of(SimpleNamespace(), [np.zeros(3, np.float32)]) is None
    True
    """
    if type(layer) is Expression:
        return code_of_expression(layer.program, examples)
    if type(layer) is FusedExpression:
        then = () if layer.activation.name == "none" else (instruction_of(layer.activation),)
        return code_of_expression(layer.program, examples, then)
    if type(layer) is Clamp:
        return _code_of_clamp(layer, examples)
    if len(examples) != 1 or not _is_operand(examples[0]):
        return None
    function, make = getattr(layer, "function", None), _CODES.get(type(layer))
    if function is not None:
        return Code((_LOAD, instruction_of(function)))
    return make(layer, examples[0]) if make else None


def code_of_expression(program: Program, examples: Sequence[Any], then: tuple[Instruction, ...] = ()) -> Code | None:
    """The program of an expression, followed by ``then``; None if the kernel cannot do it exactly.

    >>> from kuiper.expression.evaluation import compile_expression
    >>> x = np.zeros((4, 3), np.float32)
    >>> code = code_of_expression(compile_expression("mul(@1,sqrt(size(@0,0)))", 2), [x, x])
    >>> code.instructions, code.inputs
    ((('load', 0, 0), ('constant', 2.0, 0), ('mul', 0, 0)), (1,))
    >>> code_of_expression(compile_expression("and(@0,1)", 1), [x]) is None
    True
    """
    inputs = tuple(k for k in sorted(program.inputs_read()) if isinstance(examples[k], np.ndarray))
    if not all(_is_operand(examples[k]) for k in inputs):
        return None
    stack: list[Any] = []  # instructions that compute a tensor, or a plain value
    for move in program.steps:
        first = len(stack) - move.arity
        arguments = stack[first:]
        del stack[first:]
        value = _translated(move, arguments, examples, inputs)
        if value is None:
            return None
        stack.append(value)
    (result,) = stack
    if not isinstance(result, _Tensor):
        return None
    code = Code((*result.instructions, *then), inputs)
    return code if _fits(code) else None


@dataclass(frozen=True, slots=True)
class _Tensor:
    """What computes a tensor; ``example`` is an array of its shape if it is an input as it came."""

    instructions: tuple[Instruction, ...]
    example: Array | None = None


_SAME_NAME = frozenset({
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh", "div", "erf",
    "exp", "expm1", "floor", "fmod", "log", "log10", "log1p", "max", "min", "mul", "neg", "pow", "reciprocal", "round",
    "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "trunc",
})  # fmt: skip
_OTHER_NAMES = {"maximum": "max", "minimum": "min", "onnx_div": "div"}
_CASTS_TO_FLOAT = frozenset({"torch.float", "torch.float32"})

# As in kuiper/expression/functions.py: torch computes these without ``pow``.
_SHORT_POWERS = {-1.0: "reciprocal", -0.5: "rsqrt", 0.5: "sqrt", 2.0: "square", 3.0: "cube"}


def _translated(move: Move, arguments: list[Any], examples: Sequence[Any], inputs: tuple[int, ...]) -> Any:
    """What one move of the stack machine leaves on the stack: a _Tensor, a plain value, or None: it cannot be done."""
    if move.input is not None:
        example = examples[move.input]
        if not isinstance(example, np.ndarray):
            return example
        place = inputs.index(move.input) if move.input in inputs else -1  # -1: only its size is asked for
        return _Tensor((("load", place, 0),), example)
    if move.function is None:
        return move.constant
    tensors = [argument for argument in arguments if isinstance(argument, _Tensor)]
    if not tensors:
        return move.function(*arguments)
    if move.label == "size":
        known = tensors[0].example
        return None if known is None else move.function(known, *arguments[1:])
    if move.label in _CASTS_TO_FLOAT:
        return tensors[0]
    if move.label == "pow" and not isinstance(arguments[1], _Tensor) and arguments[1] in _SHORT_POWERS:
        return _Tensor((*tensors[0].instructions, (_SHORT_POWERS[arguments[1]], 0, 0)))
    name = move.label if move.label in _SAME_NAME else _OTHER_NAMES.get(move.label)
    if name is None or not all(isinstance(argument, (_Tensor, int, float)) for argument in arguments):
        return None
    return _Tensor((*(part for argument in arguments for part in _instructions(argument)), (name, 0, 0)))


def _instructions(argument: _Tensor | float) -> tuple[Instruction, ...]:
    return argument.instructions if isinstance(argument, _Tensor) else (("constant", float(argument), 0),)


def _is_operand(example: Any) -> bool:
    return isinstance(example, np.ndarray) and example.dtype == np.float32


def _fits(code: Code) -> bool:
    """Whether the kernel has room for the program."""
    depth = most = 0
    for name, _, _ in code.instructions:
        depth += 1 - arguments_of(CODES[name])
        most = max(most, depth)
    sizes = (len(code.inputs) + len(code.weights), len(code.instructions), most)
    return all(size <= limit for size, limit in zip(sizes, (MAX_OPERANDS, MAX_INSTRUCTIONS, MAX_PLACES), strict=True))


def instruction_of(activation: Activation) -> Instruction:
    """The activation as kernels know it, whose tiles clip before they store."""
    if activation.name == "relu":
        return ("clip", 0.0, math.inf)
    return (activation.name, activation.alpha, activation.beta)


def _code_of_clamp(layer: Clamp, examples: Sequence[Any]) -> Code | None:
    """Bounds that are parameters of the layer, or numbers that the graph computes from sizes or has in it."""
    x, *given = examples
    names = layer.op.input_names[1:]
    if layer.constant is not None or not _is_operand(x) or len(names) != len(given) or not set(names) <= {*_UNBOUNDED}:
        return None
    found = {**layer.numbers, **dict(zip(names, given, strict=True))}
    bounds = [unbounded if found[key] is None else found[key] for key, unbounded in _UNBOUNDED.items()]
    if not all(isinstance(bound, (int, float)) and not math.isnan(bound) for bound in bounds):
        return None
    low, high = map(float, bounds)
    return Code((_LOAD, ("clip", low, high)))


_UNBOUNDED = {"min": -math.inf, "max": math.inf}


def _prelu(layer: Any, x: Array) -> Code | None:
    if not layer.weights:
        return None
    slopes = layer.weights[0].reshape(-1)
    if x.ndim < 2 or slopes.size != x.shape[1]:
        return None
    return Code((_LOAD, ("load", 1, 0), ("prelu", 0, 0)), weights=(_along_channels(slopes, x),))


def _batch_norm(layer: Any, x: Array) -> Code | None:
    w = layer.weights
    if "running_mean" not in w or "running_var" not in w or x.ndim < 2 or w["running_mean"].shape != x.shape[1:2]:
        return None
    scale = w.get("weight", 1) / np.sqrt(w["running_var"].astype(np.float64) + layer.eps)
    shift = w.get("bias", 0) - scale * w["running_mean"]
    program: tuple[Instruction, ...] = (_LOAD, ("load", 1, 0), ("load", 2, 0), ("multiply_add", 0, 0))
    return Code(program, weights=(_along_channels(scale, x), _along_channels(shift, x)))


def _along_channels(weights: Array, x: Array) -> Array:
    """A number for each channel, in a shape that broadcasts with x (n, c, ...)."""
    return weights.astype(np.float32).reshape(-1, *(1 for _ in x.shape[2:]))


_CODES: dict[type, Callable[[Any, Array], Code | None]] = {BatchNorm: _batch_norm, PReLU: _prelu}
"""Of layers that need more than one number."""

ELEMENTWISE_LAYERS: tuple[type, ...] = (Expression, FusedExpression, Clamp, Elementwise, *_CODES)
"""The classes of layers for which there may be a program."""
