"""aten::one_hot and ONNX's OneHot: a vector with one entry that differs, for each index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.embedding import check_indices
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("aten::one_hot")
class OneHot(Layer):
    """A last axis, int64, with a 1 at the place that the index names, of ``num_classes`` or as many as needed.

    Source: torch.nn.functional.one_hot.
    """

    data_inputs = None

    def forward(self, indices: Array, num_classes: int = -1) -> Array:
        count = int(num_classes)
        if count == -1:
            self.expect(indices.size > 0, "an index, or num_classes", indices.shape)
            count = int(indices.max()) + 1
        check_indices(indices, count, self.op.where, from_end=False)
        return np.asarray(indices[..., None] == np.arange(count), np.int64)


@register("OneHot")
class OnnxOneHot(Layer):
    """A new ``axis`` of ``depth`` entries: ``values[1]`` where the index names, ``values[0]`` elsewhere.

    An index may count from the end; one that lies outside names no place.

    Source: ONNX, OneHot.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis = op.int_param("axis", -1)

    def forward(self, indices: Array, depth: int | Array, values: Array) -> Array:
        count = int(np.asarray(depth).item())
        place = axis(self.axis, indices.ndim + 1, self.op.where)
        wanted = np.expand_dims(np.where(indices < 0, indices + count, indices), place)
        counted = np.arange(count).reshape(-1, *[1] * (indices.ndim - place))
        off, on = np.asarray(values)
        return np.asarray(np.where(wanted == counted, on, off))
