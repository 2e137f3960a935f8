"""The other end of ``worker.py``: calls with a time limit, and a new process where the last one died."""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.observation import Observation, Raised
from kuiper.course.places import python_environment
from kuiper.course.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

START_SECONDS = 60.0
LOAD_SECONDS = 60.0
FLOOD = 4  # answers nobody has asked for are not piled up
DEATHS = ("EndlessLoop", "Crash")
LONGEST_ANSWER = 64 * 1024 * 1024


class Worker:
    """A process that runs students' code; started when first needed, and again after it died.

    The grader has a ``command`` that puts walls around it, a ``limit`` that it sets itself before it starts, and a
    ``guard`` that watches it.
    """

    def __init__(
        self,
        command: Sequence[str] = (),
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        limit: Callable[[], None] | None = None,
        guard: Callable[[subprocess.Popen[str]], None] | None = None,
    ) -> None:
        self.command = list(command) or [sys.executable, "-m", "kuiper.course.worker"]
        self.env, self.cwd, self.limit, self.guard = env or python_environment(), cwd, limit, guard
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue(FLOOD)
        self._number = 0
        self._loaded: set[str] = set()
        self._deadly: dict[tuple[str, bytes], Raised] = {}

    def call(self, request: dict[str, Any], timeout: float) -> Observation:
        """Make one call. A crash and an endless loop are observations like any other.

        A function that has killed a process once is not called again until its file has changed: property tests would
        otherwise wait for every one of their examples.
        """
        path = request["paths"][request["exercise"]]
        key = (request["probe"] or request["function"], Path(path).read_bytes() if Path(path).is_file() else b"")
        if key not in self._deadly:
            seen = self._call(request, path, timeout)
            if not (seen.raised and seen.raised.type in DEATHS):
                return seen
            self._deadly[key] = seen.raised
        return Observation(raised=self._deadly[key])

    def _call(self, request: dict[str, Any], path: str, timeout: float) -> Observation:
        """Compile and load first, which may take its time; then the call itself."""
        if not self._alive():
            raised = self._start()
            if raised:
                return Observation(raised=raised)
        if path not in self._loaded:
            loaded = self._send({**request, "function": "", "probe": ""}, LOAD_SECONDS)
            if loaded.raised:
                return loaded
            self._loaded.add(path)
        return self._send(request, timeout)

    def _send(self, request: dict[str, Any], timeout: float) -> Observation:
        self._number += 1
        line = dumps({**request, "number": self._number})
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            text = self._answers.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            return Observation(raised=_died("EndlessLoop", f"no answer within {timeout:.0f} seconds"))
        except OSError:
            text = None
        return Observation(raised=self._post_mortem()) if text is None else self._read(text)

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    pipe.close()
            self._process = None

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _start(self) -> Raised | None:
        self.stop()
        self._loaded.clear()
        self._answers = queue.Queue(FLOOD)
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=self.env,
            cwd=self.cwd,
            preexec_fn=self.limit,
        )
        if self.guard:
            self.guard(self._process)
        threading.Thread(target=_listen, args=(self._process, self._answers), daemon=True).start()
        try:
            ready = self._answers.get(timeout=START_SECONDS)
        except queue.Empty:
            ready = None
        return None if ready is not None and ready.strip() == "ready" else self._post_mortem()

    def _post_mortem(self) -> Raised:
        code = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=2.0)
        self.stop()
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            what = "segmentation fault: memory was touched that is not yours" if name == "SIGSEGV" else name
            return _died("Crash", f"the process that ran your code died ({what})")
        return _died("Crash", f"the process that ran your code ended in the middle of the call (exit code {code})")

    def _read(self, text: str) -> Observation:
        """What an answer says; the line may come from hostile code, so every part of it is checked."""
        try:
            number, value, raised, changed, printed = loads(text)
            if number != self._number or not isinstance(changed, dict):
                raise CourseError("answer", f"call {self._number}", number)
            error = None if raised is None else Raised(*_strings(raised))
        except (CourseError, TypeError, ValueError) as error_:
            self.stop()
            return Observation(raised=_died("Crash", f"the answer could not be read ({error_})"))
        return Observation(value, error, changed, str(printed))


def _strings(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    name, bases, *texts = parts
    return (str(name), tuple(str(base) for base in bases), *(str(text) for text in texts))


def _died(kind: str, message: str) -> Raised:
    return Raised(kind, (kind,), message)


def _listen(process: subprocess.Popen[str], answers: queue.Queue[str | None]) -> None:
    """Pass the lines of a process on; None when it ends, or sends more than anyone should."""
    assert process.stdout is not None
    try:
        while line := process.stdout.readline(LONGEST_ANSWER):
            answers.put(line)
            if not line.endswith("\n"):
                break
    except (OSError, ValueError):
        pass
    answers.put(None)
