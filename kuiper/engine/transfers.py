"""Values that come onto the arena, leave it, or move on it: float32 tensors, then integers and bools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from kuiper.engine.kernels.layout import Copy
from kuiper.engine.kernels.typed import TYPES, Typed
from kuiper.engine.planned_step import StepKind
from kuiper.engine.values import AnyValue, PythonValue, Value, as_pixels

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.layers.layer import Array

ARENA = -1
"""What stands for the arena where a kernel takes the index of an array from outside."""

End = tuple[int, int, int, tuple[int, ...]]
"""Where a tensor lies: a binding or the arena, the offset in bytes, its type, and strides in bytes."""


class BuilderProtocol(Protocol):
    """What is asked of the builder, which itself imports values."""

    @property
    def emit(self) -> Callable[..., None]: ...

    def image(self, shape: tuple[int, ...], fixed: bool = False, exact: bool = False) -> Value: ...
    def rows(self, shape: tuple[int, ...], fixed: bool = False, padded: bool = True, exact: bool = False) -> Value: ...
    def typed(self, shape: tuple[int, ...], dtype: np.dtype) -> Value: ...
    def constant(self, array: Array) -> Value: ...
    def typed_constant(self, array: Array) -> Value: ...
    def zeroed(self, floats: int) -> Value: ...
    def python_value(self, example: Array) -> PythonValue: ...
    def bind(self, value: PythonValue) -> tuple[int, PythonValue]: ...


def import_value(builder: BuilderProtocol, value: PythonValue) -> Value:
    """An array from outside on the arena: images channels last, everything else in C order."""
    shape = value.example.shape
    if value.constant:
        return builder.constant(value.example)
    target = builder.image(shape, exact=True) if len(shape) == 4 else builder.rows(shape, exact=True)
    import_into(builder, value, target)
    return target


def with_border(builder: BuilderProtocol, value: AnyValue, border: tuple[int, int, int, int]) -> Value:
    """Images, channels last and side by side, with (top, bottom, left, right) pixels of zeros around each.

    A convolution that reads it needs no bounds, and sees a row of its kernel as one run of numbers.
    """
    n, c, h, w = value.shape
    top, bottom, left, right = border
    pixels = builder.zeroed(n * (h + top + bottom) * (w + left + right) * c)
    whole = pixels.view.reshape(n, h + top + bottom, w + left + right, c).transpose(0, 3, 1, 2)
    target = Value(pixels.buffer, whole)
    inside = Value(pixels.buffer, whole[:, :, top : top + h, left : left + w])
    if isinstance(value, PythonValue):
        import_into(builder, value, inside, target)
    else:
        copy_into(builder, value, inside, target)
    return target


def import_into(builder: BuilderProtocol, value: PythonValue, target: Value, written: Value | None = None) -> None:
    """Copy an array from outside to a place on the arena; ``written`` is that place and more that goes with it."""
    binding = builder.bind(value)
    strides = _c_strides(value.example.shape)
    builder.emit(
        "import",
        lambda: Copy(_ends(0, binding[0], target.offset, ARENA), target.shape, strides, target.strides),
        bindings=[binding],
        writes=[written or target],
        more_bytes=4 * target.view.size,
        relocatable=True,
        kind=StepKind.IMPORT,
    )


def export_value(builder: BuilderProtocol, value: Value) -> PythonValue:
    """A value on the arena as an array of its own, in C order."""
    result = builder.python_value(value.view)
    binding = builder.bind(result)
    strides = _c_strides(value.shape)
    builder.emit(
        "export",
        lambda: Copy(_ends(value.offset, ARENA, 0, binding[0]), value.shape, value.strides, strides),
        bindings=[binding],
        reads=[value],
        more_bytes=4 * value.view.size,
        relocatable=True,
        kind=StepKind.EXPORT,
    )
    return result


def copy_into(builder: BuilderProtocol, source: Value, target: Value, written: Value | None = None) -> None:
    """Copy a value to a place on the arena; ``written`` is that place and more that goes with it."""
    builder.emit(
        "copy",
        lambda: Copy(_ends(source.offset, ARENA, target.offset, ARENA), source.shape, source.strides, target.strides),
        reads=[source],
        writes=[written or target],
        relocatable=True,
    )


def dense(builder: BuilderProtocol, value: Value) -> Value:
    """The value in C order without gaps: itself, or a copy; it remains so."""
    if value.view.flags.c_contiguous:
        value.buffer.fixed = True
        return value
    target = builder.rows(value.shape, fixed=True, padded=False)
    copy_into(builder, value, target)
    return target


def pixels_of(builder: BuilderProtocol, value: Value) -> Value:
    """A value as one row of pixels (``as_pixels``), copied if it does not lie so."""
    pixels = as_pixels(value) or as_pixels(dense(builder, value))
    assert pixels is not None
    return pixels


def import_typed(builder: BuilderProtocol, value: PythonValue) -> Value:
    """An array of integers or bools from outside on the arena."""
    if value.constant:
        return builder.typed_constant(value.example)
    target = builder.typed(value.example.shape, value.example.dtype)
    binding = builder.bind(value)
    shape, strides = target.shape, target.view.strides

    def make() -> Typed:
        outside = (binding[0], 0, TYPES[target.view.dtype.name], strides)
        return Typed("copy", shape, [end_of(target, shape), outside], floating=False)

    moved = target.view.nbytes
    builder.emit("import", make, writes=[target], bindings=[binding], more_bytes=moved, kind=StepKind.IMPORT)
    return target


def export_typed(builder: BuilderProtocol, value: Value) -> PythonValue:
    """A tensor of integers or bools on the arena as an array of its own, in C order."""
    example = np.empty(value.shape, value.view.dtype)
    result = builder.python_value(example)
    binding = builder.bind(result)

    def make() -> Typed:
        outside = (binding[0], 0, TYPES[example.dtype.name], example.strides)
        return Typed("copy", value.shape, [outside, end_of(value, value.shape)], floating=False)

    moved = example.nbytes
    builder.emit("export", make, reads=[value], bindings=[binding], more_bytes=moved, kind=StepKind.EXPORT)
    return result


def end_of(value: Value, shape: tuple[int, ...]) -> End:
    """Where it lies, seen as a tensor of this shape with which it broadcasts."""
    strides = np.broadcast_to(value.view, shape).strides
    return ARENA, value.byte_offset, TYPES[value.view.dtype.name], strides


def _c_strides(shape: tuple[int, ...]) -> list[int]:
    """In floats."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def _ends(source: int, source_binding: int, target: int, target_binding: int) -> dict[str, int]:
    return {
        "source": source,
        "source_binding": source_binding,
        "target": target,
        "target_binding": target_binding,
    }
