"""Make one operator of those that spell attention out.

    before   q -> mul(@0,c) -> torch.matmul -> add(@0,@1) -> F.softmax -> torch.matmul -> y
             k -> permute -------^    mask -----^                 v -------^
    after    q, k, v, mask -> kuiper.FusedAttention -> y

That is how exporters to ONNX write attention. The scores may be scaled, or the queries, or the keys, or two of them.
What hides keys may be a tensor that is added, or one of bools that chooses between scores and a number that is as good
as -inf. Zeros that stand in for NaN behind the softmax are those of queries that see nothing.

Left alone: scales that the graph computes, a softmax along another axis than the last, scores or weights that someone
else reads, and types other than float32.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.graph.declined import attempted, decline_if, found
from kuiper.graph.passes.fusion import is_addition
from kuiper.graph.passes.rewiring import constant_of, expression_of, recognised, sole_reader
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.pnnx.values import SPELLED_FLOATS
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter

_NUMBER = r"(-?[0-9.]+(?:e[+-]?[0-9]+)?)"
_FACTOR = re.compile(rf"mul\(@0,{_NUMBER}\)|mul\({_NUMBER},@0\)")
_DIVISOR = re.compile(rf"(?:onnx_)?div\(@0,{_NUMBER}\)")
_SOFTMAXES = ("F.softmax", "torch.softmax", "nn.Softmax")
_PRODUCTS = ("torch.matmul", "Tensor.matmul", "torch.bmm")
_PERMUTATIONS = ("Tensor.permute", "torch.permute")
_RESHAPES = ("Tensor.reshape", "torch.reshape", "Tensor.view")
_MAXIMA = ("torch.amax", "ReduceMax")
_FLOATS = (DataType.F32, DataType.NULL)
_AS_GOOD_AS_INFINITY = -1e30
"""A score beside which no other matters: what is hidden by it weighs nothing, whether it is added or put in place."""


class _Scores(NamedTuple):
    """Where the scores come from, and what is done to them."""

    query: RuntimeOperand
    key: RuntimeOperand
    keys_turned: bool
    scale: float
    mask: RuntimeOperand | None
    params: dict[str, RuntimeParameter]


def recognise_attention(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with kuiper.FusedAttention in the place of each attention that is spelled out."""
    types = ("pnnx.Expression", "kuiper.FusedAttention", "torch.where", "IsNaN", *_SOFTMAXES, *_PRODUCTS)
    return recognised(operators, _attention) if all(map(registry.is_built_in, types)) else operators


def _attention(softmax: RuntimeOperator) -> Merged:
    """The attention that this softmax belongs to, and the last operator that it stands for."""
    decline_if(softmax.type not in _SOFTMAXES or len(softmax.inputs) != 1)
    decline_if(softmax.outputs[0].type is not DataType.F32)
    shape = softmax.inputs[0].shape or softmax.outputs[0].shape
    last = (-1,) if shape is None else (-1, len(shape) - 1)
    decline_if(not softmax.has_param("dim") or softmax.int_param("dim") not in last)
    scores = _scores(softmax.inputs[0], softmax)
    reader = sole_reader(softmax)
    zeros = reader is None or reader.type == "torch.where"
    end = found(_guarded(softmax, scores.mask) if zeros else reader)
    decline_if(end.type not in _PRODUCTS or end.inputs[1] in (end.inputs[0], *softmax.outputs))
    value = end.inputs[1]
    decline_if(not _is_matrix(value))
    params = parameters(scale=scores.scale, keys_turned=scores.keys_turned, zeros=zeros)
    fused = replace(
        end,
        type="kuiper.FusedAttention",
        name=f"{softmax.name}+attention",
        inputs=[scores.query, scores.key, value, *([] if scores.mask is None else [scores.mask])],
        input_names=["query", "key", "value", "mask"][: 3 + (scores.mask is not None)],
        params=params | scores.params,
        attrs={},
        layer=None,
        grown_from=softmax.where,
    )
    return fused, end


