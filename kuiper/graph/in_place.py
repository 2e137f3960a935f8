"""In-place assignment as PNNX writes it, rewritten so that every operator's output follows from its inputs.

    torch     z[:, 1] = y                            changes a part of z
    PNNX      v = Tensor.select(z)                   the part
              w = Tensor.copy(v, y)                  all of z from here on, though z is no input
    here      p = Tensor.copy(v, y)                  the new part
              w = Tensor.slice_copy(z, p)            z with that in the place of the old one

A part may be cut out in several steps, a view of a slice of a select; they are undone from the last to the first. With
optlevel=2 PNNX writes Tensor.slice_copy itself, but forgets a view in front of it: its output is then declared with
another shape than its ``self``, and the same is done for it.

This is no pass: without it the graph computes something else, so it is done to every graph before its layers are made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.passes.rewiring import substitute
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.protocols import RegistryProtocol


def put_parts_back(
    operators: list[RuntimeOperator], operands: list[RuntimeOperand], registry: RegistryProtocol
) -> list[RuntimeOperator]:
    """The operators, with those that put a new part into the whole behind each assignment that lacks them.

    Operands that this takes are added to ``operands``, which has them all by index.
    """
    result: list[RuntimeOperator] = []
    for op in operators:
        views = _views(op, registry) if op.type in ("Tensor.copy", "Tensor.slice_copy") and len(op.outputs) == 1 else []
        result += _put_back(op, views, operands, registry) if views else [op]
    return result


def _views(op: RuntimeOperator, registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators that made the first input of an assignment out of the tensor that its output stands for.

    Which tensor that is, the declared shape of the output says: the farthest one of that shape. (If several have it,
    nothing but views lie between them, and they hold the same numbers.) Of unknown shape, it is where the cuts begin.
    """
    whole = op.outputs[0].shape
    part = op.inputs[0]
    if op.type == "Tensor.slice_copy" and (whole is None or whole == part.shape):
        return []
    chain = list(_chain(part, registry))
    farthest = [k for k, view in enumerate(chain, 1) if whole is not None and view.inputs[0].shape == whole]
    cuts = next((k for k, view in enumerate(chain) if not registry.facts(view.type).is_part), len(chain))
    return [view for view in chain[: max(farthest, default=cuts)] if not registry.facts(view.type).is_copy]


def _chain(operand: RuntimeOperand, registry: RegistryProtocol) -> Iterator[RuntimeOperator]:
    """The cuts and views in front of an operand, the last one first; copies are PNNX's own, for a slice_copy."""
    while operand.producer is not None:
        facts = registry.facts(operand.producer.type)
        if not (facts.is_part or facts.keeps_order or facts.is_copy):
            return
        yield operand.producer
        operand = operand.producer.inputs[0]


def _put_back(
    op: RuntimeOperator, views: list[RuntimeOperator], operands: list[RuntimeOperand], registry: RegistryProtocol
) -> Iterator[RuntimeOperator]:
    """The assignment to the part, then one operator for each view that puts the result where the view came from."""
    (whole,) = op.outputs
    made = _new_operand(op.inputs[0], op.name, operands)
    assignment = replace(op, outputs=[made])
    substitute((op,), assignment)
    made.producer = assignment
    yield assignment
    for k, view in enumerate(views, 1):
        name = f"{op.name}+{view.name}"
        output = whole if k == len(views) else _new_operand(view.inputs[0], name, operands)
        put = _inverse(view, made, name, registry)
        put.outputs = [output]
        for operand in dict.fromkeys(put.inputs):
            operand.consumers.append(put)
        output.producer = put
        made = output
        yield put


def _inverse(view: RuntimeOperator, made: RuntimeOperand, name: str, registry: RegistryProtocol) -> RuntimeOperator:
    """The operator that makes of ``made``, the new output of a view, what the view's input must then be."""
    source = view.inputs[0]
    if registry.facts(view.type).keeps_order:
        return RuntimeOperator("Tensor.view_as", name, inputs=[made, source], input_names=["", ""])
    names = [_key(name) for name in view.input_names[1:]]
    params = {_key(key): value for key, value in view.params.items()}
    inputs, input_names = [source, made, *view.inputs[1:]], ["self", "src", *names]
    return RuntimeOperator("Tensor.slice_copy", name, inputs, input_names=input_names, params=params)


def _key(name: str) -> str:
    """What Tensor.select calls ``index`` is ``select`` in a slice_copy."""
    return "select" if name == "index" else name


def _new_operand(like: RuntimeOperand, name: str, operands: list[RuntimeOperand]) -> RuntimeOperand:
    """An operand of the shape and type of ``like``."""
    operand = RuntimeOperand(f"{name}_part", len(operands), like.shape, like.type)
    operands.append(operand)
    return operand
