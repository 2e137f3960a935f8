"""Running the tests of one submission: a pytest that never imports it, and a watch with one alarm for each exercise."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from kuiper.course.limits import Limits
from kuiper.course.manifest import test_files
from kuiper.course.phrases import phrase
from kuiper.course.places import pytest_environment
from kuiper.course.processes import end_tree
from kuiper.course.pytest_command import pytest_command
from kuiper.course.submission import tests_files
from kuiper.language import language

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kuiper.course.manifest import Exercise, Syllabus
    from kuiper.course.sandbox import Mode

START_SECONDS = 120.0
STOPPED = phrase("stopped")  # what was judging ended in the middle, most likely for want of memory

Outcomes = dict[str, list[dict[str, Any]]]


@dataclass
class Judgement:
    """What came out: how the tests ended and which speed was measured, by exercise; and why some did not end."""

    outcomes: Outcomes = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    speeds: dict[str, dict[str, Any]] = field(default_factory=dict)


class Judges:
    """All that is being judged now, so that it can be stopped at once."""

    def __init__(self) -> None:
        self._running: set[_Run] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def judge(
        self,
        syllabus: Syllabus,
        exercises: Sequence[Exercise],
        home: Path,
        state: Path,
        seconds: float,
        mode: Mode,
        speed: bool = False,
    ) -> Judgement:
        """Run the tests, and with ``speed`` measure what is solved.

        An exercise that takes more than ``seconds`` is ended, and the next one begins: it costs the others nothing.
        """
        needed = {part.id for exercise in exercises for part in (exercise, *syllabus.needed_by(exercise))}
        to_run = [exercise for exercise in syllabus if exercise.id in needed]
        found = Judgement()
        while to_run:
            failed = {id_ for id_, own in found.outcomes.items() if any(each["verdict"] != "passed" for each in own)}
            run = self._begin(to_run, syllabus.root, home, state, failed | set(found.ends), mode, speed)
            if run is None:
                break
            last, reason = run.watch(seconds, found)
            self._running.discard(run)
            if not reason:
                break
            found.ends[last or to_run[0].id] = reason
            place = next((number for number, exercise in enumerate(to_run) if exercise.id == last), 0)
            to_run = to_run[place + 1 :]
        return found

    def stop(self) -> None:
        """End all that is being judged, and begin nothing more."""
        with self._lock:
            self._is_stopped = True
        for run in list(self._running):
            end_tree(run.process)

    def _begin(self, *words: Any) -> _Run | None:
        with self._lock:
            if self._is_stopped:
                return None
            run = _Run(*words)
            self._running.add(run)
            return run


class _Run:
    """One process that judges."""

    def __init__(
        self,
        exercises: Sequence[Exercise],
        root: Path,
        home: Path,
        state: Path,
        failed: set[str],
        mode: Mode,
        speed: bool,
    ) -> None:
        words = ["-s", f"--rootdir={root}", "--import-mode=importlib"]
        files = tests_files(home)
        files.mkdir(exist_ok=True)
        words += [f"--basetemp={files / 'tests'}", f"--submission={home}", f"--sandbox={mode}", "--outcomes=-"]
        words += ["--speed"] if speed else []
        words += [f"--failed={id_}" for id_ in sorted(failed)]
        words += [f"--exercise={exercise.id}" for exercise in exercises]
        env = pytest_environment() | {"KUIPER_LANG": language()}  # that of a course folder, too
        if mode == "limits":  # nothing is run that was kept where a submission may be able to write
            env |= {"KUIPER_STATE": str(state), "HYPOTHESIS_STORAGE_DIRECTORY": str(state / "hypothesis")}
            env |= {"PYTHONPYCACHEPREFIX": str(state / "pycache")}
        self.process = subprocess.Popen(
            pytest_command(*words, *map(str, test_files(exercises)), alone=True),
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=_bounded(),
            start_new_session=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        assert self.process.stdout is not None
        threading.Thread(target=_listen, args=(self.process.stdout, self.lines), daemon=True).start()

    def watch(self, seconds: float, found: Judgement) -> tuple[str, str]:
        """Collect outcomes until the end: the exercise that was tested last, and why it is not finished, or "".

        All tests have run before speeds are measured: what ends then costs no points but those for speed.
        """
        last, deadline, measures = "", time.monotonic() + START_SECONDS, False
        try:
            while (line := self.lines.get(timeout=max(deadline - time.monotonic(), 0.0))) is not None:
                entry = json.loads(line)
                if "begun" in entry:
                    last, deadline = entry["begun"], time.monotonic() + seconds
                elif "measured next" in entry:
                    measures, deadline = True, time.monotonic() + seconds
                elif "speed" in entry:
                    found.speeds[entry["speed"]] = entry
                else:
                    found.outcomes.setdefault(entry["exercise"], []).append(entry)
            return last, "" if measures or self.process.wait(START_SECONDS) in (0, 1) else STOPPED
        except (queue.Empty, subprocess.TimeoutExpired):
            return last, "" if measures else phrase("out of time ({seconds} seconds)", seconds=f"{seconds:.0f}")
        finally:
            end_tree(self.process)


def _bounded() -> Callable[[], None] | None:
    """The judge only compares, with a memory that has a bound too, whatever the values are."""
    if sys.platform == "win32":
        return None
    import resource

    def limit() -> None:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = 2 * Limits().memory
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

    return limit


def _listen(pipe: IO[bytes], lines: queue.Queue[str | None]) -> None:
    """Hand the lines over; None at the end."""
    with pipe:
        for line in pipe:
            lines.put(line.decode("utf-8", "replace"))
    lines.put(None)
