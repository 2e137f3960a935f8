"""The loop of a server, one turn at a time: choose who is in the step, run it, draw a token for each who has read all.

    submit --> waiting --> [ step: pieces of prompts and single tokens, all in one call of the model ] --> Drawn ...

What a request gets depends on its own tokens and its own sampler alone, not on who else is there.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from kuiper.errors import ParameterError
from kuiper.graph.batch import Piece, padded_rows
from kuiper.serving.guesses import DraftModel, LookUp
from kuiper.serving.scheduler import Scheduler
from kuiper.serving.step_log import StepLog

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from kuiper.graph import RuntimeGraph
    from kuiper.graph.batch import Batch
    from kuiper.serving.guesses import Guesses
    from kuiper.serving.request import End, Request
    from kuiper.serving.scheduler import Turn

STEP_TOKENS = 96
"""Tokens of a step, unless it is said otherwise: enough for products to be limited by arithmetic, few enough, as two
thirds of them while a few write, for a reader not to wait long for the step that reads another one's prompt."""


class Drawn(NamedTuple):
    """What a step gave to a request: tokens, or none if it ended without one; ``request.end`` says whether and why."""

    request: Request
    tokens: list[int]


class BatchEngine:
    """Many requests on one model. It belongs to one thread.

    Parameters
    ----------
    model : a graph with state
    pages, memory, max_length, texts, page_size, page_bits : as ``RuntimeGraph.start_batch``
    step_tokens : tokens of a step, at most: more read prompts faster, fewer keep the time between two tokens short; up
        to a third of them as writers get two thirds
    guesses : tokens of a request that a step may read before it is known that they come, at most; the text is the same
    guesser : what guesses them: a ``DraftModel``, or None for ``LookUp``, the text itself
    clock : what deadlines are measured by, in seconds

    Raises
    ------
    GraphStateError, ParameterError
        As ``RuntimeGraph.start_batch``; if a draft model has another vocabulary.
    KuiperError
        If the model cannot run.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> from kuiper.models.text.sampling import Sampler
    >>> from kuiper.serving.request import Request
    >>> engine = BatchEngine(kuiper.load(bundled("shakespeare")), pages=16)
    >>> requests = [Request([1, 2, 3], Sampler(seed=seed), max_tokens=5) for seed in range(3)]
    >>> for request in requests:
    ...     engine.submit(request)
    >>> while engine.has_work:
    ...     drawn = engine.step()
    >>> [len(request.tokens) for request in requests], engine.batch.pool.in_use
    ([5, 5, 5], 0)
    """

    def __init__(
        self,
        model: RuntimeGraph,
        *,
        pages: int | None = None,
        memory: int | None = None,
        max_length: int = 2048,
        texts: int = 64,
        step_tokens: int = STEP_TOKENS,
        page_size: int = 64,
        page_bits: int = 32,
        guesses: int = 0,
        guesser: Guesses | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.batch = model.start_batch(
            pages=pages,
            memory=memory,
            max_length=max_length,
            texts=texts,
            rows=step_tokens,
            page_size=page_size,
            page_bits=page_bits,
        )
        self._scheduler = Scheduler(self.batch, step_tokens, guesser or LookUp(), guesses)
        self._where = f"batch engine of {model.name}"
        self.vocabulary = vocabulary_size(self.batch)
        """How many tokens the model tells apart. One that it does not know fails the step, and all who are in it."""
        if isinstance(guesser, DraftModel) and (size := vocabulary_size(guesser.batch)) != self.vocabulary:
            raise ParameterError(self._where, f"a draft model with a vocabulary of {self.vocabulary} tokens", size)
        paging = self.batch.paging
        self.capacity = min(paging.pages_per_text, paging.pages) * paging.page_size
        """Tokens that a text can have."""
        self.log = StepLog()
        """What the last steps did."""
        self._clock = clock
        self._unplanned = _steps_to_plan(step_tokens, texts)
        self._untold: list[Drawn] = []  # what the next step, or this one at its end, returns

    @property
    def has_work(self) -> bool:
        """Whether a step would do something."""
        return bool(self._scheduler.running or self._scheduler.waiting or self._untold)

    @property
    def running(self) -> int:
        """How many requests have pages."""
        return len(self._scheduler.running)

    @property
    def waiting(self) -> int:
        """How many requests have none yet, or none any more."""
        return len(self._scheduler.waiting)

    @property
    def found(self) -> int:
        """How many tokens did not have to be read so far, as pages had them."""
        return self._scheduler.found

    def prepare(self) -> bool:
        """Plan one more kind of step, of those that are frequent, while there is nothing else to do; whether there was
        one left. A step that comes unplanned takes several times as long."""
        if self._unplanned:
            self.batch.prepare(*self._unplanned.pop())
            return True
        return False

    def submit(self, request: Request) -> None:
        """A request that joins as soon as there are pages for it.

        Raises
        ------
        ParameterError
            If it was submitted before, or its prompt can never be read: it is longer than a text or than all pages.
        """
        if request.text is not None or request.end or self._scheduler.has(request):
            raise ParameterError(self._where, "a request that was not submitted before", "one that was")
        if len(request.prompt) > self.capacity:
            raise ParameterError(self._where, f"a prompt of at most {self.capacity} tokens", len(request.prompt))
        self._scheduler.add(request)

    def cancel(self, request: Request) -> None:
        """Give a request up; its pages are free at once. One that has ended stays as it is.

        Raises
        ------
        ParameterError
            If it was not submitted here.
        """
        if request.end:
            return
        if not self._scheduler.has(request):
            raise ParameterError(self._where, "a request that was submitted", "one that was not")
        self._end(request, "cancelled")

    def fail(self, error: Exception) -> None:
        """What a caller does with an error of ``step`` that it wants to survive: give up the requests that were in the
        step, or, if none has pages, those that wait for them."""
        for request in [*self._scheduler.running] or [*self._scheduler.waiting]:
            request.error = error
            self._end(request, "failed")

    def step(self) -> list[Drawn]:
        """One step: what each request in it has got, and who ended without a step.

        Raises
        ------
        KuiperError, MemoryError
            If the model fails: no request has moved, and each is still there.
        """
        now = self._clock()
        for request in [*self._scheduler.running, *self._scheduler.waiting]:
            if now >= request.deadline:
                self._end(request, "deadline")
        for request in self._scheduler.running:
            self._take_back(request)
        turns = self._scheduler.turns()
        pieces = [_piece(turn) for turn in turns]
        scores = self.batch.step(pieces) if pieces else None
        row = 0
        for turn, piece in zip(turns, pieces, strict=True):
            if piece.wanted:
                assert scores is not None
                self._untold.append(self._drawn(turn, scores[row : row + piece.wanted]))
                row += piece.wanted
        drawn, self._untold = self._untold, []
        if pieces:
            self._note(pieces, drawn, self._clock() - now)
        return drawn

    def _note(self, pieces: list[Piece], drawn: list[Drawn], seconds: float) -> None:
        right = sum(max(0, len(tokens) - 1) for _, tokens in drawn)
        pages = self.batch.pool.in_use
        self.log.add(pieces, right=right, seconds=seconds, running=self.running, waiting=self.waiting, pages=pages)

    def _take_back(self, request: Request) -> None:
        """Forget guesses that were wrong, and the last token if a Ctrl-C came before anything was drawn behind it."""
        read = len(request.prompt) + len(request.tokens) - 1
        if request.text is not None and request.text.length > read:
            self.batch.rewind(request.text, read)

    def _drawn(self, turn: Turn, scores: npt.NDArray[np.float32]) -> Drawn:
        """The token behind what was read, and one more behind each guess that was right."""
        request, guesses, tokens = turn.request, turn.guesses, list[int]()
        for at, row in enumerate(scores):
            token = self._draw(request, row)
            tokens += [] if token is None else [token]
            if request.end or at == len(guesses) or token != guesses[at]:
                break
        return Drawn(request, tokens)

    def _draw(self, request: Request, scores: npt.NDArray[np.float32]) -> int | None:
        """The next token of a request, which may be its last; None if its sampler fails."""
        try:
            token = int(request.sampler(scores, request.all_tokens))
            if not 0 <= token < len(scores):  # it would fail the step of all
                raise ParameterError("sampler", f"a token from 0 to {len(scores) - 1}", token)
        except Exception as error:  # of one request; the others are not to suffer
            request.error = error
            self._leave(request, "failed")
            return None
        request.tokens.append(token)
        if token in request.ends:
            self._leave(request, "token")
        elif request.is_complete:
            self._leave(request, "complete")
        elif len(request.tokens) == request.max_tokens:
            self._leave(request, "length")
        elif len(request.all_tokens) > self.capacity:
            self._leave(request, "context")
        return token

    def _end(self, request: Request, end: End) -> None:
        """End a request outside of a step; the next one tells."""
        self._leave(request, end)
        self._untold.append(Drawn(request, []))

    def _leave(self, request: Request, end: End) -> None:
        request.end = end
        self._scheduler.remove(request)


def _steps_to_plan(rows: int, texts: int) -> list[tuple[int, int]]:
    """Rows and wanted ones: of steps that only write, and of full ones that read prompts, too; the last comes first."""
    counts = list(dict.fromkeys(padded_rows(count, rows) for count in range(min(rows, texts), 0, -1)))
    full = (
        (size, wanted)
        for size in (rows, padded_rows(max(1, 2 * rows // 3), rows))
        for wanted in counts
        if wanted <= size
    )
    return [*full, (rows, 0), *((count, count) for count in counts)]


def vocabulary_size(batch: Batch) -> int:
    """How many tokens a model tells apart, by the scores of one: files need not declare it."""
    text = batch.begin()
    try:
        return int(batch.step([Piece(text, [0])]).shape[-1])
    finally:
        batch.end(text)


def _piece(turn: Turn) -> Piece:
    """What the model reads of a request in a step; scores are wanted where nothing is left to read, and of guesses."""
    request, size, guesses = turn
    assert request.text is not None
    first = request.text.length
    tokens = request.all_tokens[first : first + size]
    return Piece(request.text, [*tokens, *guesses], wanted=1 + len(guesses) if size == request.unread else 0)
