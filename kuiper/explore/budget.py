"""What fits into the page: pictures of all values, as large as there is room; exact numbers, the smallest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.explore.arrays import as_levels, encoded_bytes
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kuiper.explore.arrays import Table
    from kuiper.explore.values import ValueRecord
    from kuiper.layers.layer import Array

EXACT_BYTES = 6_000_000
"""Characters of exact values and weights in a page."""

MAP_BYTES = 2_500_000
"""Characters of pictures of values in a page."""

# Ways to make pictures smaller, the best first: how many channels are kept, and every which pixel.
_CUTS = ((16, 1), (12, 1), (8, 1), (16, 2), (8, 2), (4, 2), (4, 4), (2, 4), (1, 8))


class Candidate(NamedTuple):
    """An array of this many numbers that may be put into the page; ``kind`` is what a reader calls it."""

    kind: str
    numbers: int
    put: Callable[[], None]


def keep_smallest(candidates: Iterable[Candidate], room: int = EXACT_BYTES) -> list[str]:
    """Put in the smallest arrays as long as there is room; a sentence for each kind of which some had to stay out.

    >>> kept = []
    >>> counts = [("x", 300), ("y", 3)]
    >>> candidates = [Candidate("weights", count, lambda name=name: kept.append(name)) for name, count in counts]
    >>> keep_smallest(candidates, room=100), kept
    (['weights of 1 operator (0.0 MB): the page has no room for them'], ['y'])
    """
    left: dict[str, list[int]] = {}
    for candidate in sorted(candidates, key=lambda each: each.numbers):
        size = encoded_bytes(candidate.numbers, 4)
        if size <= room:
            room -= size
            candidate.put()
        else:
            room = 0
            left.setdefault(candidate.kind, []).append(4 * candidate.numbers)
    return [_sentence(kind, sizes) for kind, sizes in sorted(left.items())]


def cut_maps(records: dict[str, ValueRecord], room: int = MAP_BYTES) -> dict[str, Table]:
    """The pictures of all values, in the largest size and number of channels at which all fit."""
    for channels, step in _CUTS:
        cut = {
            name: record.maps[:channels, ::step, ::step] for name, record in records.items() if record.maps is not None
        }
        if sum(encoded_bytes(array.size, 1) for array in cut.values()) <= room:
            break
    return {name: _maps(records[name], array, step) for name, array in cut.items()}


def _maps(record: ValueRecord, array: Array, step: int) -> Table:
    low, high = record.table["low"] or 0.0, record.table["high"] or 0.0
    steps = [own * step for own in record.step]
    return {"array": as_levels(array, low, high), "step": steps}


def _sentence(kind: str, sizes: list[int]) -> str:
    one, several = {
        "weights": (
            _("weights of {n} operator ({size:.1f} MB): the page has no room for them"),
            _("weights of {n} operators ({size:.1f} MB): the page has no room for them"),
        ),
        "exact values": (
            _("exact values of {n} tensor ({size:.1f} MB): the page has no room for them"),
            _("exact values of {n} tensors ({size:.1f} MB): the page has no room for them"),
        ),
    }[kind]
    return (several if len(sizes) > 1 else one).format(n=len(sizes), size=sum(sizes) * 1e-6)
