"""The other end of ``worker.py``: calls with a time limit, and a new process where the last one died."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.channel import Channel
from kuiper.course.errors import CourseError
from kuiper.course.observation import (
    DIED,
    DIED_OF_MEMORY,
    ENDED_IN_CALL,
    MAX_PRINTED,
    NO_ANSWER_WITHIN,
    UNREAD,
    Observation,
    Raised,
    changes,
)
from kuiper.course.places import python_environment
from kuiper.course.processes import descendants, end_tree, seconds_without_core
from kuiper.course.wire import dumps, loads_untrusted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

START_SECONDS = 60.0
LOAD_SECONDS = 60.0
MAX_TIMES = 10
"""A limit grows to no more than this many times itself on a machine where others have the cores."""
DEATHS = ("EndlessLoop", "Crash", "ArrayIndexError")
MAX_TEXT = 20_000
MAX_BASES = 50


class Worker:
    """A process that runs students' code; started when first needed, and again after it died.

    The grader has a ``command`` that puts it in a sandbox, a ``limit`` that it sets itself before it starts, and a
    ``guard`` that watches it.
    """

    def __init__(
        self,
        command: Sequence[str] = (),
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        limit: Callable[[], None] | None = None,
        guard: Callable[[subprocess.Popen[bytes]], None] | None = None,
    ) -> None:
        self.command = list(command) or [sys.executable, "-m", "kuiper.course.worker"]
        self.env, self.cwd, self.limit, self.guard = env or python_environment(), cwd, limit, guard
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._number = 0
        self._loaded: set[tuple[str, str]] = set()
        self._deadly: dict[tuple[str, str, bytes], Raised] = {}
        self._below: set[int] = set()

    def call(self, request: dict[str, Any], timeout: float) -> Observation:
        """Make one call. A crash and an endless loop are observations like any other.

        A function that has killed a process once is not called again until its file has changed: property tests would
        otherwise wait for every one of their examples.
        """
        path, key = request["paths"][request["exercise"]], call_key(request)
        if key not in self._deadly:
            seen = self._call(request, path, timeout)
            if not (seen.raised and seen.raised.type in DEATHS):
                return seen
            self.stop()  # behind an index outside of an array it has answered, and ends by itself, but when?
            self._deadly[key] = seen.raised
        return Observation(raised=self._deadly[key])

    def trial(self, request: dict[str, Any], timeout: float) -> Any:
        """Make one call on many variants of a solution (``trial.py``); None if the process does not come back."""
        seen = self._call(request, request["paths"][request["exercise"]], timeout)
        return None if seen.raised else seen.value

    def _call(self, request: dict[str, Any], path: str, timeout: float) -> Observation:
        """Compile and load first, which may take its time; then the call itself."""
        if not self._alive():
            raised = self._start()
            if raised:
                return Observation(raised=raised)
        loaded_as = (path, request["mode"])
        if loaded_as not in self._loaded:
            loaded = self._send({**request, "function": "", "probe": ""}, LOAD_SECONDS)
            if loaded.raised:
                return loaded
            self._loaded.add(loaded_as)
        return self._send(request, timeout)

    def _send(self, request: dict[str, Any], timeout: float) -> Observation:
        self._number += 1
        line = dumps({**request, "number": self._number})
        assert self._channel is not None
        try:
            self._channel.send(line.encode())
            answer = self._receive(timeout)
        except queue.Empty:
            self.stop()
            return Observation(raised=_died("EndlessLoop", NO_ANSWER_WITHIN.format(seconds=f"{timeout:.0f}")))
        if answer is None:
            return Observation(raised=self._post_mortem())
        return self._read(answer, request)

    def _receive(self, timeout: float) -> bytes | None:
        """The next line. What the process spends waiting for a core does not count: it might have answered long ago.

        Raises
        ------
        queue.Empty
            If nothing comes in time.
        """
        assert self._channel is not None
        assert self._process is not None
        waited, limit, before = 0.0, timeout, seconds_without_core(self._process.pid, self._below)
        while limit - waited > timeout / 100:
            with contextlib.suppress(queue.Empty):
                return self._channel.receive(limit - waited)
            self._below = descendants(self._process.pid)
            waited, lost = limit, seconds_without_core(self._process.pid, self._below) - before
            limit = min(timeout + lost, MAX_TIMES * timeout)
        raise queue.Empty

    def seconds_without_core(self) -> float:
        """How long the process was ready to run while others had the cores; 0 while there is none."""
        return seconds_without_core(self._process.pid, self._below) if self._process is not None else 0.0

    def stop(self) -> None:
        """End the process, and whatever it has started."""
        if self._process is not None and self._channel is not None:
            self._channel.close()
            end_tree(self._process)
            self._process = self._channel = None

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _start(self) -> Raised | None:
        self.stop()
        self._loaded.clear()
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=self.env,
            cwd=self.cwd,
            preexec_fn=self.limit,
        )
        self._channel = Channel(self._process)
        if self.guard:
            self.guard(self._process)
        try:
            ready = self._receive(START_SECONDS)
        except queue.Empty:
            ready = None
        self._below = descendants(self._process.pid)  # in a sandbox, one of these is the worker
        return None if ready is not None and ready.strip() == b"ready" else self._post_mortem()

    def _post_mortem(self) -> Raised:
        code = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=2.0)
        self.stop()
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return _died("Crash", DIED_OF_MEMORY if name == "SIGSEGV" else DIED.format(signal=name))
        return _died("Crash", ENDED_IN_CALL.format(code=code))

    def _read(self, answer: bytes, request: dict[str, Any]) -> Observation:
        """What an answer says; the line may come from hostile code, so every part of it is checked."""
        try:
            number, value, raised, afterwards, printed = loads_untrusted(answer.decode("utf-8", "replace"))
            if type(number) is not int or number != self._number or not isinstance(afterwards, dict):
                raise CourseError("answer", f"call {self._number}", "another one")
            error = None if raised is None else Raised(*_strings(raised))
            changed = changes(request["args"], request["kwargs"], afterwards)
        except (CourseError, TypeError, ValueError) as error_:
            self.stop()
            return Observation(raised=_died("Crash", UNREAD.format(error=str(error_)[:MAX_TEXT])))
        return Observation(value, error, changed, str(printed)[:MAX_PRINTED])


def call_key(request: dict[str, Any]) -> tuple[str, str, bytes]:
    """What a call is about: the function, and the text of its file; what is deadly once is deadly again."""
    path = Path(request["paths"][request["exercise"]])
    text = path.read_bytes() if path.is_file() else b""
    return (request["probe"] or request["function"], _asked_for(request, text), hashlib.sha256(text).digest())


def _asked_for(request: dict[str, Any], text: bytes) -> str:
    """The functions of the file that a test's own function is told to call, by name: several may share that one."""
    words = [value for value in request["args"] if isinstance(value, str) and value.isidentifier()]
    return " ".join(word for word in words if f"def {word}(".encode() in text) if request["probe"] else ""


def _strings(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    name, bases, *texts = parts
    return (_text(name), tuple(_text(base) for base in bases[:MAX_BASES]), *map(_text, texts))


def _text(value: Any) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else type(value).__name__


def _died(kind: str, message: str) -> Raised:
    return Raised(kind, (kind,), message)
