"""A request for text: what stands between a prompt, a request of tokens, and the text that a reader sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from kuiper.errors import ParameterError
from kuiper.models.text.generation import StopStrings
from kuiper.serving.drawing import Drawing
from kuiper.serving.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from kuiper.models.text.protocols import Vocabulary
    from kuiper.models.text.sampling import Sampler
    from kuiper.serving.drawing import Chance, Constraint

    TextEnd = Literal["", "token", "complete", "stop", "length", "context", "cancelled", "deadline", "failed"]


class TextRequest:
    """The text behind a prompt, on a ``BatchEngine``: the same as that of ``Generation``, for the same sampler.

    What the vocabulary wants at the beginning of every text, and the prompt leaves out, is drawn first: from the second
    token on, each by a request of its own, since the prompt comes behind them.

        text = TextRequest(vocabulary, prompt, Sampler(seed=1), max_tokens=40)
        engine.submit(text.request)
        for drawn in engine.step():
            print(text.take(drawn.tokens))      then text.request may be another one, to be submitted

    Parameters
    ----------
    vocabulary : the model's
    prompt : tokens, as ``vocabulary.encode`` makes them
    sampler : draws the tokens
    max_tokens : how many at most
    stop : strings of which the first to appear ends the text, and is not part of it
    constraint : what the text must hold to; it belongs to this text
    best : how many of the likeliest tokens ``chances`` has for each of the text's; None notes nothing

    Raises
    ------
    ParameterError
        If the prompt is empty and the model needs one, ``max_tokens`` is below 1, or a stop string is empty.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> from kuiper.models.text.language_model import load
    >>> from kuiper.models.text.sampling import Sampler
    >>> from kuiper.serving import BatchEngine
    >>> model = load(bundled("shakespeare"))
    >>> engine = BatchEngine(model.graph, pages=4)
    >>> text = TextRequest(model.vocabulary, model.vocabulary.encode("ROMEO:"), Sampler(seed=1), max_tokens=12)
    >>> engine.submit(text.request)
    >>> pieces = []
    >>> while not text.end:
    ...     pieces += [text.take(drawn.tokens) for drawn in engine.step()]
    >>> len("".join(pieces)), text.end
    (12, 'length')
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        prompt: Sequence[int],
        sampler: Sampler,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        constraint: Constraint | None = None,
        best: int | None = None,
    ) -> None:
        if "" in stop:
            raise ParameterError("stop", "text that ends the generation", "an empty string")
        self.prompt_tokens = len(prompt)
        self.tokens = 0
        """How many were drawn behind the prompt."""
        self.end: TextEnd = ""
        """Why it has ended: as that of a ``Request``, or "stop"; "" while it goes on."""
        self.chances: list[Chance] = []
        """How likely each of its tokens was, without one that ends it, if this is noted."""
        self._vocabulary, self._sampler, self._max_tokens = vocabulary, sampler, max_tokens
        self._begun: list[int] = []  # of the prefix
        self._missing = list(vocabulary.prefix)
        self._prompt = list(prompt)  # without what is in the prefix
        never = [token for choices in vocabulary.prefix for token in choices]
        self._drawing = Drawing(sampler, never, constraint=constraint, best=best)
        self._decoder, self._stop = vocabulary.decoder(), StopStrings(stop)
        self.request = self._next_request()
        """What the engine works on now; when it ends and this text does not, the next one is to be submitted."""

    @property
    def error(self) -> Exception | None:
        """What has failed, if ``end`` is "failed"."""
        return self.request.error

    @property
    def found_tokens(self) -> int:
        """How many tokens of the prompt did not have to be read, as pages had them."""
        return min(self.request.found, self.prompt_tokens)

    def take(self, tokens: Sequence[int]) -> str:
        """What drawn tokens, or an end without any, add to the text that is shown; it may be empty."""
        if self._missing and tokens:
            self._begun += tokens
            del self._missing[0]
            self.request = self._next_request()
            return ""
        end: TextEnd = self.request.end
        if not tokens:
            return self._shown("", end)
        pieces: list[str] = []
        for left in range(len(tokens) - 1, -1, -1):
            token, ended = tokens[-1 - left], "" if left else end
            if ended != "token":
                self.chances += self._drawing.chances[self.tokens : self.tokens + 1]
            self.tokens += 1
            pieces.append(self._shown("" if ended == "token" else self._decoder.piece(token), ended))
            if self.end:
                break
        return "".join(pieces)

    def _shown(self, text: str, end: TextEnd) -> str:
        """What of more text is certain not to be part of a stop string."""
        if end:
            text += self._decoder.rest()
        piece = self._stop.passed(text, is_last=bool(end))
        self.end = "stop" if self._stop.found else end
        return piece

    def _next_request(self) -> Request:
        """The text itself, if its beginning is complete, else the next token of the beginning."""
        while self._missing:
            choices = self._missing[0]
            if self._prompt and self._prompt[0] in choices:
                token = self._prompt.pop(0)
            elif not self._begun:  # nothing was read yet: each is as likely
                token = choices[self._sampler(np.zeros(len(choices)))]
            else:
                return Request(self._begun, self._draw_beginning, max_tokens=1)
            self._begun.append(token)
            del self._missing[0]
        tokens = [*self._begun, *self._prompt]
        return Request(tokens, self._draw, max_tokens=self._max_tokens, ends=self._vocabulary.ends)

    def _draw_beginning(self, scores: npt.NDArray[np.float32], text: Sequence[int]) -> int:
        choices = list(self._missing[0])
        return choices[self._sampler(scores[choices])]

    def _draw(self, scores: npt.NDArray[np.float32], text: Sequence[int]) -> int:
        token = self._drawing(scores, text)
        self.request.is_complete = self._drawing.is_complete
        return token
