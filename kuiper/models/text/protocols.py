"""What generation asks of a language model, of a session of it, and of its vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from kuiper.models.text.chat import ChatTemplate


class Session(Protocol):
    """A text that grows: what the model has read stays in its memory."""

    def __call__(self, tokens: npt.NDArray[np.int64]) -> npt.ArrayLike:
        """Read more tokens (n,), and give the scores (..., vocabulary), of which the last row is for the next token."""

    def read(self, tokens: npt.NDArray[np.int64]) -> None:
        """Read more tokens (n,) without an answer."""

    def rewind(self, length: int) -> None:
        """Forget all but the first ``length`` tokens."""


class PieceDecoder(Protocol):
    """From tokens to text as they come."""

    def piece(self, token: int) -> str:
        """The text that has become certain with one more token; it may be empty."""

    def rest(self) -> str:
        """What is left when no more tokens come."""


class Spelling(NamedTuple):
    """What a token adds to a text."""

    written: bytes
    """Its bytes, which may be a part of a character; of a token that is no text, its name."""
    is_text: bool
    """False for a token that is never shown, such as one that ends a text."""


class Vocabulary(Protocol):
    """Between text and tokens."""

    @property
    def spellings(self) -> Sequence[Spelling]:
        """What each token adds to a text, by its number."""

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a text."""

    @property
    def prefix(self) -> Sequence[Sequence[int]]:
        """One of each of these lists of tokens begins every text; where it does not, it is drawn."""

    def encode(self, text: str, *, is_complete: bool = False) -> list[int]:
        """The tokens of a prompt; of one that ``is_complete``, with no others around them."""

    def decoder(self) -> PieceDecoder:
        """A decoder of a new text."""


class LanguageModel(Protocol):
    """A model with its vocabulary. ``context`` is the number of tokens that it can read at most."""

    @property
    def context(self) -> int: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def chat(self) -> ChatTemplate | None:
        """How messages become a prompt; None if the model was not trained for conversation."""

    def start(self, max_length: int) -> Session:
        """A session of at most ``max_length`` tokens that has read nothing yet."""
