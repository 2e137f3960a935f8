"""Views, and the sizes that they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.onnx.element_types import INT64
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value


@operator("Identity")
def identity(node: Node, build: GraphBuilder) -> Value:
    return node.value(0)


@operator("Shape")
def shape(node: Node, build: GraphBuilder) -> Value:
    """The sizes of the axes; those that are known are known from here on."""
    start, end = node.int("start", 0), node.get("end")
    value = node.value(0)
    if value.shape is None:
        return build.op("Shape", value, params={"start": start, "end": end}, type=INT64)
    sizes = tuple(size if isinstance(size, int) else None for size in value.shape[start:end])
    if None not in sizes:
        return build.constant(np.array(sizes, np.int64), INT64)
    result = build.op("Shape", value, params={"start": start, "end": end}, type=INT64)
    result.sizes = sizes
    return result
