"""Which operators are activations that a fused operator can take in, and what its parameters then are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


class FusedActivation(NamedTuple):
    """The parameters ``activation``, ``activation_alpha`` and ``activation_beta`` of a fused operator."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0


def activation_of(op: RuntimeOperator, registry: RegistryProtocol) -> FusedActivation | None:
    """The activation that this operator is; None if it is none, or one that cannot be fused.

    It cannot if a setting arrives as a second input, or if the type has a layer that is not kuiper's own.
    """
    if op.type not in _READERS or len(op.inputs) != 1 or not registry.is_built_in(op.type):
        return None
    return _READERS[op.type](op)


def _clip(op: RuntimeOperator) -> FusedActivation:
    return FusedActivation("clip", op.float_param("min_val", -1.0), op.float_param("max_val", 1.0))


def _clamp(op: RuntimeOperator) -> FusedActivation | None:
    low, high = op.float_param("min", -math.inf), op.float_param("max", math.inf)
    return None if math.isnan(low) or math.isnan(high) else FusedActivation("clip", low, high)


def _leaky_relu(op: RuntimeOperator) -> FusedActivation:
    return FusedActivation("leaky_relu", op.float_param("negative_slope", 0.01))


def _prelu(op: RuntimeOperator) -> FusedActivation | None:
    slopes = op.attr("weight")
    return FusedActivation("leaky_relu", float(slopes.item())) if slopes.size == 1 else None


def _gelu(op: RuntimeOperator) -> FusedActivation | None:
    names = {"none": "gelu", "tanh": "gelu_tanh"}
    name = names.get(op.str_param("approximate", "none"))
    return None if name is None else FusedActivation(name)


def _plain(name: str) -> Callable[[RuntimeOperator], FusedActivation | None]:
    return lambda op: FusedActivation(name)


_READERS: dict[str, Callable[[RuntimeOperator], FusedActivation | None]] = {
    **dict.fromkeys(("nn.ReLU", "F.relu", "torch.relu"), _plain("relu")),
    **dict.fromkeys(("nn.ReLU6", "F.relu6"), lambda op: FusedActivation("clip", 0.0, 6.0)),
    **dict.fromkeys(("nn.Hardtanh", "F.hardtanh"), _clip),
    **dict.fromkeys(("torch.clamp", "torch.clip", "Tensor.clamp"), _clamp),
    **dict.fromkeys(("nn.LeakyReLU", "F.leaky_relu"), _leaky_relu),
    "nn.PReLU": _prelu,
    **dict.fromkeys(("nn.ELU", "F.elu"), lambda op: FusedActivation("elu", op.float_param("alpha", 1.0))),
    **dict.fromkeys(("nn.SiLU", "F.silu"), _plain("silu")),
    **dict.fromkeys(("nn.Hardswish", "F.hardswish"), _plain("hardswish")),
    **dict.fromkeys(("nn.Hardsigmoid", "F.hardsigmoid"), _plain("hardsigmoid")),
    **dict.fromkeys(("nn.Sigmoid", "F.sigmoid", "torch.sigmoid"), _plain("sigmoid")),
    **dict.fromkeys(("nn.Tanh", "F.tanh", "torch.tanh"), _plain("tanh")),
    **dict.fromkeys(("nn.GELU", "F.gelu"), _gelu),
    **dict.fromkeys(("nn.Mish", "F.mish"), _plain("mish")),
}
