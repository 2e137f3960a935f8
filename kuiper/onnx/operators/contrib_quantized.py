"""onnxruntime's operators on bytes with a scale and a zero point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ModelFormatError
from kuiper.onnx.element_types import FLOAT
from kuiper.onnx.operators.contrib_nodes import as_standard, by_name
from kuiper.onnx.operators.windows import own_settings
from kuiper.onnx.table import CONTRIB, operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value
    from kuiper.onnx.table import Result

_X_TO_Y = "X X_scale X_zero_point Y_scale Y_zero_point"
_POOLED = "X x_scale x_zero_point y_scale y_zero_point"


@operator("QuantizeLinear", "DequantizeLinear", domain=CONTRIB)
def quantize_linear(node: Node, build: GraphBuilder) -> Result:
    """The standard's, but that a scale for each entry of an axis needs ``axis``."""
    return as_standard(node, build, node.type, axis=node.int("axis", 1))


@operator("QLinearAdd", "QLinearMul", domain=CONTRIB)
def arithmetic_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    return by_name(node, build, "A A_scale A_zero_point B B_scale B_zero_point C_scale C_zero_point", 7)


@operator("QLinearSigmoid", domain=CONTRIB)
def sigmoid_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    return by_name(node, build, _X_TO_Y, 4)


@operator("QLinearLeakyRelu", domain=CONTRIB)
def leaky_relu_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    return by_name(node, build, _X_TO_Y, 4, params={"alpha": node.float("alpha", 0.01)})


@operator("QLinearSoftmax", domain=CONTRIB)
def softmax_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    return by_name(node, build, _X_TO_Y, 4, params={"axis": node.get("axis"), "opset": node.int("opset")})


@operator("QLinearConcat", domain=CONTRIB)
def concat_of_bytes(node: Node, build: GraphBuilder) -> Value:
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        raise ModelFormatError(node.where, "a scale, a zero point and three inputs for each tensor", len(node.inputs))
    values = [node.value(place) for place in range(len(node.inputs))]
    return build.op("QLinearConcat", *values, params={"axis": node.int("axis")}, type=values[1].type)


@operator("QLinearGlobalAveragePool", domain=CONTRIB)
def global_average_pool_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    return by_name(node, build, _POOLED, 5, params={"channels_last": bool(node.int("channels_last", 0))})


@operator("QLinearAveragePool", domain=CONTRIB)
def average_pool_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    params = own_settings(node, "kernel_shape", "ceil_mode", "count_include_pad")
    return by_name(node, build, _POOLED, 4, params={**params, "channels_last": bool(node.int("channels_last", 0))})


@operator("QLinearReduceMean", domain=CONTRIB)
def reduce_mean_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    names = "data data_scale data_zero_point reduced_scale reduced_zero_point"
    params = {"axes": node.get("axes"), "keepdims": bool(node.int("keepdims", 1))}
    return by_name(node, build, names, 4, params=params)


@operator("QLinearConv", domain=CONTRIB)
def convolution_of_bytes(node: Node, build: GraphBuilder) -> Result:
    """The standard's, but that channels may be the last axis."""
    if node.int("channels_last", 0):
        raise node.unsupported("channels_last=0", 1)
    return as_standard(node, build, "QLinearConv", **node.attributes)


@operator("QGemm", domain=CONTRIB)
def gemm_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    names = "A a_scale a_zero_point B b_scale b_zero_point C y_scale y_zero_point"
    zero = node.optional(8)
    turned = {key: bool(node.int(key, 0)) for key in ("transA", "transB")}
    params = {"alpha": node.float("alpha", 1.0), **turned}
    kept = ("B", "b_zero_point")
    return by_name(node, build, names, 6, kept=kept, type=FLOAT if zero is None else zero.type, params=params)


@operator("DynamicQuantizeMatMul", domain=CONTRIB)
def dynamic_matmul(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    return by_name(node, build, "A B b_scale b_zero_point bias", 3, kept=("B", "b_zero_point"))


@operator("MatMulIntegerToFloat", domain=CONTRIB)
def matmul_of_bytes(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    names = "A B a_scale b_scale a_zero_point b_zero_point bias"
    return by_name(node, build, names, 4, kept=("B", "b_zero_point"), type=node.value(2).type)
