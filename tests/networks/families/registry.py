"""Where families register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.networks.draw import Draw, Value


class Call(NamedTuple):
    """A call on values, as ``network.Step`` has it; the constructor of its module, and how many values it gives."""

    call: str
    values: tuple[Value, ...]
    module: str = ""
    results: int = 1


@dataclass(frozen=True)
class Family:
    """A family, and how often it is drawn."""

    draw: Callable[[Draw], Call]
    weight: float


FAMILIES: dict[str, Family] = {}


def family(weight: float = 1.0) -> Callable[[Callable[[Draw], Call]], Callable[[Draw], Call]]:
    """Register a function that draws a call; it raises ``NoOperandError`` where nothing fits."""

    def register(function: Callable[[Draw], Call]) -> Callable[[Draw], Call]:
        FAMILIES[function.__name__] = Family(function, weight)
        return function

    return register
