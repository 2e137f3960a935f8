"""What an operator reads along one axis of a picture: for each row of its output, an interval of rows of its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Reads:
    """What an operator reads along one axis: for each output its first and last input, within the input's ends.

    Without ends, output i reads from ``step * i + low`` to ``step * i + high``; real numbers where sizes grow.
    """

    first: Array
    last: Array
    step: float
    low: float
    high: float


def window_reads(inputs: int, outputs: int, kernel: int, stride: int, before: int, dilation: int = 1) -> Reads:
    """A window of ``kernel`` entries every ``stride`` pixels, with ``before`` pixels of padding in front.

    >>> reads = window_reads(5, 3, kernel=3, stride=2, before=1)
    >>> reads.first.tolist(), reads.last.tolist()
    ([0, 1, 3], [1, 3, 4])
    """
    start = np.arange(outputs) * stride - before
    end = start + (kernel - 1) * dilation
    skipped = np.maximum(0, -(start // dilation))  # entries that lie before the picture
    first = start + skipped * dilation
    last = np.minimum(end, start + (inputs - 1 - start) // dilation * dilation)
    return Reads(first, last, float(stride), -float(before), float((kernel - 1) * dilation - before))


def transposed_reads(inputs: int, outputs: int, kernel: int, stride: int, before: int, dilation: int = 1) -> Reads:
    """A transposed convolution: input j writes to the outputs ``j * stride - before + k * dilation``.

    >>> reads = transposed_reads(2, 4, kernel=2, stride=2, before=0)
    >>> reads.first.tolist(), reads.last.tolist()
    ([0, 0, 1, 1], [0, 0, 1, 1])
    """
    reached = [set[int]() for _ in range(outputs)]
    for j in range(inputs):
        for k in range(kernel):
            place = j * stride - before + k * dilation
            if 0 <= place < outputs:
                reached[place].add(j)
    first = np.array([min(each, default=1) for each in reached])
    last = np.array([max(each, default=0) for each in reached])
    return Reads(first, last, 1 / stride, (before - dilation * (kernel - 1)) / stride, before / stride)


def resampled_reads(table: Array, step: float, start: float) -> Reads:
    """Interpolation: output i reads the entries ``table[:, i]``; their places follow each other by ``step``.

    >>> reads = resampled_reads(np.array([[0, 0, 1, 1]]), step=0.5, start=0.0)
    >>> reads.last.tolist()
    [0, 0, 1, 1]
    """
    first, last = table.min(axis=0), table.max(axis=0)
    places = step * np.arange(table.shape[1]) + start
    return Reads(first, last, step, float((first - places).min() + start), float((last - places).max() + start))


def shifted_reads(inputs: int, outputs: int, before: int) -> Reads:
    """Output i reads input ``i - before`` if there is one: a border of constants, or a crop if ``before`` is below 0.

    >>> reads = shifted_reads(2, 4, before=1)
    >>> [(int(a), int(b)) for a, b in zip(reads.first, reads.last)]
    [(1, 0), (0, 0), (1, 1), (1, 0)]
    """
    place = np.arange(outputs) - before
    inside = (place >= 0) & (place < inputs)
    return Reads(np.where(inside, place, 1), np.where(inside, place, 0), 1.0, -float(before), -float(before))


def adaptive_reads(inputs: int, outputs: int) -> Reads:
    """Adaptive pooling: output i takes the inputs from ``floor(i * n / m)`` to before ``ceil((i + 1) * n / m)``.

    >>> reads = adaptive_reads(5, 2)
    >>> reads.first.tolist(), reads.last.tolist()
    ([0, 2], [2, 4])
    """
    places = np.arange(outputs)
    first, last = places * inputs // outputs, -(-(places + 1) * inputs // outputs) - 1
    centres = places * (inputs / outputs)
    return Reads(first, last, inputs / outputs, float((first - centres).min()), float((last - centres).max()))


def pixelwise_reads(sizes: Iterable[tuple[int, int]]) -> list[Reads] | None:
    """Each pixel reads the same pixel, or the only one of an axis; None if the sizes are not such.

    Parameters
    ----------
    sizes : of the input and of the output, for each axis

    Examples
    --------
    >>> rows, columns = pixelwise_reads([(2, 2), (1, 2)])
    >>> rows.last.tolist(), columns.last.tolist()
    ([0, 1], [0, 0])
    """
    found = []
    for i, o in sizes:
        if i not in (o, 1):
            return None
        places = np.arange(o) if i == o else np.zeros(o, np.int64)
        found.append(Reads(places, places, float(i == o), 0.0, 0.0))
    return found


def folded_reads(outputs: int, factor: int, grows: bool) -> Reads:
    """PixelShuffle (the picture grows by ``factor``), and its inverse.

    >>> folded_reads(4, 2, grows=True).first.tolist(), folded_reads(2, 2, grows=False).last.tolist()
    ([0, 0, 1, 1], [1, 3])
    """
    places = np.arange(outputs)
    if grows:
        return Reads(places // factor, places // factor, 1 / factor, (1 - factor) / factor, 0.0)
    return Reads(places * factor, places * factor + factor - 1, float(factor), 0.0, factor - 1.0)
