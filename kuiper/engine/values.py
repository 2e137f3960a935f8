"""What is known of the values that will flow: where each will lie, before there is any memory.

A value on the arena is a NumPy view of its buffer's *placeholder*, an array of zeros of the buffer's size that nothing
ever writes to. Shape, strides and offset of the view are those that the value will have in the arena:

    buffer.placeholder |-------------------------------|           later:   arena
    |......|=========================|....| value.view             [ image, channels last ]
    ^ buffer.offset

So whatever NumPy can express as a view, the plan can, at no cost: the pieces of a split, a permuted or reshaped
tensor, the slice of a concat buffer that a convolution fills. Running a layer on placeholders also tells the shape of
its output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from kuiper.engine.address import address
from kuiper.engine.cannot_plan import CannotPlanError
from kuiper.engine.kernels.convolution import LANES
from kuiper.errors import ShapeError
from kuiper.layers.operators.attribute import Attribute
from kuiper.pages import pages
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


def whole_vectors(count: int) -> int:
    """``count`` floats, rounded up to whole vector registers."""
    return -(-count // LANES) * LANES


@dataclass(eq=False)
class Buffer:
    """Memory on the arena; ``offset`` is set when all buffers are placed.

    A buffer with ``contents`` is a constant: it is written once, when an arena is made, and keeps its place.
    ``made_for`` is the operator whose lowering has asked for it. ``values`` are all that lie in it; unless it is
    ``fixed``, they may still move into another one. Into an ``exact`` one no kernel writes more than there is; others
    write up to the end of a vector.
    """

    floats: int
    contents: Array | None = None
    offset: int = -1
    made_for: RuntimeOperator | None = field(default=None, repr=False)
    fixed: bool = field(default=False, repr=False)
    exact: bool = field(default=False, repr=False)
    values: list[ref[Value]] = field(default_factory=list, repr=False)
    placeholder: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.floats = whole_vectors(self.floats + self.floats % 2)  # an int64 takes two
        try:
            check_size((self.floats,), 4)
        except ShapeError as error:  # rounded up: the layers may need less
            raise CannotPlanError(str(error)) from error
        self.placeholder = pages(4 * self.floats).view(np.float32)
        # A layer that writes to its input must not pass for one that makes a view of it.
        self.placeholder.flags.writeable = False


@dataclass(eq=False)
class Value:
    """A tensor on the arena: of float32, or of integers or bools, whose view has that type.

    What counts in floats is meant for float32 tensors only.
    """

    buffer: Buffer
    view: Array

    def __post_init__(self) -> None:
        self.buffer.values.append(ref(self))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.view.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """In floats."""
        return tuple(stride // 4 for stride in self.view.strides)

    @property
    def start(self) -> int:
        """The first element's place within the buffer."""
        return (address(self.view) - address(self.buffer.placeholder)) // 4

    @property
    def offset(self) -> int:
        """The first element's place within the arena, once that is known."""
        return self.buffer.offset + self.start

    @property
    def byte_offset(self) -> int:
        """The same in bytes."""
        return 4 * self.buffer.offset + address(self.view) - address(self.buffer.placeholder)

    @property
    def is_float(self) -> bool:
        """Whether it is of float32, as most are."""
        return self.view.dtype == np.float32


