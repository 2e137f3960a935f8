"""Let an activation change places with the reshapes and permutations in front of it.

    before   nn.Conv2d -> Tensor.reshape -> Tensor.permute -> F.sigmoid -> y
    after    nn.Conv2d -> F.sigmoid -> Tensor.reshape -> Tensor.permute -> y

An activation asks for each number's value, not for its place: it may as well come first. There a convolution can take
it in, while what moves numbers is a view for nothing. The head of a YOLO is written this way.

Left alone: an activation with no convolution or linear layer above the views, and views that someone else reads, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.passes.activations import activation_of
from kuiper.graph.passes.fusion import CONVOLUTIONS, LINEAR_LAYERS, is_fusable
from kuiper.graph.passes.rewiring import sole_reader

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator

_MAKERS = {**CONVOLUTIONS, **LINEAR_LAYERS}


def hoist_activation_above_views(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with activations directly behind the convolutions and linear layers whose outputs they activate."""
    result = list(operators)
    for activation in operators:
        views = _views_above(activation, registry) if activation_of(activation, registry) else []
        for view in views:
            activation = _swap(result, view, activation)
    return result


def _views_above(activation: RuntimeOperator, registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The views between an activation and what it activates, the nearest first; none if that cannot be fused."""
    views: list[RuntimeOperator] = []
    op = activation.inputs[0].producer
    while op is not None and sole_reader(op) is (views[-1] if views else activation):
        if not registry.facts(op.type).is_view:
            return views if is_fusable(op, _MAKERS, registry) else []
        if len(op.inputs) != 1 or not registry.is_built_in(op.type):
            return []
        views.append(op)
        op = op.inputs[0].producer
    return []


def _swap(operators: list[RuntimeOperator], view: RuntimeOperator, activation: RuntimeOperator) -> RuntimeOperator:
    """Put the activation in front of the view; the operand between them gets the shape that the view reads."""
    (source,), (between,), (output,) = view.inputs, view.outputs, activation.outputs
    first = replace(activation, inputs=[source], outputs=[between], layer=None)
    second = replace(view, inputs=[between], outputs=[output], layer=None)
    source.consumers = [first if reader is view else reader for reader in source.consumers]
    between.shape, between.type = source.shape, source.type
    between.producer, between.consumers = first, [second]
    output.producer = second
    operators[operators.index(view)] = first
    operators[operators.index(activation)] = second
    return first
