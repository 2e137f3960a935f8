"""Operators of onnxruntime that neither the standard nor torch has: parts of BERT's embedding, the inverse of matrices.

Source: onnxruntime, ContribOperators.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kuiper.errors import DataTypeError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("com.microsoft.EmbeddingSum")
class EmbeddingSum(Layer):
    """The embeddings of words, their positions and maybe their segments, added: (n, l) ids -> (n, l, hidden).

    Without ``position_ids`` (n or 1, l) the positions are 0, 1, ...

    Source: onnxruntime, EmbedLayerNormalization.
    """

    data_inputs = None

    def forward(self, *inputs: Any) -> Array:
        given = dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True))
        ids = given["input_ids"]
        self.expect_rank(ids, (2,), "input_ids (n, l)")
        positions = given.get("position_ids", np.arange(ids.shape[1])[None])
        parts = [self._rows(given["word_embedding"], ids), self._rows(given["position_embedding"], positions)]
        if "segment_embedding" in given:
            self.expect("segment_ids" in given, "segment_ids with segment_embedding", "none")
            parts.append(self._rows(given["segment_embedding"], given["segment_ids"]))
        shape = parts[0].shape
        for part in parts:
            self.expect(part.shape in (shape, (1, *shape[1:])), f"embeddings {shape}", part.shape)
        return np.asarray(sum(parts[1:], parts[0]))

    def _rows(self, table: Array, ids: Array) -> Array:
        """Rows of a table (rows, hidden)."""
        self.expect_rank(table, (2,), "a table (rows, hidden)")
        if ids.dtype.kind not in "iu":
            raise DataTypeError(self.op.where, "ids in integers", ids.dtype)
        if ids.size and not 0 <= ids.min() <= ids.max() < len(table):
            raise TensorIndexError(self.op.where, f"ids within {len(table)}", (int(ids.min()), int(ids.max())))
        return np.asarray(table[ids])


@register("com.microsoft.MaskIndex")
class MaskIndex(Layer):
    """How many entries of each row of a mask (n, l) are 1, int32; zeros of another tensor's length without a mask.

    Source: onnxruntime, EmbedLayerNormalization.
    """

    data_inputs = None

    def forward(self, mask: Array) -> Array:
        self.expect_rank(mask, (2,), "a mask (n, l)")
        if not self.op.bool_param("is_mask", True):
            return np.zeros(len(mask), np.int32)
        return np.asarray(np.sum(mask == 1, axis=1, dtype=np.int32))


@register("com.microsoft.Inverse")
class Inverse(Layer):
    """The inverse of every matrix (..., n, n); a matrix without one gives infinities.

    Source: onnxruntime, Inverse.
    """

    data_inputs = None

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim > 1 and x.shape[-1] == x.shape[-2], "square matrices (..., n, n)", x.shape)
        matrices = x.astype(np.float64)
        singular = (np.linalg.det(matrices) == 0)[..., None, None]
        inverses = np.linalg.inv(np.where(singular, np.eye(x.shape[-1]), matrices))
        return np.asarray(np.where(singular, np.inf, inverses), x.dtype)
