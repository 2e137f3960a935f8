"""How the tokens of a text are drawn: those that cannot come are left out, and how likely each was is noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from kuiper.models.text.sampling import Sampler

    Scores = npt.NDArray[np.floating]


class Chance(NamedTuple):
    """How likely a token was by the model's scores alone, before any filter."""

    token: int
    logprob: float
    """The natural logarithm of its probability."""
    best: list[tuple[int, float]]
    """The likeliest tokens, and the same of each; the likeliest first."""


class Constraint(Protocol):
    """What a text must hold to; it goes with one text."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing can come behind what was taken."""

    def forbid(self, scores: Scores, /) -> None:
        """Put -inf in the place of the scores (vocabulary,) of all tokens that cannot come.

        Raises
        ------
        ConstraintError
            If none can.
        """

    def take(self, token: int, /) -> None:
        """The token that was drawn."""


class Drawing:
    """Draws the tokens of one text, each once, in their order: guesses that were wrong are never seen here.

    Parameters
    ----------
    sampler : draws from the scores that are left
    never : tokens that cannot come
    constraint : tells which others cannot
    best : how many of the likeliest tokens are noted for each that is drawn; None notes nothing

    Examples
    --------
    >>> from kuiper.models.text.sampling import Sampler
    >>> drawing = Drawing(Sampler(temperature=0), never=[1], best=1)
    >>> drawing(np.log([0.3, 0.5, 0.2])), drawing.chances[0].best[0][0]
    (0, 1)
    """

    def __init__(
        self, sampler: Sampler, never: Sequence[int], *, constraint: Constraint | None = None, best: int | None = None
    ) -> None:
        self._sampler, self._never, self._constraint, self._best = sampler, list(never), constraint, best
        self.chances: list[Chance] = []
        """Of the tokens that were drawn, if they are noted."""

    @property
    def is_complete(self) -> bool:
        """Whether the constraint lets nothing come any more."""
        return self._constraint is not None and self._constraint.is_complete

    def __call__(self, scores: npt.ArrayLike, text: Sequence[int] = ()) -> int:
        """The next token."""
        left = np.array(scores) if self._never or self._constraint is not None else np.asarray(scores)
        if self._never:
            left[self._never] = -np.inf
        if self._constraint is not None:
            self._constraint.forbid(left)
        token = self._sampler(left, text)
        if self._constraint is not None:
            self._constraint.take(token)
        if self._best is not None:
            self.chances.append(chance(scores, token, self._best))
        return token


def chance(scores: npt.ArrayLike, token: int, best: int) -> Chance:
    """How likely a token was, and the ``best`` likeliest ones.

    >>> found = chance(np.log([0.25, 0.5, 0.25]), token=2, best=2)
    >>> round(float(np.exp(found.logprob)), 6), [token for token, _ in found.best]
    (0.25, [1, 0])
    """
    found = np.array(scores, np.float64)
    found -= found.max()
    found -= np.log(np.exp(found).sum())
    best = min(best, len(found))
    first = np.argpartition(-found, best - 1)[:best] if 0 < best < len(found) else np.arange(len(found))[: best or 0]
    first = first[np.lexsort((first, -found[first]))]
    return Chance(token, float(found[token]), [(int(one), float(found[one])) for one in first])
