"""Many pictures over many processes, none of which can take the others along.

    pictures --path-->  worker 1  --record-->
             --path-->  worker 2  --record-->  records, as they come
             --path-->  worker 3  --record-->

A worker is a process that is handed one picture, and the next one already, so that it never waits. As it works in
order, a worker that dies tells which picture it died of: that one is tried once more, and all others go on. (A pool of
``concurrent.futures`` loses all its workers with the one, cannot tell of what, and outlives a parent that is killed.)
"""

from __future__ import annotations

import os
import signal
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread

import kuiper
from kuiper.errors import ExecutionError, ParameterError
from kuiper.machine.processes import need_processes
from kuiper.models.predictor import Record, failure

Predict = Callable[[str], Record]
"""From the path of a picture to its record. Must be picklable; what it raises ends the whole run."""

_IN_HAND = 2  # pictures that a worker has been handed: the one it works on, and the next
_DEATHS = 2  # a picture that this many workers died of is not given to another
_FALSE_STARTS = 3  # if this many workers in a row die before they begin, so will the next


def over_processes(predict: Predict, paths: Iterable[str], processes: int, threads: int = 1) -> Iterator[Record]:
    """The record of each picture as soon as there is one, so in no particular order.

    Parameters
    ----------
    predict : ``Predictor.record``, or what is built around it; each process gets a copy
    paths : of pictures, each once
    processes : how many work at the same time
    threads : that the kernels of each process may use

    A picture that kills its worker twice (by a fault in a decoder, by the memory it takes) gets a record that says so.
    Who leaves early closes this iterator, which ends the processes.

    Raises
    ------
    ParameterError
        If there are no processes.
    ExecutionError
        If ``predict`` raises, or if processes die before they begin.
    """
    if processes < 1:
        raise ParameterError("over_processes", "processes >= 1", processes)
    need_processes("over_processes", "that share the pictures")
    pool = _Pool(predict, paths, threads)
    try:
        yield from pool.records(processes)
    finally:
        pool.stop()


class _Pool:
    """The workers, the pictures that none of them has in hand, and how often a picture has killed."""

    def __init__(self, predict: Predict, paths: Iterable[str], threads: int) -> None:
        self.waiting = deque(paths)
        self.deaths: Counter[str] = Counter()
        self.false_starts = 0
        self.predict, self.threads = predict, threads
        self.workers: list[_Worker] = []

    def records(self, processes: int) -> Iterator[Record]:
        for _ in range(min(processes, len(self.waiting))):
            self.workers.append(_Worker(self.predict, self.threads))
        while self.waiting or any(worker.paths for worker in self.workers):
            self.hand_out()
            speaking = wait([worker.connection for worker in self.workers])
            for worker in [worker for worker in self.workers if worker.connection in speaking]:
                try:
                    record = worker.receive()
                except (EOFError, OSError):
                    record = self.replace(worker)
                if record is not None:
                    yield record

    def hand_out(self) -> None:
        """Give every worker one picture before any gets a second."""
        for in_hand in range(_IN_HAND):
            for worker in self.workers:
                if self.waiting and len(worker.paths) == in_hand:
                    worker.send(self.waiting.popleft())

    def replace(self, dead: _Worker) -> Record | None:
        """Put another worker in the place of a dead one; a record for the picture that it died of, if that is too much.

        Raises
        ------
        ExecutionError
            If this worker and some before it died before they began.
        """
        code = dead.stop()
        self.workers.remove(dead)
        self.waiting.extendleft(reversed(dead.paths))
        self.false_starts = 0 if dead.has_begun else self.false_starts + 1
        if self.false_starts == _FALSE_STARTS:
            got = f"{_FALSE_STARTS} in a row that died, the last with exit code {code}"
            hint = "a script that starts processes does so under  if __name__ == '__main__':"
            raise ExecutionError("over_processes", "processes that start", got, hint)
        record = None
        if dead.has_begun and dead.paths:
            path = dead.paths[0]
            self.deaths[path] += 1
            if self.deaths[path] == _DEATHS:
                self.waiting.popleft()
                got = f"exit code {code}, {_DEATHS} times"
                record = failure(path, ExecutionError(path, "a process that survives it", got))
        if self.waiting:
            self.workers.append(_Worker(self.predict, self.threads))
        return record

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()


class _Worker:
    """A process, the line to it, and the pictures it has in hand, in order."""

    def __init__(self, predict: Predict, threads: int) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, predict, threads), daemon=True)
        self.paths: deque[str] = deque()
        self.has_begun = False
        with _interrupts_held_back():
            self.process.start()
        theirs.close()

    def send(self, path: str) -> None:
        self.paths.append(path)
        with suppress(OSError):  # that it is dead shows when it is listened to
            self.connection.send(path)

    def receive(self) -> Record | None:
        """A record, or None for "I have begun".

        Raises
        ------
        EOFError, OSError
            If it is dead.
        ExecutionError
            If ``predict`` raised.
        """
        answer: Record | str | None = self.connection.recv()
        if isinstance(answer, str):
            raise ExecutionError("over_processes", "a record", answer)
        if answer is None:
            self.has_begun = True
        else:
            self.paths.popleft()
        return answer

    def stop(self) -> int | None:
        """End the process, whatever it is doing, and return its exit code."""
        self.connection.close()
        self.process.terminate()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return code


def _work(connection: Connection, predict: Predict, threads: int) -> None:
    """What runs in a worker: from paths to records, until the process that asks is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for Windows; elsewhere it is held back from the beginning
    warnings.simplefilter("ignore")  # they would run through the progress bar
    warnings.simplefilter("default", kuiper.FallbackWarning)
    Thread(target=end_with_parent, daemon=True).start()
    kuiper.set_num_threads(threads)
    with suppress(EOFError, OSError):
        connection.send(None)
        while True:
            path = connection.recv()
            answer: Record | str
            try:
                answer = predict(path)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            connection.send(answer)


def end_with_parent() -> None:
    """A parent that is killed cannot end its workers; and one of them may be busy with a picture for long."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal; those started here never hear it, as another one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
