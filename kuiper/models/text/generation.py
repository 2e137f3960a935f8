"""The loop that makes text: read the prompt, draw a token, read it, and again, until something ends it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from kuiper.models.text.protocols import LanguageModel, PieceDecoder, Session
    from kuiper.models.text.sampling import Sampler


@dataclass
class Account:
    """What a generation has done so far, and why it ended.

    ``end`` is "token" (the model ended its text), "stop" (a stop string), "length" (as many tokens as asked for), or
    "" while it runs and when it was interrupted. The time of the prompt is that of reading it, with its prefix; the
    first token comes from there, so the pace is that of the others.
    """

    prompt_tokens: int = 0
    tokens: int = 0
    prompt_seconds: float = 0.0
    seconds: float = 0.0
    end: str = ""

    @property
    def tokens_per_second(self) -> float:
        """The pace of the tokens behind the first; 0 before there are any.

        >>> Account(tokens=11, seconds=0.5).tokens_per_second
        20.0
        """
        return (self.tokens - 1) / self.seconds if self.tokens > 1 and self.seconds else 0.0


class Generation:
    """The text behind a prompt, piece by piece: iterate over it once.

    What the model's vocabulary wants at the beginning of every text, and the prompt leaves out, is drawn first. When
    the context is full, the model starts anew with the second half of what it has read, behind the same beginning.

    Parameters
    ----------
    model
        The language model.
    prompt
        Tokens, as ``model.vocabulary.encode`` makes them.
    sampler
        Draws the tokens.
    max_tokens
        How many at most.
    stop
        Strings of which the first to appear ends the text, and is not part of it.

    Raises
    ------
    ParameterError
        If the prompt is empty and the model needs one, or does not fit the context; if ``max_tokens`` is below 1, or a
        stop string is empty.
    """

    def __init__(
        self,
        model: LanguageModel,
        prompt: Sequence[int],
        sampler: Sampler,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
    ) -> None:
        if max_tokens < 1:
            raise ParameterError("max_tokens", "a number of at least 1", max_tokens)
        if "" in stop:
            raise ParameterError("stop", "text that ends the generation", "an empty string")
        prefix = model.vocabulary.prefix
        if not prompt and not prefix:
            raise ParameterError("prompt", "at least one token to begin with", "none")
        if len(prompt) + len(prefix) >= model.context:
            raise ParameterError("prompt", f"fewer than {model.context} tokens, as the model's context is", len(prompt))
        self.account = Account()
        self.max_tokens = max_tokens
        self._model, self._prompt, self._sampler = model, list(prompt), sampler
        self._stop = StopStrings(stop)
        self._text: list[int] = []  # what the model has read, or is about to read
        self._length = min(model.context, len(prompt) + len(prefix) + max_tokens)
        self._session = model.start(self._length)

    def __iter__(self) -> Iterator[str]:
        decoder, account = self._model.vocabulary.decoder(), self.account
        started = perf_counter()
        scores = self._begin()
        account.prompt_seconds = perf_counter() - started
        while True:
            started = perf_counter()
            token = self._sampler(scores, self._text)
            piece = self._shown(token, decoder)
            account.seconds += perf_counter() - started
            if piece:
                yield piece
            if account.end:
                return
            started = perf_counter()
            scores = self._read([token])
            account.seconds += perf_counter() - started

    def _shown(self, token: int, decoder: PieceDecoder) -> str:
        """What one more token adds to the text that is shown; the account says whether it was the last."""
        account, is_end = self.account, token in self._model.vocabulary.ends
        account.tokens += 1
        if is_end:
            account.end = "token"
        elif account.tokens == self.max_tokens:
            account.end = "length"
        text = "" if is_end else decoder.piece(token)
        if account.end:
            text += decoder.rest()
        piece = self._stop.passed(text, is_last=bool(account.end))
        if self._stop.found:
            account.end = "stop"
        return piece

    def _begin(self) -> npt.NDArray[np.float64]:
        """Read the prompt behind its prefix, and return the scores of the first token."""
        scores: npt.NDArray[np.float64] | None = None
        for choices in self._model.vocabulary.prefix:
            if self._prompt and self._prompt[0] in choices:
                token = self._prompt.pop(0)
            else:
                token = self._drawn_from(choices, scores)
            scores = self._read([token])
        self.account.prompt_tokens = len(self._prompt)
        if self._prompt:
            scores = self._read(self._prompt)
        assert scores is not None  # the constructor has seen to it that there is a token
        return scores

    def _drawn_from(self, choices: Sequence[int], scores: npt.NDArray[np.float64] | None) -> int:
        """One of a few tokens; where nothing was read yet, each is as likely."""
        few = np.zeros(len(choices)) if scores is None else scores[list(choices)]
        return choices[self._sampler(few)]

    def _read(self, tokens: list[int]) -> npt.NDArray[np.float64]:
        """Let the model read tokens, and return the scores (vocabulary,) of the next one."""
        self._text += tokens
        if len(self._text) > self._length:
            first = len(self._model.vocabulary.prefix)
            kept = max(1, (self._length - first) // 2)
            self._text[first : len(self._text) - kept] = []
            self._session, tokens = self._model.start(self._length), self._text
        return last_scores(self._session, tokens)


def last_scores(session: Session, tokens: Sequence[int]) -> npt.NDArray[np.float64]:
    """The scores (vocabulary,) of the token behind ``tokens``, which the session reads."""
    scores = np.asarray(session(np.array(tokens, np.int64)), np.float64)
    last: npt.NDArray[np.float64] = scores.reshape(-1, scores.shape[-1])[-1]
    return last


class StopStrings:
    """Lets text pass until one of a few strings is in it, also if the string comes in several pieces."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = tuple(strings)
        self._held = ""  # may be the beginning of a stop string
        self.found = ""

    def passed(self, text: str, *, is_last: bool = False) -> str:
        """What is safe to print once ``text`` has come; ``is_last`` says that nothing comes behind it.

        >>> stop = StopStrings(["END"])
        >>> stop.passed("the E"), stop.passed("N"), stop.passed("emy EN"), stop.passed("D now"), stop.found
        ('the ', '', 'ENemy ', '', 'END')
        """
        text = self._held + text
        places = [(place, string) for string in self._strings if (place := text.find(string)) >= 0]
        if places:
            place, self.found = min(places)
            self._held = ""
            return text[:place]
        length = 0 if is_last else max((_overlap(text, string) for string in self._strings), default=0)
        self._held = text[len(text) - length :]
        return text[: len(text) - length]


def _overlap(text: str, string: str) -> int:
    """How many characters at the end of a text are the beginning of a string."""
    longest = min(len(text), len(string) - 1)
    return next((length for length in range(longest, 0, -1) if text.endswith(string[:length])), 0)
