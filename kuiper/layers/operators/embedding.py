"""nn.Embedding and F.embedding: rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.layers.weight_layer import WeightLayer

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.Embedding")
class Embedding(WeightLayer):
    """Row ``i`` of the weight for each entry ``i`` of the input: (...) -> (..., embedding_dim).

    Source: torch.nn.Embedding.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op, (op.int_param("num_embeddings"), op.int_param("embedding_dim")))
        if op.has_param("max_norm"):
            raise self.unsupported("no max_norm", op.params["max_norm"].value)

    def forward(self, x: Array) -> Array:
        check_indices(x, len(self.weight), self.op.where, from_end=False)
        return np.asarray(self.weight[x])


@register("F.embedding")
class FunctionalEmbedding(Layer):
    """The same with the table as an operand; with ``from_end``, as in ONNX, an index may count from the end.

    Source: torch.nn.functional.embedding.
    """

    data_inputs = ("input", "weight")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.has_param("max_norm"):
            raise self.unsupported("no max_norm", op.params["max_norm"].value)
        self.from_end = op.bool_param("from_end", False)

    def forward(self, x: Array, weight: Array) -> Array:
        self.expect(weight.ndim > 0, "weight (num_embeddings, ...)", weight.shape)
        check_indices(x, len(weight), self.op.where, self.from_end)
        return np.asarray(weight[x])


def check_indices(indices: Array, size: int, where: str, from_end: bool) -> None:
    """Raise unless these are integers that index an axis of this size; ``from_end`` allows negative ones.

    Raises
    ------
    DataTypeError
        If they are not integers.
    TensorIndexError
        If one lies outside.
    """
    if indices.dtype.kind not in "iu":
        raise DataTypeError(where, "indices that are integers", indices.dtype)
    lowest = -size if from_end else 0
    outside = (indices < lowest) | (indices >= size)
    if np.any(outside):
        raise TensorIndexError(where, f"indices within {lowest}..{size - 1}", indices[outside][0])
