"""Which operators are activations that a fused operator can take in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kuiper.graph.layer_protocol import ActivationProtocol
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def is_activation(op: RuntimeOperator, name: str, registry: RegistryProtocol) -> bool:
    """Whether this operator is the activation of that name, and nothing but it."""
    activation = activation_of(op, registry)
    return activation is not None and activation.name == name


def activation_of(op: RuntimeOperator, registry: RegistryProtocol) -> ActivationProtocol | None:
    """The activation that this operator is; None if it is none, or one that cannot be fused.

    It cannot if a setting arrives as a second input, or if the type has a layer that is not kuiper's own.
    """
    if not registry.facts(op.type).is_activation or len(op.inputs) != 1 or not registry.is_built_in(op.type):
        return None
    op.layer = op.layer or registry.create(op)
    function = op.layer.function
    return function if function is not None and function.is_fusable else None
