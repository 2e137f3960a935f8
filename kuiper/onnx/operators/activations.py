"""Activations: layers of torch for float32, and NumPy's functions for the types that torch's layers do not take."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value


class Activation(NamedTuple):
    """torch's name, and for each setting of ONNX its default and torch's word for it."""

    layer: str
    settings: Mapping[str, tuple[float, str]] = MappingProxyType({})


_ACTIVATIONS = {
    "Celu": Activation("F.celu", {"alpha": (1.0, "alpha")}),
    "Elu": Activation("F.elu", {"alpha": (1.0, "alpha")}),
    "HardSwish": Activation("F.hardswish"),
    "LeakyRelu": Activation("F.leaky_relu", {"alpha": (0.01, "negative_slope")}),
    "Mish": Activation("F.mish"),
    "Relu": Activation("F.relu"),
    "Sigmoid": Activation("F.sigmoid"),
    "Softplus": Activation("F.softplus"),
    "Softsign": Activation("F.softsign"),
    "Tanh": Activation("F.tanh"),
    "ThresholdedRelu": Activation("F.threshold", {"alpha": (1.0, "threshold")}),
}
_GELUS = {
    "none": f"erf(mul(@0,{math.sqrt(1 / 2)!r}))",
    "tanh": f"tanh(mul({math.sqrt(2 / math.pi)!r},add(@0,mul(0.044715,mul(@0,mul(@0,@0))))))",
}
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}


@operator(*_ACTIVATIONS)
def activation(node: Node, build: GraphBuilder) -> Value:
    """A function of one number that torch has, too."""
    row = _ACTIVATIONS[node.type]
    given = {key: node.float(key, default) for key, (default, _) in row.settings.items()}
    if not node.value(0).is_float32:
        return build.op(node.type, node.value(0), params=given)
    params = {row.settings[key][1]: value for key, value in given.items()}
    if node.type == "ThresholdedRelu":
        params["value"] = 0.0
    return build.op(row.layer, node.value(0), params=params)


@operator("Selu")
def selu(node: Node, build: GraphBuilder) -> Value:
    """torch has it with the published numbers only."""
    given = {key: node.float(key, default) for key, default in _SELU.items()}
    usual = all(np.isclose(value, _SELU[key], rtol=1e-6) for key, value in given.items())
    if usual and node.value(0).is_float32:
        return build.op("F.selu", node.value(0))
    return build.op("Selu", node.value(0), params=given)


@operator("Gelu")
def gelu(node: Node, build: GraphBuilder) -> Value:
    approximate = node.str("approximate", "none")
    if node.value(0).is_float32 or approximate not in _GELUS:
        return build.op("F.gelu", node.value(0), params={"approximate": approximate})
    return build.expression(f"mul(mul(@0,0.5),add({_GELUS[approximate]},1.0))", node.value(0))


@operator("HardSigmoid")
def hard_sigmoid(node: Node, build: GraphBuilder) -> Value:
    """A line between 0 and 1: torch's layer has a slope of 1/6."""
    alpha, beta = node.float("alpha", 0.2), node.float("beta", 0.5)
    if np.float32(alpha) == np.float32(1 / 6) and beta == 0.5 and node.value(0).is_float32:
        return build.op("F.hardsigmoid", node.value(0))
    return build.expression(f"maximum(minimum(add(mul(@0,{alpha!r}),{beta!r}),1.0),0.0)", node.value(0))


@operator("Swish")
def swish(node: Node, build: GraphBuilder) -> Value:
    alpha = node.float("alpha", 1.0)
    if alpha == 1 and node.value(0).is_float32:
        return build.op("F.silu", node.value(0))
    return build.expression(f"div(@0,add(exp(mul(@0,{-alpha!r})),1.0))", node.value(0))


@operator("Shrink")
def shrink(node: Node, build: GraphBuilder) -> Value:
    """Numbers near 0 become 0, others come nearer to it by ``bias``."""
    lambd, bias = node.float("lambd", 0.5), node.float("bias", 0.0)
    if node.value(0).is_float32 and bias in (0, lambd):
        return build.op("F.softshrink" if bias else "F.hardshrink", node.value(0), params={"lambd": lambd})
    return build.op("Shrink", node.value(0), params={"lambd": lambd, "bias": bias})


@operator("PRelu")
def prelu(node: Node, build: GraphBuilder) -> Value:
    """A slope for each channel, which torch knows, or one that broadcasts in another way."""
    x, slope = node.value(0), node.value(1)
    array = slope.constant
    if x.is_float32 and array is not None and x.rank is not None and _is_by_channel(array, x.rank):
        weight = array.reshape(-1).astype(np.float32)
        return build.op("nn.PReLU", x, params={"num_parameters": weight.size}, attrs={"weight": weight})
    return build.op("PRelu", x, slope)


def _is_by_channel(slope: np.ndarray, rank: int) -> bool:
    """Whether a slope is one number, or one for each entry of axis 1."""
    if slope.size == 1:
        return slope.ndim <= rank
    channels = slope.shape[:1] if slope.ndim == rank - 1 else slope.shape[1:2]
    return slope.ndim in (rank - 1, rank) and rank > 1 and channels == (slope.size,)
