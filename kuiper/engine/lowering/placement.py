"""Where outputs lie whose layout a lowering may choose, and inputs whose layout it may not.

Of (n, c, h, w) there are two: images have the channels of a pixel side by side, rows have the last axis. A lowering
that can do either keeps what it finds, so that no later step has to turn it round:

    an image through a softmax over its channels   -> an image
    scores (n, heads, l, s) through a softmax      -> rows
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.copy_plan import as_copied
from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into, import_into
from kuiper.engine.values import PythonValue, Value, whole_vectors

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue
    from kuiper.layers.layer import Array


def memory_like(builder: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    """Memory for the current operator's output of this shape, in the layout of ``x``, to be written exactly."""
    if len(shape) == x.view.ndim == 4 and x.strides[3] != 1 and x.strides[1] == 1:
        return builder.image(shape, exact=True)
    return memory_by_rows(builder, shape)


def lies_by_rows(x: Value) -> bool:
    """Whether a value of four axes has the numbers of its last axis side by side, as scores do, and is no image."""
    return x.shape[3] > 1 and x.strides[3] == 1 and x.strides[1] != 1


def memory_by_rows(builder: Builder, shape: tuple[int, ...], fixed: bool = False) -> Value:
    """The same in C order; a last axis that is shorter than a vector is not rounded up to one."""
    return builder.rows(shape, fixed, padded=bool(shape) and shape[-1] >= LANES, exact=True)


def exact_rows(builder: Builder, shape: tuple[int, ...]) -> Value:
    """The same for a kernel that needs the numbers of the last axis side by side."""
    return builder.rows(shape, exact=True)


def as_rows(builder: Builder, x: Value, merge: int = 1) -> Value:
    """``x`` with its last ``merge`` axes joined into one whose numbers are side by side, copied if need be."""
    shape = (*x.shape[: x.view.ndim - merge], -1)
    found = view_of(x, x.view.reshape(shape))
    if found is not None and (found.strides[-1] == 1 or found.shape[-1] == 1):
        return found
    copied = builder.rows(x.shape, fixed=True, padded=merge == 1)
    copy_between(builder, x, copied)
    return Value(copied.buffer, copied.view.reshape(shape))


def in_c_order(builder: Builder, value: AnyValue) -> Value:
    """A float32 tensor on the arena; one from outside lies in C order without gaps, however few channels it has."""
    if not isinstance(value, PythonValue) or value.constant or not builder.is_float_tensor(value):
        return builder.on_arena(value)

    def make() -> Value:
        target = builder.rows(value.shape, fixed=True, padded=False)
        import_into(builder, value, target)
        return target

    return builder.in_form(value, "C order", make)


def copy_between(builder: Builder, source: Value, target: Value) -> None:
    """Add the copy between values of one shape; declines if one copy does not do it."""
    decline_if(not can_copy(source.view, target.view))
    copy_into(builder, source, target)


def has_row_capacity(out: Value) -> bool:
    """Whether each row may be written up to a whole vector without meeting the next one."""
    axes = zip(out.shape[:-1], out.strides[:-1], strict=True)
    room = min((stride for size, stride in axes if size > 1), default=whole_vectors(out.shape[-1]))
    return room >= whole_vectors(out.shape[-1])


def view_of(x: Value, view: Array) -> Value | None:
    """``view`` as a value, if it is a view of the memory of ``x`` and no copy."""
    return Value(x.buffer, view) if np.may_share_memory(view, x.buffer.placeholder) else None


def can_copy(source: Array, target: Array) -> bool:
    """Whether one copy does it, between views of one shape."""
    strides = ([stride // 4 for stride in view.strides] for view in (source, target))
    return len(as_copied(zip(source.shape, *strides, strict=True))) <= MAX_NDIM
