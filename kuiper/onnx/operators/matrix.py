"""Matrix products, and what else is computed of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.onnx.node import Value
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node


@operator("MatMul")
def matmul(node: Node, build: GraphBuilder) -> Value:
    """A product with a constant matrix is a linear layer."""
    a, b = node.value(0), node.value(1)
    if b.constant is not None and b.rank == 2 and 0 not in b.constant.shape and a.is_float32:
        return _linear(build, a, _weight(build, b.constant, True), None)
    return build.op("torch.matmul", a, b, names=["input", "other"])


@operator("Gemm")
def gemm(node: Node, build: GraphBuilder) -> Value:
    """``alpha * A B + beta * C``; with constant B, and C if any, a linear layer."""
    a, b, c = node.value(0), node.value(1), node.optional(2)
    for value in (a, b):
        if value.rank not in (2, None):
            raise ShapeError(node.where, "two matrices", (a.shape, b.shape))
    alpha, beta = node.float("alpha", 1.0), node.float("beta", 1.0)
    if node.int("transA", 0):
        a = build.op("torch.transpose", a, params={"dim0": 0, "dim1": 1})
    weight = b.constant
    if weight is not None and 0 not in weight.shape and a.is_float32:
        weight = _weight(build, weight, not node.int("transB", 0), alpha)
        bias = _bias(build, c, beta, len(weight))
        product = _linear(build, a, weight, bias)
        return product if c is None or bias is not None else _plus(node, build, product, c, beta)
    if node.int("transB", 0):
        b = build.op("torch.transpose", b, params={"dim0": 0, "dim1": 1})
    product = build.op("torch.matmul", a, b, names=["input", "other"])
    if alpha != 1:
        product = _scaled(node, build, product, alpha)
    return product if c is None else _plus(node, build, product, c, beta)


@operator("Einsum")
def einsum(node: Node, build: GraphBuilder) -> Value:
    values = [node.value(place) for place in range(len(node.inputs))]
    return build.op(
        "torch.einsum", *values, names=["operands"] * len(values), params={"equation": node.str("equation")}
    )


@operator("Det")
def determinant(node: Node, build: GraphBuilder) -> Value:
    return build.op("Det", node.value(0))


def with_bias(build: GraphBuilder, product: Value, bias: Value) -> Value | None:
    """The product of a linear layer without a bias as that of one with it; None if it is no such layer or no such bias.

    The layer without is left to those that read it, and goes if nobody does.
    """
    op, array = None if product.operand is None else product.operand.producer, bias.constant
    if op is None or op.type != "nn.Linear" or "bias" in op.attrs or array is None or not bias.is_float32:
        return None
    weight = op.attrs["weight"].data
    axes = 1 if product.rank is None else product.rank
    if weight is None or array.ndim > axes or array.shape[-1:] != weight.shape[:1] or array.size != len(weight):
        return None
    return _linear(build, Value("", product.type, operand=op.inputs[0]), weight, array.reshape(-1))


def _linear(build: GraphBuilder, x: Value, weight: np.ndarray, bias: np.ndarray | None) -> Value:
    """nn.Linear with this weight (out_features, in_features)."""
    attrs = {"weight": weight}
    if bias is not None:
        attrs["bias"] = bias
    sizes = {"in_features": weight.shape[1], "out_features": weight.shape[0], "bias": bias is not None}
    return build.op("nn.Linear", x, params=sizes, attrs=attrs)


def _weight(build: GraphBuilder, constant: np.ndarray, transposed: bool, factor: float = 1.0) -> np.ndarray:
    """A constant matrix as (out_features, in_features), times a number; nodes that read the matrix share it."""

    def arrange(matrix: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(matrix.T if transposed else matrix)
        return rows if factor == 1 else rows.astype(np.float32) * np.float32(factor)

    return build.arranged(constant, f"weight {transposed} {factor}", arrange)


def _bias(build: GraphBuilder, c: Value | None, beta: float, features: int) -> np.ndarray | None:
    """The constant C as a bias for each column, if it is the same for all rows."""
    if (
        c is None
        or c.constant is None
        or c.constant.size not in (1, features)
        or c.constant.shape[:-1] not in ((), (1,))
    ):
        return None

    def arrange(numbers: np.ndarray) -> np.ndarray:
        row = np.broadcast_to(numbers.reshape(-1), (features,))
        return np.ascontiguousarray(row if beta == 1 else row.astype(np.float32) * np.float32(beta))

    return build.arranged(c.constant, f"bias {features} {beta}", arrange)


def _plus(node: Node, build: GraphBuilder, product: Value, c: Value, beta: float) -> Value:
    """A product plus ``beta * c``."""
    return build.expression("add(@0,@1)", product, c if beta == 1 else _scaled(node, build, c, beta))


def _scaled(node: Node, build: GraphBuilder, value: Value, factor: float) -> Value:
    """A value times a number, which must be a whole one for integers."""
    text = repr(factor)
    if value.dtype.kind in "iu":
        if not factor.is_integer():
            raise node.unsupported("whole alpha and beta for integers", factor)
        text = str(int(factor))
    return build.expression(f"mul(@0,{text})", value)
