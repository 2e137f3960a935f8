"""Windows that move over a plane: stride, padding, and what one number of a deep layer has seen of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import template, words
from kuiper.course.pictures.grid import grid, hue
from kuiper.course.pictures.picture import Picture, box, label, row_of, text_width
from kuiper.course.pictures.steps import Steps, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

_CELL, _ROW = 24.0, 66.0
MAX_FRAMES = 16


def sliding_window(size: int = 5, kernel: int = 3, stride: int = 2, padding: int = 1) -> Steps:
    """A square window on its way over a square input: one picture for each output.

    The input's numbers count its cells; the zeros around them are the padding.

    Parameters
    ----------
    size, kernel, stride, padding : cells along each side, as for a convolution

    >>> len(sliding_window(size=4, kernel=2, stride=2, padding=0).pictures)
    4

    Raises
    ------
    CourseError
        If the window does not fit, or there would be more than 16 pictures.
    """
    out = (size + 2 * padding - kernel) // stride + 1 if size + 2 * padding >= kernel else 0
    if not 1 <= out * out <= MAX_FRAMES:
        raise CourseError("sliding_window", f"1 to {MAX_FRAMES} outputs", f"{max(out, 0)} x {max(out, 0)}")
    plane = np.pad(np.arange(1, size * size + 1).reshape(size, size), padding)
    is_padding = np.pad(np.full((size, size), -1), padding, constant_values=8)
    frames, captions = [], []
    for y in range(out):
        for x in range(out):
            top, left = y * stride, x * stride
            window = [(top + i, left + j) for i in range(kernel) for j in range(kernel)]
            around = sum(is_padding[cell] == 8 for cell in window)
            frames.append(
                row_of(
                    grid(plane, words("input and padding"), colours=is_padding, marks={"1": window}),
                    grid(np.full((out, out), ""), words("output"), marks={"0": [(y, x)]}),
                    gap=30,
                )
            )
            message = template("Output {place}: the window begins at row {row}, column {column}.")
            if around:
                message = template(
                    "Output {place}: the window begins at row {row}, column {column}, {count} of its cells are padding."
                )
            captions.append(words(message, place=f"({y}, {x})", row=top, column=left, count=around))
    caption = words(
        "A {kernel} window, stride {stride}, padding {padding}: {size} becomes {out}.",
        kernel=f"{kernel} x {kernel}",
        stride=stride,
        padding=padding,
        size=f"{size} x {size}",
        out=f"{out} x {out}",
    )
    return steps(frames, captions, caption)


def receptive_field(layers: Sequence[tuple[int, int]] = ((3, 1), (3, 1), (3, 1))) -> Picture:
    """The numbers of each layer that one output depends on, along one axis; the input is at the top.

    Parameters
    ----------
    layers : (kernel, stride) of each layer, from the input to the output

    >>> "sees 7 of the input" in receptive_field().svg()
    True

    Raises
    ------
    CourseError
        If there is no layer, or more than 24 numbers of the input would be seen.
    """
    counts = [1]
    for kernel, stride in reversed(layers):
        counts.append((counts[-1] - 1) * stride + kernel)
    counts.reverse()
    if not layers or counts[0] > 24:
        raise CourseError(
            "receptive_field", "layers that see at most 24 numbers", f"{len(layers)} that see {counts[0]}"
        )
    names = [words("input"), *(words("{kernel} wide, stride {stride}", kernel=k, stride=s) for k, s in layers)]
    left = max(text_width(name) for name in names) + 14
    full = (counts[0] + 2) * _CELL
    parts = []
    starts = []  # where the first number of each row that is seen begins
    step = [1]
    for _, stride in layers:
        step.append(step[-1] * stride)
    for row, count in enumerate(counts):
        # A number stands above the middle of its window, so a row's distance grows with the strides above it.
        span = (count - 1) * step[row] * _CELL + _CELL
        starts.append(left + _CELL + (counts[0] * _CELL - span) / 2)
    for row, (kernel, stride) in enumerate(layers):
        for i in range(counts[row + 1]):
            below = starts[row + 1] + i * step[row + 1] * _CELL
            first = starts[row] + i * stride * step[row] * _CELL
            last = first + (kernel - 1) * step[row] * _CELL + _CELL
            points = f"{first:.1f},{_ROW * row + _CELL} {last:.1f},{_ROW * row + _CELL} "
            points += f"{below + _CELL:.1f},{_ROW * (row + 1)} {below:.1f},{_ROW * (row + 1)}"
            parts.append(f'<polygon points="{points}" style="fill:{hue(1)};fill-opacity:0.16"/>')
    for row, (name, count) in enumerate(zip(names, counts, strict=True)):
        parts.append(label(left - 10, _ROW * row + _CELL / 2, name, "kp-faint", "end"))
        for i in range(count):
            x = starts[row] + i * step[row] * _CELL
            parts.append(box(x, _ROW * row, _CELL, _CELL, hue(0 if row == len(layers) else 1), strong=True))
    height = _ROW * len(layers) + _CELL
    end = starts[-1] + _CELL + 8
    parts.append(label(end, height - _CELL / 2, words("sees {count} of the input", count=counts[0]), anchor="start"))
    width = max(left + full, end + text_width("sees 24 of the input"))
    caption = words(
        "After {layers} layers one number depends on {count} of the input, along each axis.",
        layers=len(layers),
        count=counts[0],
    )
    return Picture(width, height, "".join(parts), caption)
