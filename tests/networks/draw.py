"""What a family of operators draws from: chance, and the values that there are so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

T = TypeVar("T")

FLOATS, WHOLE, BOOLS = (torch.float32,), (torch.int64,), (torch.bool,)


class NoOperandError(Exception):
    """There is no value of the kind that a family needs."""


@dataclass(frozen=True)
class Value:
    """A value for the traced inputs, and for those of other sizes if there are any."""

    number: int
    traced: torch.Tensor
    other: torch.Tensor | None

    @property
    def shape(self) -> tuple[int, ...]:
        """For the traced inputs."""
        return tuple(self.traced.shape)

    @property
    def rank(self) -> int:
        """How many axes."""
        return self.traced.dim()

    def fixed(self, dim: int) -> bool:
        """Whether an axis has the same size for both."""
        return self.other is None or self.other.shape[dim] == self.traced.shape[dim]

    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """One or two shapes."""
        return (self.shape,) if self.other is None else (self.shape, tuple(self.other.shape))

    def __str__(self) -> str:
        return f"v{self.number}"


@dataclass
class Draw:
    """Chance from a seed, and the values. ``used`` are the numbers of those that somebody reads."""

    random: Random
    values: list[Value]
    used: set[int] = field(default_factory=set)

    def one(self, choices: Sequence[T]) -> T:
        """One of several."""
        return self.random.choice(choices)

    def int(self, low: int, high: int) -> int:
        """An integer from low to high."""
        return self.random.randint(low, max(low, high))

    def chance(self, share: float) -> bool:
        """True so often."""
        return self.random.random() < share

    def number(self, low: float, high: float) -> float:
        """A float with two decimals."""
        return round(self.random.uniform(low, high), 2)

    def value(
        self,
        rank: int | tuple[int, ...] | None = None,
        types: tuple[torch.dtype, ...] = FLOATS,
        where: Callable[[Value], bool] = lambda value: True,
    ) -> Value:
        """A value of a rank and type; those that nobody reads yet, and the latest ones, more often.

        Raises
        ------
        NoOperandError
            If there is none.
        """
        ranks = (rank,) if isinstance(rank, int) else rank
        found = [
            value
            for value in self.values
            if value.traced.dtype in types and (ranks is None or value.rank in ranks) and where(value)
        ]
        if not found:
            raise NoOperandError
        weights = [(1 + 4 * (value.number not in self.used)) * (1 + 0.2 * i) for i, value in enumerate(found)]
        return self.random.choices(found, weights)[0]

    def beside(self, first: Value, types: tuple[torch.dtype, ...] = FLOATS) -> Value:
        """A value that broadcasts with another one, to no more than the larger of the two; it may be the same."""

        def fits(value: Value) -> bool:
            try:
                shapes = [torch.broadcast_shapes(a, b) for a, b in zip(first.shapes(), value.shapes(), strict=True)]
            except (RuntimeError, ValueError):
                return False
            return all(shape in (a, b) for shape, a, b in zip(shapes, first.shapes(), value.shapes(), strict=True))

        return self.value(None, types, fits)

    def axis(self, value: Value, first: int = 0, only_fixed: bool = False) -> int:
        """An axis, at times counted from the end.

        Raises
        ------
        NoOperandError
            If there is none.
        """
        axes = [dim for dim in range(first, value.rank) if not only_fixed or value.fixed(dim)]
        if not axes:
            raise NoOperandError
        dim = self.one(axes)
        return dim - value.rank if self.chance(0.4) else dim
