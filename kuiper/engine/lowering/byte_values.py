"""What lowerings of bytes share: ONNX's operands by their names, constants, and bytes as a kernel reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.values import AnyValue, PythonValue, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array

BYTES = (np.dtype(np.uint8), np.dtype(np.int8))

RANGES = "ranges"
"""The form of floats on the arena that is the range of each part of them: (low, high), one behind the other."""


def by_name(layer: Any, inputs: Sequence[AnyValue], names: str) -> dict[str, AnyValue]:
    """The inputs of a layer by the names that they have in the graph, or else by these, in order."""
    given = layer.op.input_names
    return dict(zip(given if any(given) else names.split(), inputs, strict=False))


def constant_of(value: AnyValue | None) -> Array | None:
    """The numbers of a value that is the same in every run; None of any other."""
    if not isinstance(value, PythonValue) or not value.constant:
        return None
    numbers = np.asarray(value.example)
    return numbers if numbers.dtype.kind in "fiu" else None


def number_of(given: dict[str, AnyValue], name: str) -> Any:
    """The one number of a constant scale or zero point, 0 if there is none; None if it is no such constant."""
    if name not in given:
        return 0
    numbers = constant_of(given[name])
    return None if numbers is None or numbers.size != 1 else numbers.reshape(-1)[0]


def bytes_on_arena(builder: Builder, value: AnyValue | None) -> Value:
    """A tensor of int8 or uint8 on the arena; declines if it is none, or a constant."""
    if value is None or constant_of(value) is not None:
        raise Declined
    example = value.view if isinstance(value, Value) else value.example
    decline_if(getattr(example, "dtype", None) not in BYTES or not example.ndim)
    return builder.tensor(value)


def byte_image(builder: Builder, shape: tuple[int, ...], dtype: np.dtype) -> Value:
    """Memory for an image (n, c, h, w) whose channels are neighbours, without gaps."""
    n, c, h, w = shape
    out = builder.typed((n, h, w, c), dtype)
    return Value(out.buffer, out.view.transpose(0, 3, 1, 2))


def as_byte_image(builder: Builder, x: Value) -> Value:
    """An image (n, c, h, w) whose channels are neighbours: the value, or a copy."""
    if x.view.strides[1] == x.view.itemsize or x.shape[1] == 1:
        return x

    def copied() -> Value:
        image = byte_image(builder, x.shape, x.view.dtype)
        emit_typed(builder, "copy", image, [x])
        return image

    return builder.in_form(x, "image", copied)


def image_places(name: str, value: Value) -> dict[str, int]:
    """For a kernel: where an image begins, and the bytes from image to image, row to row and pixel to pixel."""
    image, _, row, pixel = value.view.strides
    return {name: value.byte_offset, f"{name}_image": image, f"{name}_row": row, f"{name}_pixel": pixel}


def has_even_pixels(view: Array) -> bool:
    """Whether all pixels of all images follow one another evenly."""
    (n, _, h, w), (image, _, row, pixel) = view.shape, view.strides
    return bool((row == w * pixel or h == 1) and (image == h * w * pixel or n == 1))


def as_byte_rows(builder: Builder, x: Value) -> Value:
    """The last axis as columns, all others as one axis of rows: a view, or one of a copy."""

    def rows_of(value: Value) -> Value | None:
        rows = value.view.reshape(-1, value.shape[-1])
        is_view = np.may_share_memory(rows, value.buffer.placeholder)
        neighbours = rows.strides[1] == rows.itemsize or rows.shape[1] == 1
        return Value(value.buffer, rows) if is_view and neighbours else None

    def copied() -> Value:
        dense = builder.typed(x.shape, x.view.dtype)
        emit_typed(builder, "copy", dense, [x])
        return dense

    found = rows_of(x) or rows_of(builder.in_form(x, "C order", copied))
    assert found is not None
    return found
