"""onnxruntime's products of bytes: exact integers, then one rounding to floats or to bytes.

Source: onnxruntime, ContribOperators.md; ``core/mlas/lib/qpostprocessor.cpp`` for the roundings.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.operators.onnx_contrib_quantized import QLinear
from kuiper.layers.quantized_numbers import ByteMatrix, dynamic_steps, rounded
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


class ByteProduct(QLinear):
    """The base: ``A`` times ``B``, which is packed once if it is a weight of the operator."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.weights = {name: attribute.data for name, attribute in op.attrs.items()}

    def forward(self, *inputs: Any) -> Array:
        named = dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True))
        return self.compute(self.weights | named)

    @cached_property
    def _packed(self) -> ByteMatrix:
        return self._matrix(self.weights)

    def _matrix(self, given: dict[str, Array]) -> ByteMatrix:
        """``B`` as it is multiplied."""
        matrix = given["B"].T if self.op.bool_param("transB", False) else given["B"]
        return ByteMatrix(matrix, given.get("b_zero_point", 0), self.op.where)

    def product(self, a: Array, given: dict[str, Array]) -> Array:
        """The integers of the product of ``a``, less its zero point, with ``B``, as floats."""
        b, zero_point = given["B"], given.get("b_zero_point", np.zeros(1, np.uint8))
        self.expect(b.dtype in (np.uint8, np.int8), "B of int8 or uint8", b.dtype)
        self.expect(a.ndim > 0 and b.ndim > 0, "inputs with axes", (a.shape, b.shape))
        if b.ndim == 2:
            is_fixed = "B" in self.weights and given.keys() & {"b_zero_point"} <= self.weights.keys()
            return (self._packed if is_fixed else self._matrix(given)).times(a)
        inner = b.shape[-2:-1] or b.shape
        self.expect(a.shape[-1:] == inner, f"a left input (..., {inner[0]})", a.shape)
        self.expect(zero_point.size == 1, "one zero point for a stack of matrices", zero_point.shape)
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64) - zero_point.reshape(-1)[0]))

    def scaled(self, total: Array, scale: Array, given: dict[str, Array]) -> Array:
        """Integers times a scale, one or one for each column, plus the bias."""
        n = total.shape[-1:]
        self.expect(scale.size == 1 or scale.shape == n, f"a scale of one number or {n}", scale.shape)
        floats = total.astype(np.float32) * scale.reshape(() if scale.size == 1 else n)
        if "bias" not in given:
            return np.asarray(floats)
        self.expect(given["bias"].shape == n, f"a bias {n}", given["bias"].shape)
        return np.asarray(floats + given["bias"], np.float32)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * inputs[0][-1] * math.prod(outputs[0])


@register("DynamicQuantizeMatMul")
class DynamicQuantizeMatMul(ByteProduct):
    """Floats ``A``, turned to bytes by their own range, times bytes ``B``; the result is floats again.

    Source: as the module.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        steps, scale = dynamic_steps(given["A"])
        return self.scaled(self.product(steps, given), scale * given["b_scale"].astype(np.float32), given)


@register("MatMulIntegerToFloat")
class MatMulIntegerToFloat(ByteProduct):
    """Bytes times bytes, as floats.

    Source: as the module.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        a = self.quantized(given, "A", "a")
        return self.scaled(self.product(a.centred(), given), a.scale * given["b_scale"].astype(np.float32), given)


@register("QGemm")
class QGemm(ByteProduct):
    """``alpha * A B + C`` of bytes, with C in integers; bytes again if the file gives a scale of the output.

    Source: as the module.
    """

    def compute(self, given: dict[str, Array]) -> Array:
        a = self.quantized(given, "A", "a")
        self.expect(a.numbers.ndim == given["B"].ndim == 2, "two matrices", (a.numbers.shape, given["B"].shape))
        if self.op.bool_param("transA", False):
            a = a._replace(numbers=a.numbers.T)
        total = self.product(a.centred(), given)
        if "C" in given:
            pairs = zip(reversed(given["C"].shape), reversed(total.shape), strict=False)
            fits = given["C"].ndim <= 2 and all(ours in (1, size) for ours, size in pairs)
            self.expect(fits, f"C that broadcasts to {total.shape}", given["C"].shape)
            total = total.astype(np.float64) + given["C"]
        scale = np.float32(self.op.float_param("alpha", 1.0)) * a.scale * given["b_scale"].astype(np.float32)
        if "y_scale" not in given:
            return self.scaled(total, scale, given)
        y_scale, zero_point = self.scale_and_zero(given, "y")
        dtype = given["y_zero_point"].dtype if "y_zero_point" in given else a.numbers.dtype
        self.expect(dtype in (np.uint8, np.int8), "y_zero_point of int8 or uint8", dtype)
        return rounded(self.scaled(total, scale / y_scale, {}), zero_point, dtype)
