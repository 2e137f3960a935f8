"""torch.mv: a matrix times a vector."""

from __future__ import annotations

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.matmul import matmul
from kuiper.layers.registry import register


@register("torch.mv")
class MatrixVector(Layer):
    """The product of the input (m, k) and ``vec`` (k).

    Source: torch.mv.
    """

    data_inputs = ("input", "self", "vec")

    def forward(self, matrix: Array, vector: Array) -> Array:
        self.expect(matrix.ndim == 2 and vector.ndim == 1, "(m, k) and (k)", (matrix.shape, vector.shape))
        return matmul(matrix, vector, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * inputs[0][0] * inputs[0][1]
