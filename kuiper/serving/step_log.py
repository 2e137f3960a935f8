"""What the last steps of an engine did: rows of prompts, tokens that were drawn, guesses, and who waited."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.batch import Piece

KEPT = 256
"""Steps."""


class Step(NamedTuple):
    """One step. Its rows are ``prompt + drawn + guessed``."""

    number: int
    """The first one is 1."""
    seconds: float
    """How long it took."""
    prompt: int
    """Tokens of prompts that were read, but those behind which a token was drawn."""
    drawn: int
    """Texts for which a token was drawn."""
    guessed: int
    """Tokens that were read as guesses."""
    right: int
    """How many of the guesses were right."""
    running: int
    """Texts that have pages after it."""
    waiting: int
    """Texts that have none."""
    pages: int
    """Pages that belong to texts after it."""


class StepLog:
    """The last steps and sums of all. One thread writes; others may read.

    >>> from kuiper.graph.batch import Piece, Text
    >>> log = StepLog()
    >>> log.add([Piece(Text(), [1, 2, 3], wanted=1)], right=0, seconds=0.1, running=1, waiting=0, pages=1)
    >>> log.since(0)[0].prompt, log.tokens
    (2, 1)
    """

    def __init__(self) -> None:
        self.steps = 0
        self.prompt = 0
        """Tokens of prompts that were read."""
        self.tokens = 0
        """Tokens that were drawn."""
        self._last: deque[Step] = deque(maxlen=KEPT)

    def add(
        self, pieces: Sequence[Piece], *, right: int, seconds: float, running: int, waiting: int, pages: int
    ) -> None:
        """A step, in which the model read these pieces."""
        drawn = sum(piece.wanted > 0 for piece in pieces)
        guessed = sum(piece.wanted for piece in pieces) - drawn
        prompt = sum(len(piece.tokens) for piece in pieces) - drawn - guessed
        self.steps += 1
        self.prompt += prompt
        self.tokens += drawn + right
        self._last.append(Step(self.steps, seconds, prompt, drawn, guessed, right, running, waiting, pages))

    def since(self, number: int) -> list[Step]:
        """The steps behind this one, as far as they are kept."""
        return [step for step in self._last.copy() if step.number > number]
