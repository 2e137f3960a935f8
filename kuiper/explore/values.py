"""What flows through a network: each value's statistics, its histogram, and pictures of its first channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.explore.arrays import floats, levels, number
from kuiper.printable import printable

if TYPE_CHECKING:
    from kuiper.explore.arrays import Table
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

CHANNELS, SIDE = 16, 64
"""How many channels of a value are kept as pictures at most, and how many pixels a side of theirs has."""

_BINS = 32
_TEXT = 200  # characters of a value that is no array
_END = 1e-3  # how near to an end, of the distance between both, a number counts as saturated

# The two ends of what some functions give; near them their slope is nearly 0, or is 0.
_ENDS = {
    "sigmoid": (0.0, 1.0),
    "hardsigmoid": (0.0, 1.0),
    "softmax": (0.0, 1.0),
    "relu6": (0.0, 6.0),
    "tanh": (-1.0, 1.0),
    "hardtanh": (-1.0, 1.0),
}


@dataclass
class ValueRecord:
    """All that is kept of one value; ``maps`` are bytes (channels, rows, columns), ``whole`` the numbers themselves."""

    table: Table
    maps: Array | None = None
    step: tuple[int, int] = (1, 1)
    whole: Array | None = None


def describe(value: Any, producer: RuntimeOperator | None, keep: int) -> ValueRecord:
    """The record of a value.

    Parameters
    ----------
    value : an array; anything else is described by its type and what it prints
    producer : the operator that made it
    keep : the whole array is kept if it has no more bytes than this

    Returns
    -------
    Shape, statistics and histogram of all finite numbers, and bytes of the first channels.

    Examples
    --------
    >>> record = describe(np.float32([[[[0, 1], [2, np.nan]]]]), None, keep=1 << 20)
    >>> record.table["mean"], record.table["nan"], record.maps.tolist()
    (1.0, 0.25, [[[0, 128], [255, 0]]])
    """
    if not isinstance(value, np.ndarray):
        text = printable(repr(value))
        text = text if len(text) <= _TEXT else f"{text[:_TEXT]}..."
        return ValueRecord({"shape": None, "type": type(value).__name__, "text": text})
    table: Table = {"shape": list(value.shape), "type": str(value.dtype)}
    numbers = value if value.dtype.kind == "f" else value.astype(np.float32)
    table |= _statistics(numbers, _ends(producer))
    record = ValueRecord(table)
    if value.size:
        record.step = _steps(_planes(numbers))
        record.maps = levels(pictured(numbers), table["low"] or 0.0, table["high"] or 0.0)
        if 4 * value.size <= keep:
            record.whole = np.array(numbers, np.float32)
    return record


def as_table(record: ValueRecord, with_whole: bool, maps: Table | None) -> Table:
    """The record as the page has it."""
    table = dict(record.table)
    if maps is not None:
        table["maps"] = maps
    if with_whole and record.whole is not None:
        table["exact"] = floats(record.whole)
    return table


def _statistics(x: Array, ends: tuple[float, float] | None) -> Table:
    """Of all numbers that are finite; shares are of all numbers."""
    table: Table = dict.fromkeys(("low", "high", "mean", "std", "saturated", "histogram"))
    table |= {"nan": 0.0, "infinite": 0.0, "zeros": 0.0}
    if x.size == 0:
        return table
    low, high = float(x.min()), float(x.max())  # NaN if there is one
    finite = x.reshape(-1)
    if not np.isfinite(low) or not np.isfinite(high):
        missing, endless = int(np.isnan(x).sum()), int(np.isinf(x).sum())
        table |= {"nan": _share(missing, x), "infinite": _share(endless, x)}
        finite = x[np.isfinite(x)]
        if finite.size == 0:
            return table
        low, high = float(finite.min()), float(finite.max())
    mean = finite.mean(dtype=np.float64)
    with np.errstate(over="ignore"):
        std = float(np.sqrt(np.square(finite - finite.dtype.type(mean)).mean(dtype=np.float64)))
    table |= {"low": number(low), "high": number(high), "mean": number(mean), "std": number(std)}
    table["zeros"] = _share(x.size - int(np.count_nonzero(x)), x)
    if ends:
        near = _END * (ends[1] - ends[0])
        table["saturated"] = _share(int(np.count_nonzero((x <= ends[0] + near) | (x >= ends[1] - near))), x)
    table["histogram"] = {"low": number(low), "high": number(high), "counts": histogram(finite, low, high)}
    return table


def histogram(finite: Array, low: float, high: float) -> list[int]:
    """How many numbers fall into each of 32 equal parts of the way from ``low`` to ``high``; the last has ``high``.

    >>> counts = histogram(np.float32([0, 0, 1, 32]), 0.0, 32.0)
    >>> counts[:3], counts[-1], sum(counts)
    ([2, 1, 0], 1, 4)
    """
    if not high > low:
        return [int(finite.size), *[0] * (_BINS - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        places = (finite - finite.dtype.type(low)) * finite.dtype.type(_BINS / (high - low))
    places = np.clip(np.nan_to_num(places, posinf=_BINS - 1), 0, _BINS - 1)
    counts = np.bincount(places.astype(np.uint8), minlength=_BINS)
    return [int(count) for count in counts]


def pictured(x: Array) -> Array:
    """The part of an array that becomes pictures: (channels, rows, columns), few of each.

    >>> pictured(np.zeros((1, 64, 112, 112))).shape
    (16, 56, 56)
    """
    planes = _planes(x)
    rows, columns = _steps(planes)
    return planes[:CHANNELS, ::rows, ::columns]


def _steps(planes: Array) -> tuple[int, int]:
    """Every which row and column is kept."""
    return -(-planes.shape[1] // SIDE), -(-planes.shape[2] // SIDE)


def _planes(x: Array) -> Array:
    """The array as (channels, rows, columns): of the first picture of a batch, and of leading axes the first entry."""
    if x.ndim >= 4:
        picture: Array = x.reshape(-1, *x.shape[-3:])[0]
        return picture
    if x.ndim == 3:
        return x[:1]
    if x.ndim == 2:
        return x[None]
    return x.reshape(1, 1, -1)


def _ends(producer: RuntimeOperator | None) -> tuple[float, float] | None:
    """The two ends of what this operator can give, if it has two; of a fused one, those of its activation."""
    if producer is None:
        return None
    word = producer.type.rpartition(".")[2].lower()
    activation = producer.params.get("activation")
    if activation is not None:
        word = str(activation.value)
        if word == "clip":
            return producer.float_param("activation_alpha"), producer.float_param("activation_beta")
    if word == "hardtanh" and producer.has_param("min_val") and producer.has_param("max_val"):
        return producer.float_param("min_val"), producer.float_param("max_val")
    return _ENDS.get(word)


def _share(count: int, x: Array) -> float:
    return float(f"{count / x.size:.6g}")
