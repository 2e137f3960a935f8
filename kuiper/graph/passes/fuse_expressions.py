"""Make one expression of two, one behind the other.

    before   x, y -> pnnx.Expression 'a' mul(@0,@1) -> pnnx.Expression 'b' add(@0,1) -> z
    after    x, y -> pnnx.Expression 'a+b' add(mul(@0,@1),1) -> z

One pass over memory instead of two. pnnx does this for what it writes; graphs from ONNX come with an operator for each
function.

Left alone: an output that someone else reads, too, or that the second one reads twice; one that is smaller than what
the second one makes of it, as it would be computed anew for each of its copies; integers; expressions that ask for
sizes; and what would grow beyond a program of the engine.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.fusion import may_be_equal
from kuiper.graph.passes.rewiring import expression_of, merge_readers, sole_reader
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

MAX_INPUTS = 6
MAX_WORDS = 24
"""Of one expression."""

_PLACE = re.compile(r"@([0-9]+)")
_WORD = re.compile(r"[^(),]+")


def fuse_expressions(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with expressions taken into those behind them."""
    return merge_readers(operators, lambda op: _merge(op, registry))


def _merge(first: RuntimeOperator, registry: RegistryProtocol) -> Merged:
    second = found(sole_reader(first))
    decline_if(not registry.is_built_in("pnnx.Expression"))
    texts = [expression_of(op) for op in (first, second)]
    decline_if(any("size" in text or "[" in text or not text for text in texts))
    decline_if(not _same_floats(first.outputs[0], second.outputs[0]))
    place = second.inputs.index(first.outputs[0])
    decline_if(_PLACE.findall(texts[1]).count(str(place)) != 1)
    inputs = list(dict.fromkeys([*first.inputs, *(one for one in second.inputs if one is not first.outputs[0])]))
    inner = _placed(texts[0], first.inputs, inputs)
    text = _placed(texts[1], second.inputs, inputs, {place: inner})
    decline_if(len(inputs) > MAX_INPUTS or len(_WORD.findall(text)) > MAX_WORDS)
    fused = replace(
        second,
        name=f"{first.name}+{second.name}" if len(first.name) + len(second.name) < 60 else first.name,
        inputs=inputs,
        input_names=[""] * len(inputs),
        params={**second.params, **parameters(expr=text)},
        layer=None,
        grown_from=first.where,
    )
    return fused, second


def _placed(
    text: str, old: list[RuntimeOperand], new: list[RuntimeOperand], instead: dict[int, str] | None = None
) -> str:
    """The text with the places of its inputs among the new ones, or with other text in their place."""
    words = instead or {}
    return _PLACE.sub(lambda match: words.get(int(match[1])) or f"@{new.index(old[int(match[1])])}", text)


def _same_floats(first: RuntimeOperand, second: RuntimeOperand) -> bool:
    """Whether both are float32 and, as far as the file says, of one shape."""
    if not (first.type is second.type is DataType.F32) or first.shape is None or second.shape is None:
        return False
    return may_be_equal(first.shape, second.shape)