def _scores(operand: RuntimeOperand, reader: RuntimeOperator) -> _Scores:
    """What the softmax reads, back to queries and keys."""
    mask: RuntimeOperand | None = None
    params: dict[str, RuntimeParameter] = {}
    op = _only_for(operand, reader)
    if op is not None and (masked := attempted(_masked, op)) is not None:
        operand, mask, params = masked
        reader, op = op, _only_for(operand, op)
    scale = 1.0
    if op is not None and (factor := _factor(op)) is not None:
        scale *= factor
        op = _only_for(op.inputs[0], op)
    product = found(op)
    decline_if(product.type not in _PRODUCTS or len(product.inputs) != 2 or product.inputs[0] is product.inputs[1])
    (query, before), (key, beside) = (_unscaled(one) for one in product.inputs)
    decline_if(not all(map(_is_matrix, product.inputs)))
    plain = _turned_back(key)
    return _Scores(query, plain or key, plain is None, scale * before * beside, mask, params)


def _is_matrix(operand: RuntimeOperand) -> bool:
    """Whether it has two axes or more, and may be of float32."""
    return operand.shape is not None and len(operand.shape) >= 2 and operand.type in _FLOATS


def _masked(op: RuntimeOperator) -> tuple[RuntimeOperand, RuntimeOperand, dict[str, RuntimeParameter]]:
    """Scores, and what hides some of them: a tensor that is added, or bools that choose a number in their place."""
    if is_addition(op) and op.inputs[0] is not op.inputs[1]:
        one, other = op.inputs
        scores, added = (one, other) if _comes_from_product(one) else (other, one)
        decline_if(added.type not in _FLOATS or not _has_axes(added))
        return scores, added, {}
    decline_if(op.type != "torch.where" or op.has_param("condition"))
    given = {key: op.params[key].value for key in ("input", "other") if op.has_param(key)}
    given |= {key: operand for key, operand in zip(op.input_names, op.inputs, strict=True) if key in ("input", "other")}
    numbers = {key: _number(value) for key, value in given.items()}
    known = {key: number for key, number in numbers.items() if number is not None and number <= _AS_GOOD_AS_INFINITY}
    decline_if(len(given) != 2 or len(known) != 1 or "condition" not in op.input_names)
    (key,) = known
    scores, condition = given["other" if key == "input" else "input"], op.inputs[op.input_names.index("condition")]
    decline_if(isinstance(scores, (int, float, str)) or condition.shape == () or scores is condition)
    return scores, condition, parameters(fill=known[key], fill_where=key == "input")


def _has_axes(operand: RuntimeOperand) -> bool:
    """Whether it surely is more than a number."""
    constant = constant_of(operand)
    return bool(operand.shape if constant is None else constant.shape)


def _comes_from_product(operand: RuntimeOperand) -> bool:
    """Whether it is a product, or one that is scaled."""
    op = operand.producer
    if op is not None and _factor(op) is not None:
        op = op.inputs[0].producer
    return op is not None and op.type in _PRODUCTS


def _guarded(softmax: RuntimeOperator, mask: RuntimeOperand | None) -> RuntimeOperator | None:
    """What alone reads the weights behind a choice that puts zeros for those of queries that see nothing."""
    weights = softmax.outputs[0]
    choices = [op for op in weights.consumers if op.type == "torch.where"]
    decline_if(len(choices) != 1 or choices[0].input_names != ["condition", "input", "other"])
    condition, zero, other = choices[0].inputs
    asks = found(condition.producer)
    decline_if(other is not weights or _number(zero) != 0)
    if asks.type == "IsNaN" and asks.inputs == [weights]:
        readers = {asks, choices[0]}
    else:
        decline_if(not _says_what_sees_nothing(condition, found(mask)) and not _asks_for_nothing(asks, found(mask)))
        readers = {choices[0]}
    decline_if(set(weights.consumers) != readers)
    return sole_reader(choices[0])


