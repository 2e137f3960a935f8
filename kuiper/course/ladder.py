"""The ladder of a race: who took part, by name, and the shortest time of each in milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.language import noop

if TYPE_CHECKING:
    from collections.abc import Mapping

YOUR_LAYERS = noop("your layers")
YOUR_ENGINE = noop("your engine")
EVERY_INDEX = noop("your layers, every index checked")
OF_THE_REFERENCE = {YOUR_LAYERS: noop("the reference's layers"), YOUR_ENGINE: noop("the reference's engine")}
"""The same made of the solutions: what your time is a part of, where all is yours."""
BY_OPERATOR = noop("kuiper, operator by operator")
BY_LAYER = noop("kuiper, layer by layer")
KUIPERS_ENGINE = noop("kuiper's engine")


def own_time(ladder: Mapping[str, Any]) -> Any:
    """The time of what is the student's in a ladder, the engine or the layers; None if neither has run.

    >>> own_time({"your layers": 4.0, "kuiper": 0.3}), own_time({"kuiper": 0.3})
    (4.0, None)
    """
    return ladder.get(YOUR_ENGINE, ladder.get(YOUR_LAYERS))
