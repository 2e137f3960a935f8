"""One thread that runs the steps of a batch engine, for all who want text from it.

    submit, cancel: from any thread --> orders --> [ the thread: orders, a step, what it drew ] --> listeners

It sleeps while there is nothing to do. Listeners are called in the thread, between two steps: they must be quick.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.serving.batch_engine import BatchEngine
    from kuiper.serving.drawing import Chance
    from kuiper.serving.request import Request
    from kuiper.serving.text_request import TextEnd, TextRequest


class Part(NamedTuple):
    """What a step has given to a text."""

    piece: str
    """More of the text; it may be empty."""
    tokens: int
    """How many have been drawn so far."""
    end: TextEnd
    """Why this part is the last one, or ""."""
    error: Exception | None
    """What has failed, if ``end`` is "failed"."""
    chances: Sequence[Chance] = ()
    """How likely the tokens were, if the text notes it."""


class Worker:
    """A thread of its own for an engine, which from then on belongs to that thread.

    An error of the model fails the texts that are in the step, each with this error; those that come next are not
    touched by it. A text whose listener raises is given up.

    Parameters
    ----------
    engine : what runs the steps
    name : of the thread
    after_step : called in the thread when all listeners have been told what a step gave

    Examples
    --------
    >>> from queue import Queue
    >>> from kuiper.models import bundled
    >>> from kuiper.models.text.language_model import load
    >>> from kuiper.models.text.sampling import Sampler
    >>> from kuiper.serving import BatchEngine, TextRequest
    >>> model = load(bundled("shakespeare"))
    >>> worker = Worker(BatchEngine(model.graph, pages=8))
    >>> text = TextRequest(model.vocabulary, model.vocabulary.encode("ROMEO:"), Sampler(seed=1), max_tokens=3)
    >>> parts = Queue()
    >>> worker.submit(text, parts.put)
    >>> [parts.get().end for _ in range(3)]
    ['', '', 'length']
    >>> worker.stop()
    """

    def __init__(
        self, engine: BatchEngine, name: str = "kuiper batch engine", after_step: Callable[[], None] = lambda: None
    ) -> None:
        self.engine = engine
        self._after_step = after_step
        self._changed = Condition()
        self._orders: deque[Callable[[], None]] = deque()
        self._is_stopping = False
        self._texts: dict[Request, tuple[TextRequest, Callable[[Part], None]]] = {}
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, text: TextRequest, listener: Callable[[Part], None]) -> None:
        """Begin with a text; ``listener`` is told each part of it, of which one, the last, has an ``end``.

        Raises
        ------
        ParameterError
            If the worker was stopped.
        """
        with self._changed:
            if self._is_stopping:
                raise ParameterError(self._thread.name, "a worker that runs", "one that was stopped")
            self._order(partial(self._begin, text, listener))

    def cancel(self, text: TextRequest) -> None:
        """Give a text up: its pages are free before the next step, and its listener gets a last part. A text that has
        ended stays as it is."""
        with self._changed:
            self._order(partial(self._give_up, text))

    def stop(self, *, finish: bool = True) -> None:
        """Take nothing new, and return when what runs is finished, or given up unless ``finish``."""
        with self._changed:
            self._is_stopping = True
            if not finish:
                self._orders.append(self._give_up_all)
            self._changed.notify()
        self._thread.join()

    def _order(self, order: Callable[[], None]) -> None:
        self._orders.append(order)
        self._changed.notify()

    def _run(self) -> None:
        while True:
            while not self._is_wanted() and self.engine.prepare():
                pass
            with self._changed:
                while not self._is_wanted():
                    self._changed.wait()
                orders = [*self._orders]
                self._orders.clear()
            for order in orders:
                order()
            if self.engine.has_work:
                self._step()
            elif not orders:
                return
            self._after_step()

    def _is_wanted(self) -> bool:
        return bool(self._orders or self.engine.has_work or self._is_stopping)

    def _step(self) -> None:
        try:
            drawn = self.engine.step()
        except Exception as error:  # whatever a model raises: the next requests may be able to run
            self.engine.fail(error)
            return
        for request, tokens in drawn:
            if request in self._texts:
                self._pass_on(request, tokens)

    def _begin(self, text: TextRequest, listener: Callable[[Part], None]) -> None:
        self._texts[text.request] = text, listener
        self._submit(text)

    def _submit(self, text: TextRequest) -> None:
        try:
            self.engine.submit(text.request)
        except ParameterError as error:
            self._fail(text, error)

    def _pass_on(self, request: Request, tokens: list[int]) -> None:
        """Tell a text, and its listener, what its request has got."""
        text, listener = self._texts[request]
        noted = len(text.chances)
        try:
            piece = text.take(tokens)
        except Exception as error:  # of its tokenizer or of its sampler
            self.engine.cancel(request)
            self._fail(text, error)
            return
        if text.request is not request:
            self._texts[text.request] = self._texts.pop(request)
            self._submit(text)
            return
        if text.end:
            del self._texts[request]
            self.engine.cancel(request)  # which a stop string does not end by itself
        if not _is_heard(listener, Part(piece, text.tokens, text.end, text.error, text.chances[noted:])):
            self.engine.cancel(request)
            self._texts.pop(request, None)

    def _fail(self, text: TextRequest, error: Exception) -> None:
        """Say that a text has failed, and forget it."""
        _, listener = self._texts.pop(text.request)
        _is_heard(listener, Part("", text.tokens, "failed", error))

    def _give_up(self, text: TextRequest) -> None:
        if text.request in self._texts:
            self.engine.cancel(text.request)

    def _give_up_all(self) -> None:
        for text, _ in [*self._texts.values()]:
            self._give_up(text)


def _is_heard(listener: Callable[[Part], None], part: Part) -> bool:
    """Whether a listener has taken a part; one that raises wants no more."""
    try:
        listener(part)
    except Exception:
        return False
    return True