def _says_what_sees_nothing(condition: RuntimeOperand, mask: RuntimeOperand) -> bool:
    """Whether a constant says of each row of a constant mask whether it has nothing but -inf."""
    constant, added = constant_of(condition), constant_of(mask)
    if constant is None or added is None or added.dtype != np.float32:
        return False
    return np.array_equal(constant, np.all(np.isneginf(added), -1, keepdims=True))


def _asks_for_nothing(op: RuntimeOperator, mask: RuntimeOperand) -> bool:
    """Whether an operator asks of each row of a mask whether its largest number is -inf."""
    is_equality = op.type == "torch.eq" and len(op.inputs) == 2
    return is_equality and _is_largest_of(op.inputs[0], mask) and _number(op.inputs[1]) == -math.inf


def _is_largest_of(operand: RuntimeOperand, mask: RuntimeOperand) -> bool:
    """Whether it is the largest number of each row of a mask."""
    op = operand.producer
    if op is None or op.type not in _MAXIMA or op.inputs != [mask] or mask.shape is None:
        return False
    key, keeps = ("axes", "keepdims") if op.type == "ReduceMax" else ("dim", "keepdim")
    return op.ints_param(key, ()) in ((-1,), (len(mask.shape) - 1,)) and op.bool_param(keeps, False)


def _unscaled(operand: RuntimeOperand) -> tuple[RuntimeOperand, float]:
    """Queries or keys, and the number by which they are multiplied."""
    op = operand.producer
    factor = None if op is None else _factor(op)
    return (operand, 1.0) if op is None or factor is None else (op.inputs[0], factor)


def _factor(op: RuntimeOperator) -> float | None:
    """The number by which an expression multiplies its one input; None if that is not what it does."""
    if op.type != "pnnx.Expression" or not op.inputs or op.inputs[0].type not in _FLOATS:
        return None
    text = expression_of(op)
    if len(op.inputs) == 2 and (number := _number(op.inputs[1])) is not None:
        text = re.sub("@1", repr(number), text)
    elif len(op.inputs) != 1:
        return None
    if match := _FACTOR.fullmatch(text):
        return float(match[1] or match[2])
    match = _DIVISOR.fullmatch(text)
    return 1 / float(match[1]) if match and float(match[1]) else None


def _number(value: Any) -> float | None:
    """A number that stands in the file, or in a constant of one entry; None if it is none."""
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        return SPELLED_FLOATS.get(value)
    constant = constant_of(value)
    if constant is None or constant.size != 1 or constant.ndim > 1 or constant.dtype != np.float32:
        return None
    return float(np.reshape(constant, ()))


def _only_for(operand: RuntimeOperand, reader: RuntimeOperator) -> RuntimeOperator | None:
    """The operator that makes an operand, if nobody but this reader wants it."""
    op = operand.producer
    return op if op is not None and sole_reader(op) is reader else None


def _turned_back(keys: RuntimeOperand) -> RuntimeOperand | None:
    """The operand of which these are the last two axes in the other order; None if there is none."""
    op = keys.producer
    if op is None or keys.shape is None:
        return None
    rank = len(keys.shape)
    if op.type in _PERMUTATIONS:
        turned = (*range(rank - 2), rank - 1, rank - 2)
        return op.inputs[0] if tuple(axis % rank for axis in op.ints_param("dims", ())) == turned else None
    if op.type in _RESHAPES and (inner := op.inputs[0].producer) is not None and inner.type in _PERMUTATIONS:
        return _joined_meanwhile(keys, inner)
    return None


def _joined_meanwhile(keys: RuntimeOperand, turn: RuntimeOperator) -> RuntimeOperand | None:
    """The keys in front of a permutation of three axes, if reshapes around it join those in front, and part them."""
    join = turn.inputs[0].producer
    if join is None or join.type not in _RESHAPES or turn.ints_param("dims", ()) != (0, 2, 1):
        return None
    plain, joined = join.inputs[0].shape, turn.inputs[0].shape
    if plain is None or joined is None or keys.shape is None or None in plain or None in keys.shape:
        return None
    same = plain == (*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
    return join.inputs[0] if same and len(joined) == 3 and joined[1:] == plain[-2:] else None
