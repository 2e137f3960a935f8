"""Which networks are converted together, and by which route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.export import TURNS
from tests.networks.generate import has_open_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOGETHER = 4
"""So many networks are converted as one graph: most of pnnx's time goes by before it reads one."""


def batches(seeds: Sequence[int], route: str | None) -> Iterator[tuple[str, list[int]]]:
    """Seeds of one route that go side by side: ``TOGETHER`` of either open or fixed sizes; those through ONNX alone."""
    waiting: dict[tuple[str, bool], list[int]] = {}
    for seed in seeds:
        taken = route or TURNS[seed % len(TURNS)]
        group = waiting.setdefault((taken, has_open_sizes(seed, taken == "onnx")), [])
        group.append(seed)
        if len(group) == TOGETHER or taken == "onnx":
            yield taken, group.copy()
            group.clear()
    yield from ((taken, group) for (taken, _), group in waiting.items() if group)
