"""Views, and the sizes that they are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.onnx.element_types import INT64
from kuiper.onnx.known_sizes import sizes_of, with_sizes
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
    known = None
    if value.shape is not None:
        known = [size if isinstance(size, int) else None for size in value.shape[start:end]]
    params = {"start": start, "end": end}
    return with_sizes(build, INT64, known, lambda: build.op("Shape", value, params=params, type=INT64))


@operator("Size")
def size(node: Node, build: GraphBuilder) -> Value:
    """How many entries there are."""
    value = node.value(0)
    if value.known_shape is not None:
        return build.constant(np.array(math.prod(value.known_shape), np.int64), INT64)
    return build.op("Size", value, type=INT64, shape=())


@operator("Reshape")
def reshape(node: Node, build: GraphBuilder) -> Value:
    """The entries in another shape; with torch's own operator unless a 0 means an axis without entries."""
    value, wanted, allowzero = node.value(0), node.value(1), node.int("allowzero", 0)
    sizes = list(sizes_of(wanted) or ())
    if value.shape is not None and not allowzero:
        known = {i: one for i, one in enumerate(value.shape) if isinstance(one, int)}
        sizes = [known.get(i, 0) if one == 0 else one for i, one in enumerate(sizes)]
    may_be_empty = value.shape is None or 0 in value.shape
    if (allowzero and (0 in sizes or wanted.constant is None)) or (may_be_empty and wanted.constant is None):
        return build.op("Reshape", value, wanted, params={"allowzero": bool(allowzero)})
    if 0 in sizes and may_be_empty:
        return build.op("Reshape", value, wanted, params={"allowzero": False})
    if sizes.count(None) == 1 and -1 not in sizes and 0 not in sizes:
        sizes[sizes.index(None)] = -1  # what is left is this one
    if None not in sizes and (sizes or wanted.constant is not None):
        vector = sizes_of(value) if len(sizes) == 1 and value.constant is None else None
        return with_sizes(build, value.type, vector, lambda: _reshaped(build, value, sizes))
    return build.op("Tensor.reshape", value, wanted, names=["", "shape"])


def _reshaped(build: GraphBuilder, value: Value, sizes: list[int | None]) -> Value:
    return build.op("Tensor.reshape", value, params={"shape": [one for one in sizes if one is not None]})


@operator("Flatten")
def flatten(node: Node, build: GraphBuilder) -> Value:
    """A matrix of the axes before ``axis`` and of those behind."""
    value, axis, rank = node.value(0), node.int("axis", 1), node.value(0).rank
    if rank is not None:
        if not -rank <= axis <= rank:
            raise ParameterError(node.where, f"axis within {-rank}..{rank}", axis)
        axis %= rank if axis < 0 else rank + 1
    if axis in (0, rank):
        return _reshaped(build, value, [1, -1] if axis == 0 else [-1, 1])
    value = build.op("torch.flatten", value, params={"start_dim": axis, "end_dim": -1})
    return value if axis == 1 else build.op("torch.flatten", value, params={"start_dim": 0, "end_dim": -2})


@operator("Transpose")
def transpose(node: Node, build: GraphBuilder) -> Value:
    """The axes in another order, by default in reverse."""
    value = node.value(0)
    if "perm" not in node.attributes and value.rank is None:
        return build.op("aten::numpy_T", value)
    order = node.ints("perm", list(reversed(range(value.rank or 0))))
    return build.op("Tensor.permute", value, params={"dims": order})


@operator("Squeeze")
def squeeze(node: Node, build: GraphBuilder) -> Value:
    """Without some axes of size one, or without all of them."""
    value, axes = node.value(0), node.integers(1, "axes")
    if axes is not None:
        return build.op("torch.squeeze", value, params={"dim": axes})
    if node.optional(1) is not None:
        return build.op("torch.squeeze", value, node.value(1), names=["", "dim"])
    return build.op("torch.squeeze", value)


@operator("Unsqueeze")
def unsqueeze(node: Node, build: GraphBuilder) -> Value:
    """New axes of size one, named by their places in the output."""
    value, axes = node.value(0), node.integers(1, "axes")
    if axes is not None and value.rank is not None:
        rank = value.rank + len(axes)
        if not all(-rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) < len(axes):
            raise ParameterError(node.where, f"different axes within {-rank}..{rank - 1}", axes)
        axes = sorted(axis % rank for axis in axes)
    elif axes is None or (len(axes) > 1 and min(axes) < 0):
        places = build.sizes(*axes) if axes is not None else node.value(1)
        return build.op("Unsqueeze", value, places)
    for axis in sorted(axes):
        value = build.op("torch.unsqueeze", value, params={"dim": axis})
    return value


@operator("Expand")
def expand(node: Node, build: GraphBuilder) -> Value:
    """Broadcast with a shape."""
    value, wanted, rank = node.value(0), node.value(1), node.value(0).rank
    sizes = node.integers(1, "shape")
    if rank is None or sizes is None or min(sizes, default=0) < 0:
        return build.op("Expand", value, wanted)
    new = len(sizes) - rank
    kept = [-1] * -min(new, 0)
    target = [-1 if one == 1 and place >= new else one for place, one in enumerate(sizes)]
    return build.op("Tensor.expand", value, params={"sizes": [*kept, *target]})


@operator("Tile")
def tile(node: Node, build: GraphBuilder) -> Value:
    """Copies side by side."""
    repeats = node.integers(1, "repeats")
    if repeats is not None:
        return build.op("Tensor.repeat", node.value(0), params={"sizes": repeats})
    return build.op("Tensor.repeat", node.value(0), node.value(1), names=["", "sizes"])


@operator("Trilu")
def trilu(node: Node, build: GraphBuilder) -> Value:
    """A triangle of the last two axes."""
    inputs = [value for value in (node.value(0), node.optional(1)) if value is not None]
    return build.op("Trilu", *inputs, params={"upper": bool(node.int("upper", 1))}, shape=node.value(0).shape)
