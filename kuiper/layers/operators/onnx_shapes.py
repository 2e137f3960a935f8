"""Sizes and shapes in ONNX's spelling: Shape, Size, Reshape, Unsqueeze, Expand, ConstantOfShape, Range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.graph.boundary import input_dtype
from kuiper.layers.axes import axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Shape")
class Shape(Layer):
    """The sizes of the axes from ``start`` up to ``end``, which is not among them, as a vector, int64.

    Source: ONNX, Shape.
    """

    of_shapes = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axes = slice(op.int_param("start", None), op.int_param("end", None))

    def forward(self, x: Array) -> Array:
        return np.array(x.shape[self.axes], np.int64)


@register("Size")
class Size(Layer):
    """How many entries there are, int64.

    Source: ONNX, Size.
    """

    of_shapes = True

    def forward(self, x: Array) -> Array:
        return np.array(np.size(x), np.int64)


@register("Reshape")
class OnnxReshape(Layer):
    """The entries of the input in the shape that the second says: 0 keeps a size, unless ``allowzero``, -1 is the rest.

    Source: ONNX, Reshape.
    """

    is_view = True
    keeps_order = True
    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.allowzero = op.bool_param("allowzero", False)

    def forward(self, x: Array, shape: Any) -> Array:
        wanted = integers(shape)
        if not self.allowzero:
            self.expect(all(wanted[x.ndim :]), f"0 for one of {x.ndim} axes", wanted)
            wanted = tuple(size or x.shape[i] for i, size in enumerate(wanted))
        self.expect(wanted.count(-1) < 2, "at most one -1", wanted)
        known = math.prod(size for size in wanted if size != -1)
        if -1 in wanted and known > 0:
            wanted = tuple(x.size // known if size == -1 else size for size in wanted)
        fits = math.prod(wanted) == x.size and min(wanted, default=0) >= 0
        self.expect(fits, f"a shape for the {x.size} entries of {x.shape}", wanted)
        return x.reshape(wanted)


@register("Unsqueeze")
class OnnxUnsqueeze(Layer):
    """New axes of size one, at the places of the output that the second input names.

    Source: ONNX, Unsqueeze.
    """

    is_view = True
    keeps_order = True
    data_inputs = None

    def forward(self, x: Array, places: Any) -> Array:
        given = integers(places)
        return np.expand_dims(x, axes(given, np.ndim(x) + len(given), self.op.where))


@register("Expand")
class OnnxExpand(Layer):
    """The input, or a number, broadcast with the shape that the second input says.

    Source: ONNX, Expand.
    """

    data_inputs = None

    def forward(self, x: Array | float, shape: Any) -> Array:
        old, wanted = np.shape(x), integers(shape)
        try:
            return np.broadcast_to(np.asarray(x, promoted([x])), np.broadcast_shapes(old, wanted))
        except ValueError:
            raise ShapeError(self.op.where, f"a shape that {old} broadcasts with", wanted) from None


@register("ConstantOfShape")
class ConstantOfShape(Layer):
    """One number in the shape that the input says: the weight ``value``, or 0 of the type that the file declares.

    Source: ONNX, ConstantOfShape.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.value = op.attribute("value").data if "value" in op.attrs else np.zeros(1, input_dtype(op.outputs[0]))

    def forward(self, shape: Any) -> Array:
        sizes = integers(shape)
        self.expect(min(sizes, default=0) >= 0, "sizes >= 0", sizes)
        check_size(sizes, self.value.itemsize, self.op.where)
        return np.full(sizes, self.value[0])


@register("Range")
class Range(Layer):
    """``start``, ``start + delta``, ... up to ``limit``, which is not among them, in their element type.

    Source: ONNX, Range.
    """

    data_inputs = None

    def forward(self, start: Any, limit: Any, delta: Any) -> Array:
        first, end, step = (np.asarray(value).reshape(-1) for value in (start, limit, delta))
        self.expect(first.size == end.size == step.size == 1, "three numbers", (first.shape, end.shape, step.shape))
        self.expect(step[0] != 0, "a delta other than 0", step[0])
        lengths = (end[0].item() - first[0].item()) / step[0].item()
        self.expect(math.isfinite(lengths), "a finite range", (start, limit, delta))
        count = max(math.ceil(lengths), 0)
        check_size((count,), first.itemsize, self.op.where)
        return np.asarray(first[0] + np.arange(count, dtype=first.dtype) * step[0], first.dtype)


def integers(value: Any) -> tuple[int, ...]:
    """An operand that holds sizes: a number, a list of numbers, or a vector.

    A fraction is cut off: pnnx writes ONNX's division of integers as one of floats.
    """
    return tuple(int(item) for item in np.atleast_1d(np.asarray(value)).ravel())
