"""The ladder of a race: who took part, by name, and the shortest time of each in milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

YOUR_LAYERS = "your layers"
YOUR_ENGINE = "your engine"
OF_THE_REFERENCE = {YOUR_LAYERS: "the reference's layers", YOUR_ENGINE: "the reference's engine"}
"""The same made of the solutions: what your time is a part of, where all is yours."""


def own_time(ladder: Mapping[str, Any]) -> Any:
    """The time of what is the student's in a ladder, the engine or the layers; None if neither has run.

    >>> own_time({"your layers": 4.0, "kuiper": 0.3}), own_time({"kuiper": 0.3})
    (4.0, None)
    """
    return ladder.get(YOUR_ENGINE, ladder.get(YOUR_LAYERS))
