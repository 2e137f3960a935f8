"""Guesses of the tokens that come next: several are read in one step, each answer says whether the next one was right.

    the model has read  a b c      guesses  d e f      one step reads  c d e f
    drawn behind        c: d       d: e     e: x       so d, e and x are what comes; f is forgotten

A step of several tokens costs hardly more than one where memory limits the speed. What comes is drawn from the model's
scores as always, with the same random numbers: so the text is the same, token by token, with and without guesses.

Sources: A. Saxena, "Prompt Lookup Decoding", 2023; Y. Leviathan et al., "Fast Inference from Transformers via
Speculative Decoding", 2023 (a guess without chance in it is right as often as the model would draw it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kuiper.graph.batch import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kuiper.graph import RuntimeGraph
    from kuiper.graph.batch import Text
    from kuiper.serving.request import Request

LENGTH = 3
"""Tokens that must have stood there before: with fewer, more is guessed and less of it is right."""


class Guesses(Protocol):
    """What guesses how requests go on."""

    def guess(self, counts: Mapping[Request, int], /) -> dict[Request, list[int]]:
        """For each of these requests up to so many tokens that may come behind what it has."""

    def forget(self, request: Request, /) -> None:
        """A request that has ended."""


class LookUp:
    """Guesses what followed the last time that the text read like this; free, and good where texts repeat themselves.

    Examples
    --------
    >>> from kuiper.models.text.sampling import Sampler
    >>> from kuiper.serving.request import Request
    >>> request = Request([1, 2, 3, 4, 5, 1, 2, 3], Sampler(), max_tokens=9)
    >>> LookUp().guess({request: 2})[request]
    [4, 5]
    """

    def __init__(self) -> None:
        self._seen: dict[Request, dict[tuple[int, ...], int]] = {}  # what stood before a place -> the last such place
        self._noted: dict[Request, int] = {}  # up to which place

    def guess(self, counts: Mapping[Request, int]) -> dict[Request, list[int]]:
        """See ``Guesses``."""
        return {request: self._of(request, count) for request, count in counts.items()}

    def forget(self, request: Request) -> None:
        """See ``Guesses``."""
        self._seen.pop(request, None)
        self._noted.pop(request, None)

    def _of(self, request: Request, count: int) -> list[int]:
        tokens, seen = request.all_tokens, self._seen.setdefault(request, {})
        for end in range(self._noted.get(request, LENGTH), len(tokens)):  # not the whole text, with nothing behind it
            seen[tuple(tokens[end - LENGTH : end])] = end
        self._noted[request] = max(LENGTH, len(tokens))
        at = seen.get(tuple(tokens[-LENGTH:]))
        if at is None:
            return []
        longer = list(tokens)
        for place in range(at, at + count):  # it may go on into what is guessed: a text that goes round in circles
            longer.append(longer[place])
        return longer[len(tokens) :]


class DraftModel:
    """Guesses what a smaller model of the same vocabulary holds to be likeliest.

    It has a batch of its own, in which it reads all that the requests have read. Where its pages, its context or the
    number of its texts do not suffice, it guesses nothing.

    Parameters
    ----------
    model : a graph with state
    pages, memory, max_length, texts, rows, page_size, page_bits : as ``RuntimeGraph.start_batch``

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> from kuiper.models.text.sampling import Sampler
    >>> from kuiper.serving.request import Request
    >>> request = Request([1, 2, 3], Sampler(), max_tokens=9)
    >>> len(DraftModel(kuiper.load(bundled("shakespeare")), pages=8).guess({request: 4})[request])
    4
    """

    def __init__(self, model: RuntimeGraph, **sizes: int) -> None:
        self.model = model
        self.batch = model.start_batch(**sizes)
        self._texts: dict[Request, Text] = {}

    def guess(self, counts: Mapping[Request, int]) -> dict[Request, list[int]]:
        """See ``Guesses``."""
        fitting = [one for one, count in counts.items() if len(one.all_tokens) + count <= self.batch.max_length]
        most = min(self.batch.paging.texts, self.batch.paging.rows)
        guesses: dict[Request, list[int]] = {request: [] for request in fitting[:most]}
        try:
            self._read(guesses)
            for length in range(1, max(counts.values(), default=0)):
                self._step([one for one, found in guesses.items() if len(found) == length < counts[one]], guesses)
        except MemoryError:  # pages of those who have not ended yet
            return {}
        return guesses

    def forget(self, request: Request) -> None:
        """See ``Guesses``."""
        text = self._texts.pop(request, None)
        if text is not None:
            self.batch.end(text)

    def _read(self, guesses: dict[Request, list[int]]) -> None:
        """Read what each has got meanwhile, and guess the token behind it."""
        for request in guesses:
            tokens = request.all_tokens
            text = self._texts.get(request) or self.batch.begin(tokens)
            self._texts[request] = text
            most = min(text.length, len(tokens) - 1)  # one is left to read, or there are no scores
            self.batch.rewind(text, next((i for i in range(most) if text.tokens[i] != tokens[i]), most))
        rows = max(1, self.batch.paging.rows // max(1, len(guesses)))
        while waiting := [request for request, found in guesses.items() if not found]:
            self._step(waiting, guesses, rows)

    def _step(self, requests: Iterable[Request], guesses: dict[Request, list[int]], rows: int = 1) -> None:
        """One step: up to so many unread tokens of each; whoever has read all gets one more guess."""
        pieces: list[Piece] = []
        readers: list[Request] = []
        for request in requests:
            text = self._texts[request]
            unread = [*request.all_tokens, *guesses[request]][text.length :]
            pieces.append(Piece(text, unread[:rows], wanted=int(len(unread) <= rows)))
            readers += [request] if len(unread) <= rows else []
        if pieces:
            for request, row in zip(readers, self.batch.step(pieces), strict=True):
                guesses[request].append(int(row.argmax()))
