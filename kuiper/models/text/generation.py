"""The loop that makes text: read the prompt, draw a token, read it, and again, until something ends it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.models.text.protocols import LanguageModel, PieceDecoder
    from kuiper.models.text.sampling import Sampler, Scores


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

    What the model's vocabulary wants at the beginning of every text, and the prompt leaves out, is drawn first; behind
    it none of these tokens is drawn any more. When the context is full, the model starts anew with the second half of
    what it has read, behind the same beginning.

    Parameters
    ----------
    model : the language model
    prompt : tokens, as ``model.vocabulary.encode`` makes them
    sampler : draws the tokens
    max_tokens : how many at most
    stop : strings of which the first to appear ends the text, and is not part of it
    reading : what has read the beginning of the prompt, perhaps, and reads the rest; None begins a session of its own

    Raises
    ------
    ParameterError
        If the prompt is empty and the model needs one, or does not fit the context; if ``max_tokens`` is below 1, or a
        stop string is empty.

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> from kuiper.models.text.language_model import load
    >>> from kuiper.models.text.sampling import Sampler
    >>> model = load(bundled("shakespeare"))
    >>> generation = Generation(model, model.vocabulary.encode("ROMEO:"), Sampler(seed=1), max_tokens=12)
    >>> len("".join(generation)), generation.account.end
    (12, 'length')
    """

    def __init__(
        self,
        model: LanguageModel,
        prompt: Sequence[int],
        sampler: Sampler,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        reading: Reading | None = None,
    ) -> None:
        if max_tokens < 1:
            raise ParameterError("max_tokens", "a number of at least 1", max_tokens)
        if "" in stop:
            raise ParameterError("stop", "text that ends the generation", "an empty string")
        prefix = model.vocabulary.prefix
        if not prompt and not prefix:
            raise ParameterError("prompt", "at least one token to begin with", "none")
        context = reading.length if reading else model.context
        if len(prompt) + len(prefix) >= context:
            raise ParameterError("prompt", f"fewer than {context} tokens, which is the context's length", len(prompt))
        self.account = Account()
        self.max_tokens = max_tokens
        self._vocabulary, self._prompt, self._sampler = model.vocabulary, list(prompt), sampler
        self._stop = StopStrings(stop)
        self._reading = reading or Reading(model, min(context, len(prompt) + len(prefix) + max_tokens))

    def __iter__(self) -> Iterator[str]:
        decoder, account = self._vocabulary.decoder(), self.account
        started = perf_counter()
        prefix = [token for choices in self._vocabulary.prefix for token in choices]
        scores = self._begin()
        account.prompt_seconds = perf_counter() - started
        while True:
            started = perf_counter()
            scores[prefix] = -np.inf
            token = self._sampler(scores, self._reading.tokens)
            piece = self._shown(token, decoder)
            account.seconds += perf_counter() - started
            if piece:
                yield piece
            if account.end:
                return
            started = perf_counter()
            scores = self._reading.read([token])
            account.seconds += perf_counter() - started

    def _shown(self, token: int, decoder: PieceDecoder) -> str:
        """What one more token adds to the text that is shown; the account says whether it was the last."""
        account, is_end = self.account, token in self._vocabulary.ends
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

    def _begin(self) -> Scores:
        """Read the prompt, behind its prefix, and return the scores of the first token."""
        if not self._vocabulary.prefix:
            self.account.prompt_tokens = len(self._prompt)
            return self._reading.read(self._reading.back_to(self._prompt))
        self._reading.back_to([])
        scores: Scores | None = None
        for choices in self._vocabulary.prefix:
            if self._prompt and self._prompt[0] in choices:
                token = self._prompt.pop(0)
            else:
                token = self._drawn_from(choices, scores)
            scores = self._reading.read([token])
        self.account.prompt_tokens = len(self._prompt)
        if self._prompt:
            scores = self._reading.read(self._prompt)
        assert scores is not None  # there is a prefix
        return scores

    def _drawn_from(self, choices: Sequence[int], scores: Scores | None) -> int:
        """One of a few tokens; where nothing was read yet, each is as likely."""
        few = np.zeros(len(choices)) if scores is None else scores[list(choices)]
        return choices[self._sampler(few)]


class Reading:
    """A session of a language model, and the tokens that it has in its memory, which are ``length`` at most.

    When the memory is full, it forgets the first half of the text, but not what every text begins with.
    """

    def __init__(self, model: LanguageModel, length: int) -> None:
        self.length = length
        self.tokens: list[int] = []
        self._begins = len(model.vocabulary.prefix)
        self._session = model.start(length)

    def back_to(self, text: Sequence[int]) -> list[int]:
        """Forget what is not the beginning of ``text``; the rest of it, which is one token at least, if it has any."""
        most = min(len(self.tokens), max(len(text) - 1, 0))
        same = next((i for i in range(most) if self.tokens[i] != text[i]), most)
        self._session.rewind(same)
        del self.tokens[same:]
        return list(text[same:])

    def read(self, tokens: Sequence[int]) -> Scores:
        """Read more tokens, at least one, and return the scores (vocabulary,) of the one behind them."""
        tokens = list(tokens)
        if len(self.tokens) + len(tokens) > self.length:
            kept = max(1, (self.length - self._begins) // 2)
            tokens = (self.tokens + tokens)[-kept:]
            del self.tokens[self._begins :]
            self._session.rewind(self._begins)
        unread = np.array(tokens, np.int64)
        if len(unread) > 1:
            self._session.read(unread[:-1])  # which computes no scores
        scores = np.array(self._session(unread[-1:]), np.float64)
        self.tokens += tokens  # only now: anyone who interrupts it finds no token here that the session lacks
        last: Scores = scores.reshape(-1, scores.shape[-1])[-1]
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
