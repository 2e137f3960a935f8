"""One thread that encodes texts, for all who want vectors: those that wait together are encoded together.

    submit, cancel: from any thread --> jobs --> [ the thread: some texts of each job in turn, one call ] --> listeners

It sleeps while there is nothing to do. A job of many texts does not keep a small one waiting: each call takes texts of
all jobs in turn. What a text gets does not depend on the others.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.models.text.embedding_model import CALL_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.models.text.embedding_model import EmbeddingModel


class EmbeddingJob:
    """Texts that somebody wants the vectors of; ``EmbeddingWorker.submit`` makes one.

    Parameters
    ----------
    tokens : of each text
    width : numbers of a vector
    listener : is told all vectors, or what has failed
    """

    def __init__(
        self, tokens: Sequence[Sequence[int]], width: int, listener: Callable[[np.ndarray | Exception], None]
    ) -> None:
        self.tokens, self.listener = tokens, listener
        self.vectors = np.empty((len(tokens), width), np.float32)
        self.begun = 0
        """Texts that were taken to a call."""
        self.left = len(tokens)
        """Texts whose vectors are missing."""


class EmbeddingWorker:
    """A thread of its own for a model.

    An error of the model ends the jobs that are in the call, each with this error; others are not touched by it.

    Parameters
    ----------
    model : what encodes
    name : of the thread

    Examples
    --------
    >>> from queue import Queue
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(width=1, vectors=lambda tokens: np.float32([[sum(text)] for text in tokens]))
    >>> worker = EmbeddingWorker(model)
    >>> answers = Queue()
    >>> job = worker.submit([[1, 2], [5]], answers.put)
    >>> answers.get().tolist()
    [[3.0], [5.0]]
    >>> worker.stop()
    """

    def __init__(self, model: EmbeddingModel, name: str = "kuiper embeddings") -> None:
        self.model = model
        self._changed = Condition()
        self._jobs: deque[EmbeddingJob] = deque()
        self._is_stopping = False
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many texts are in no call yet."""
        with self._changed:
            return sum(len(job.tokens) - job.begun for job in self._jobs)

    def submit(
        self, tokens: Sequence[Sequence[int]], listener: Callable[[np.ndarray | Exception], None]
    ) -> EmbeddingJob:
        """Encode these texts, at least one; ``listener`` is called once, in the thread, and must be quick.

        Raises
        ------
        ParameterError
            If there is no text, or the worker was stopped.
        """
        if not tokens:
            raise ParameterError(self._thread.name, "at least one text", "none")
        job = EmbeddingJob(tokens, self.model.width, listener)
        with self._changed:
            if self._is_stopping:
                raise ParameterError(self._thread.name, "a worker that runs", "one that was stopped")
            self._jobs.append(job)
            self._changed.notify()
        return job

    def cancel(self, job: EmbeddingJob) -> None:
        """Give a job up: none of its texts is taken to another call. What it is told, if anything, is undecided."""
        with self._changed:
            if job in self._jobs:
                self._jobs.remove(job)

    def stop(self, *, finish: bool = True) -> None:
        """Take nothing new, and return when what waits is finished, or given up unless ``finish``."""
        with self._changed:
            self._is_stopping = True
            given_up = [] if finish else [*self._jobs]
            if not finish:
                self._jobs.clear()
            self._changed.notify()
        for job in given_up:
            _tell(job, ParameterError(self._thread.name, "a worker that goes on", "one that was stopped"))
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._jobs or self._is_stopping):
                    self._changed.wait()
                turns = self._turns()
            if not turns:
                return
            self._call(turns)

    def _turns(self) -> list[tuple[EmbeddingJob, int]]:
        """The texts of the next call, one of each job after the other until it is full."""
        turns: list[tuple[EmbeddingJob, int]] = []
        count = 0
        while self._jobs:
            job = self._jobs[0]
            count += len(job.tokens[job.begun])
            if turns and count > CALL_TOKENS:
                break
            turns.append((job, job.begun))
            job.begun += 1
            self._jobs.popleft()
            if job.begun < len(job.tokens):
                self._jobs.append(job)
        return turns

    def _call(self, turns: list[tuple[EmbeddingJob, int]]) -> None:
        """Encode some texts, and tell those who have all of theirs."""
        jobs = dict.fromkeys(job for job, _ in turns)
        try:
            vectors = self.model.vectors([job.tokens[at] for job, at in turns])
        except Exception as error:  # whatever a model raises: the next calls may be able to run
            for job in jobs:
                self.cancel(job)
                _tell(job, error)
            return
        for (job, at), vector in zip(turns, vectors, strict=True):
            job.vectors[at] = vector
            job.left -= 1
        for job in jobs:
            if not job.left:
                _tell(job, job.vectors)


def _tell(job: EmbeddingJob, result: np.ndarray | Exception) -> None:
    """Tell a job's listener; one that raises is gone, which is no affair of the others."""
    with suppress(Exception):
        job.listener(result)
