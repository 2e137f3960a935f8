"""Values that come onto the arena, leave it, or move on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.cost import COPY_BYTES
from kuiper.engine.kernels.layout import Copy
from kuiper.engine.values import HostValue, Value

if TYPE_CHECKING:
    from kuiper.engine.planner import Planner

ARENA = -1
"""What stands for the arena where a kernel takes the index of an array from outside."""


def import_value(planner: Planner, value: HostValue) -> Value:
    """An array from outside on the arena: images channels last, everything else in C order."""
    shape = value.example.shape
    if value.constant:
        return planner.constant(value.example)
    target = planner.image(shape, output=None) if len(shape) == 4 else planner.rows(shape, output=None)
    import_into(planner, value, target)
    return target


def import_with_border(planner: Planner, value: HostValue, border: tuple[int, int, int, int]) -> Value:
    """Images from outside, channels last and side by side, with (top, bottom, left, right) pixels of zeros around each.

    A convolution that reads it needs no bounds, and sees a row of its kernel as one run of numbers.
    """
    n, c, h, w = value.example.shape
    top, bottom, left, right = border
    pixels = planner.zeroed(n * (h + top + bottom) * (w + left + right) * c)
    whole = pixels.view.reshape(n, h + top + bottom, w + left + right, c).transpose(0, 3, 1, 2)
    target = Value(pixels.storage, whole)
    inside = Value(pixels.storage, whole[:, :, top : top + h, left : left + w])
    import_into(planner, value, inside, target)
    return target


def import_into(planner: Planner, value: HostValue, target: Value, written: Value | None = None) -> None:
    """Copy an array from outside to a place on the arena; ``written`` is that place and more that goes with it."""
    external = planner.external(value)
    strides = _c_strides(value.example.shape)
    planner.emit(
        "import",
        lambda: Copy(_ends(0, external[0], target.offset, ARENA), target.shape, strides, target.strides),
        externals=[external],
        writes=[written or target],
        more_bytes=4 * target.view.size,
        expected=8 * target.view.size / COPY_BYTES,
    )


def export_value(planner: Planner, value: Value) -> HostValue:
    """A value on the arena as an array of its own, in C order."""
    result = planner.host_value(value.view)
    external = planner.external(result)
    strides = _c_strides(value.shape)
    planner.emit(
        "export",
        lambda: Copy(_ends(value.offset, ARENA, 0, external[0]), value.shape, value.strides, strides),
        externals=[external],
        reads=[value],
        more_bytes=4 * value.view.size,
        expected=8 * value.view.size / COPY_BYTES,
    )
    return result


def copy_into(planner: Planner, source: Value, target: Value) -> None:
    """Copy a value to a place on the arena."""
    planner.emit(
        "copy",
        lambda: Copy(_ends(source.offset, ARENA, target.offset, ARENA), source.shape, source.strides, target.strides),
        reads=[source],
        writes=[target],
        expected=8 * source.view.size / COPY_BYTES,
    )


def dense(planner: Planner, value: Value, output: int | None = None) -> Value:
    """The value in C order without gaps: itself, or a copy."""
    if value.view.flags.c_contiguous:
        return value
    target = planner.rows(value.shape, output, padded=False)
    copy_into(planner, value, target)
    return target


def _c_strides(shape: tuple[int, ...]) -> list[int]:
    """In floats."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def _ends(source: int, source_external: int, target: int, target_external: int) -> dict[str, int]:
    return {
        "source": source,
        "source_external": source_external,
        "target": target,
        "target_external": target_external,
    }
