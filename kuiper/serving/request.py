"""A request: a prompt, what draws the tokens behind it, and what ends it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from kuiper.graph.batch import Text

    End = Literal["", "token", "complete", "length", "context", "cancelled", "deadline", "failed"]


class Draws(Protocol):
    """What draws a token from the scores (vocabulary,) of the next one, and the tokens so far."""

    def __call__(self, scores: npt.NDArray[np.float32], text: Sequence[int], /) -> int: ...


@dataclass(eq=False)
class Request:
    """What one reader asks for, and how far it has come.

    Parameters
    ----------
    prompt : tokens, at least one
    sampler : draws the tokens, such as ``kuiper.models.text.sampling.Sampler``
    max_tokens : how many at most
    ends : tokens that end the answer
    priority : those with a lower number go first
    deadline : the time, by the clock of the engine, at which it is given up

    Raises
    ------
    ParameterError
        If the prompt is empty, or ``max_tokens`` is below 1, or the deadline is no number.

    Examples
    --------
    >>> from kuiper.models.text.sampling import Sampler
    >>> request = Request([5, 3], Sampler(seed=1), max_tokens=4)
    >>> request.tokens, request.end
    ([], '')
    """

    prompt: Sequence[int]
    sampler: Draws
    max_tokens: int
    ends: frozenset[int] = frozenset()
    priority: int = 0
    deadline: float = math.inf
    tokens: list[int] = field(default_factory=list, init=False)
    """Those drawn so far; one that ends the answer is among them."""
    end: End = field(default="", init=False)
    """Why it has ended: a token of ``ends``, ``is_complete``, ``max_tokens``, the model's context, ``cancel``, the
    deadline, or an error of its sampler or of the model; "" while it goes on."""
    is_complete: bool = field(default=False, init=False)
    """What draws the tokens may say so: the one that it has just drawn is the last."""
    error: Exception | None = field(default=None, init=False)
    """What its sampler, or the model, has raised, if ``end`` is "failed"."""
    text: Text | None = field(default=None, init=False, repr=False)
    """What the model has read of it; None while it waits."""
    put_back: int = field(default=0, init=False)
    """How often its pages were taken away, so that it had to be read again."""
    found: int = field(default=0, init=False)
    """How many of its tokens did not have to be read, as pages had them; of one that was put back, some count twice."""
    _all: list[int] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.prompt = [int(token) for token in self.prompt]
        self._all = list(self.prompt)
        if not self.prompt:
            raise ParameterError("prompt", "at least one token", "none")
        if self.max_tokens < 1:
            raise ParameterError("max_tokens", "a number of at least 1", self.max_tokens)
        if math.isnan(self.deadline):
            raise ParameterError("deadline", "a time", self.deadline)

    @property
    def all_tokens(self) -> list[int]:
        """The prompt and what was drawn behind it, in one list that grows; it is not the caller's."""
        self._all += self.tokens[len(self._all) - len(self.prompt) :]
        return self._all

    @property
    def unread(self) -> int:
        """How many tokens the model has to read before the next one can be drawn."""
        return len(self.prompt) + len(self.tokens) - (self.text.length if self.text else 0)
