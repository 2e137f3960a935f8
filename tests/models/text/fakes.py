"""Language models that need no network: what comes next is written in advance, or follows from the last token."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kuiper.models.text.characters import Characters

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from kuiper.models.text.chat import ChatTemplate


@dataclass
class FakeSession:
    """Wants the token that a rule gives for all tokens that it has read; refuses more than its length."""

    model: FakeModel
    max_length: int
    tokens: list[int] = field(default_factory=list)

    def __call__(self, tokens: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        self.read(tokens)
        scores = np.zeros((1, len(tokens), len(self.model.vocabulary.names)), np.float32)
        scores[0, -1, self.model.rule(self.tokens)] = 50.0
        return scores

    def read(self, tokens: npt.NDArray[np.int64]) -> None:
        assert tokens.dtype == np.int64
        assert tokens.ndim == 1
        assert tokens.size
        self.tokens += tokens.tolist()
        assert len(self.tokens) <= self.max_length
        self.model.reads.append(tokens.tolist())

    def rewind(self, length: int) -> None:
        assert 0 <= length <= len(self.tokens)
        del self.tokens[length:]


@dataclass
class FakeModel:
    """A model over a vocabulary of characters; ``reads`` are the tokens of each call, ``lengths`` of each session."""

    vocabulary: Characters
    rule: Callable[[list[int]], int]
    context: int = 64
    chat: ChatTemplate | None = None
    reads: list[list[int]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def start(self, max_length: int) -> FakeSession:
        self.lengths.append(max_length)
        return FakeSession(self, max_length)


def reciting(text: str, context: int = 64) -> FakeModel:
    """A model that says ``text`` behind a prompt of one character, then ends."""
    names = ("<end>", *sorted(set(text)))
    said = [*Characters(names).encode(text), 0]
    return FakeModel(Characters(names, frozenset({0})), lambda read: said[len(read) - 1], context)


def counting(context: int) -> FakeModel:
    """A model without an end, in which a digit follows upon the last one: 7, 8, 9, 0, 1 ..."""
    return FakeModel(Characters(tuple("0123456789")), lambda read: (read[-1] + 1) % 10, context)