@dataclass(eq=False)
class PythonValue:
    """An object of Python, not on the arena: an input, what a layer in Python returned, shapes and other numbers.

    ``slot`` is its place in the table of such values at run time; ``example`` is what it looks like. The example of a
    ``constant`` is the value itself: it does not depend on what is in the inputs, only on their shapes. For a weight
    that is stored with the model ``content`` is its layer, whose shape is known without unpacking it.
    """

    slot: int
    content: Any
    constant: bool = False

    @property
    def example(self) -> Any:
        """What it looks like."""
        return self.content.data if isinstance(self.content, Attribute) else self.content

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a tensor; () of anything else."""
        return getattr(self.content, "shape", ())


AnyValue = Value | PythonValue


def is_known(value: AnyValue) -> bool:
    """Whether the plan has computed it: it depends on the shapes of the inputs only."""
    return isinstance(value, PythonValue) and value.constant


def is_unknown_number(value: AnyValue) -> bool:
    """Whether it is a number, or a list of them, that depends on what is in the inputs: its example says nothing."""
    return isinstance(value, PythonValue) and not value.constant and not isinstance(value.example, np.ndarray)


def may_be_index(value: AnyValue) -> bool:
    """Whether another call may bring another index here, and so another view: ``x[:, :n]`` with an input ``n``."""
    if isinstance(value, Value):
        return not value.is_float
    if value.constant:
        return False
    return not isinstance(value.example, np.ndarray) or value.example.dtype.kind in "biu"


def new_image(n: int, c: int, h: int, w: int) -> Value:
    """An image (n, c, h, w), channels last, each pixel's channels rounded up to whole vectors."""
    pixel = whole_vectors(c)
    buffer = Buffer(n * h * w * pixel)
    view = buffer.placeholder[: n * h * w * pixel].reshape(n, h, w, pixel)
    return Value(buffer, view[..., :c].transpose(0, 3, 1, 2))


def new_rows(shape: tuple[int, ...], padded: bool = True) -> Value:
    """A tensor in C order; ``padded`` rounds the last axis up to whole vectors, so that kernels need no masks."""
    row = whole_vectors(shape[-1]) if padded and shape else (shape[-1] if shape else 1)
    lines = math.prod(shape[:-1])
    buffer = Buffer(lines * row)
    view = buffer.placeholder[: lines * row].reshape(*shape[:-1], row)
    return Value(buffer, view[..., : shape[-1]] if shape else view[0, ...])  # 0-d, not a number


def new_typed(shape: tuple[int, ...], dtype: np.dtype) -> Value:
    """A tensor of any element type in C order, without gaps."""
    count = math.prod(shape)
    buffer = Buffer(-(-count * dtype.itemsize // 4))
    flat = buffer.placeholder.view(np.uint8)[: count * dtype.itemsize].view(dtype)
    return Value(buffer, flat.reshape(shape))


def as_pixels(value: Value) -> Value | None:
    """The last axis as channels and all others as one row of pixels, (1, c, 1, pixels); None if that is no view.

    So a linear layer is a 1x1 convolution.
    """
    features = value.shape[-1]
    rows = value.view.reshape(-1, features)
    if (value.strides[-1:] != (1,) and features > 1) or not np.may_share_memory(rows, value.buffer.placeholder):
        return None
    return Value(value.buffer, rows.T[None, :, None, :])


def view_of_any(sources: Iterable[Value], result: Any) -> Value | None:
    """What a layer has made of placeholders as a value, if it is a view of one of these sources."""
    if not isinstance(result, np.ndarray):
        return None
    for source in sources:
        if result.dtype == source.view.dtype and np.may_share_memory(result, source.buffer.placeholder):
            return Value(source.buffer, result)
    return None


def same_memory(a: Value, b: Value) -> bool:
    """Whether two values of one shape are the same numbers; the stride of an axis of length 1 means nothing."""
    axes = zip(a.shape, a.strides, b.strides, strict=True)
    return a.buffer is b.buffer and a.start == b.start and all(s == t for size, s, t in axes if size > 1)


def narrow(value: Value, axis: int, start: int, size: int) -> Value:
    """A slice of a value, as a value."""
    index = (slice(None),) * axis + (slice(start, start + size),)
    return Value(value.buffer, value.view[index])


def has_vector_capacity(value: Value) -> bool:
    """Whether each run of neighbours may be written up to a whole vector without meeting the next run."""
    axes = [(size, stride) for size, stride in zip(value.shape, value.strides, strict=True) if size > 1]
    run = max((size for size, stride in axes if stride == 1), default=1)
    return min((stride for _, stride in axes if stride != 1), default=whole_vectors(run)) >= whole_vectors(run)


def is_image(value: Value) -> bool:
    """Whether pixels follow each other evenly with channels side by side: what the image kernels read."""
    if len(value.shape) != 4:
        return False
    (n, c, h, w), (image, channel, row, pixel) = value.shape, value.strides
    even = (row == w * pixel or h == 1) and (image == h * w * pixel or n == 1)
    return even and (channel == 1 or c == 1) and pixel >= c
