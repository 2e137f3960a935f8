"""From the name of a request to its answer; ``live/PROTOCOL.md`` lists them, with their fields and values."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kuiper
from kuiper.cli import main
from kuiper.cli.hint import next_hint
from kuiper.cli.progress import as_dict
from kuiper.course import sync
from kuiper.course.builder import annotate
from kuiper.course.cells import COMPILING
from kuiper.course.classroom import Outcome
from kuiper.course.errors import CourseError
from kuiper.course.hints import solution_text
from kuiper.course.in_place import command_here, ended, pytest_here, working_in
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus, test_files
from kuiper.course.progress import Progress, is_started, next_exercise
from kuiper.course.pytest_command import pytest_words
from kuiper.course.summary import Verdict, likely_sentence
from kuiper.errors import KuiperError
from kuiper.language import translate
from kuiper.tab.cells import Lecture
from kuiper.tab.student_files import HOME, StudentFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SETTINGS = {"COLUMNS": "96", "NO_COLOR": "1", "KUIPER_PROCESSES": "none"}
QUIET = ("-W", "ignore:It looks like `register_random`")  # Hypothesis counts references, which Python 3.14 does not
COMMANDS_THAT_TEST = ("check", "race", "explore")
DRAWS = re.compile(r"\bmatplotlib\b|\bsubplots\(")
LOADS_EXERCISES = re.compile(r"\b(?:exercise|exercise_or_reference|load_exercise|terminal)\(|--mine")


class Stream(io.TextIOBase):
    """Hands on what is printed."""

    def __init__(self, name: str, emit: Callable[[dict[str, Any]], object]) -> None:
        self._name, self._emit = name, emit

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self._emit({"event": "output", "stream": self._name, "text": text})
        return len(text)


class Tab:
    """A course folder, and what a page may ask about it.

    Parameters
    ----------
    folder : where the course is written
    files : the student's, by their names in the folder
    emit : gets events as they happen; they are dictionaries
    """

    def __init__(self, folder: str, files: Mapping[str, str | bytes], emit: Callable[[dict[str, Any]], object]) -> None:
        self.root, self._emit = Path(folder), emit
        os.environ.update(SETTINGS)
        self.files = StudentFiles(self.root, files)
        os.chdir(self.root)
        self._lecture: Lecture | None = None

    def answer(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The value of a request; before it comes, a ``files`` event says what has changed.

        Raises
        ------
        KuiperError
            If the request cannot be answered.
        """
        method = getattr(self, f"on_{kind}", None)
        if method is None:
            known = ", ".join(name.removeprefix("on_") for name in dir(self) if name.startswith("on_"))
            raise CourseError("request", f"one of {known}", kind)
        try:
            named = {"data" if key == "bytes" else key: value for key, value in fields.items()}  # bytes is Python's own
            with self._streams():
                value: dict[str, Any] = method(**named)
                return value
        except OSError as error:
            raise KuiperError(str(error.filename or kind), "a file that can be used", error.strerror) from None
        finally:
            self._tell_changes()

    def compiles(self, kind: str, fields: Mapping[str, Any]) -> bool:
        """Whether a request may need a C compiler, so that a page can load one first."""
        if kind == "prepare":
            return True
        if kind == "check":
            begun = {*fields.get("refs", ()), *([fields["exercise"]] if fields.get("text") is not None else [])}
            return any(
                part.is_cython and (part.id in begun or is_started(part)) for part in self._needed(fields["exercise"])
            )
        text = " ".join(map(str, fields.get("words", [fields.get("source", "")])))
        if kind == "cell" and any(re.search(rf"\b{name}\(", text) for name in COMPILING):
            return True
        is_own = kind == "race" or LOADS_EXERCISES.search(text) or text.startswith(COMMANDS_THAT_TEST)
        return bool(is_own) and any(part.is_cython and is_started(part) for part in self._syllabus)

    def tests(self, kind: str, fields: Mapping[str, Any]) -> bool:
        """Whether a request may need pytest, or Pygments, which comes with it."""
        text = " ".join(map(str, fields.get("words", [fields.get("source", "")])))
        return kind == "check" or any(word in text for word in ("pytest", "check", "solution"))

    def draws(self, kind: str, fields: Mapping[str, Any]) -> bool:
        """Whether a request may need matplotlib, as cells with charts do."""
        return kind == "cell" and bool(DRAWS.search(fields["source"]))

    def about(self) -> dict[str, Any]:
        """What ``start`` answers."""
        syllabus, progress = self._syllabus, Progress(self.root)
        courses = [
            {"name": course.name, "title": translate(course.title, "hints"), "number": number}
            for number, course in enumerate(syllabus.courses, 1)
        ]
        return {
            "version": kuiper.__version__,
            "python": platform.python_version(),
            "folder": str(self.root),
            "courses": courses,
            "exercises": [_described(syllabus, exercise, progress) for exercise in syllabus],
            "lectures": sorted(path.stem for path in (self.root / "notebooks").glob("*.ipynb")),
            "unknown": self.files.unknown(),
        }

    # files

    def on_save(self, path: str, text: str | None = None, data: Any = None) -> dict[str, Any]:
        self.files.write(path, text if text is not None else memoryview(data).tobytes())
        return {}

    def on_read(self, path: str) -> dict[str, Any]:
        data = self.files.path(path).read_bytes()
        try:
            return {"text": data.decode()}
        except UnicodeDecodeError:
            return {"bytes": data}

    def on_files(self) -> dict[str, Any]:
        return {"files": self.files.own()}

    def on_reset(self, exercise: str) -> dict[str, Any]:
        part = self._syllabus.exercise(exercise)
        sync.reset(part)
        return {"text": part.student_file.read_text(encoding="utf-8")}

    def on_zip(self) -> dict[str, Any]:
        return {"bytes": self.files.zipped(), "name": f"{HOME}.zip"}

    def on_unzip(self, data: Any) -> dict[str, Any]:
        taken, kept = self.files.take(memoryview(data).tobytes())
        return {"taken": taken, "kept": kept}

    # exercises

    def on_prepare(self) -> dict[str, Any]:
        return {}

    def on_check(self, exercise: str, hint: int = 1, refs: Any = (), text: str | None = None) -> dict[str, Any]:
        part = self._syllabus.exercise(exercise)
        if text is not None:
            part.student_file.write_text(text, encoding="utf-8")
        with tempfile.TemporaryDirectory() as scratch, self._recorded() as report:
            table = Path(scratch, "outcomes.jsonl")
            words = [
                f"--exercise={part.id}",
                f"--hint={hint}",
                *(f"--ref={id_}" for id_ in refs),
                f"--outcomes={table}",
            ]
            files = [str(path) for path in test_files([part])]
            code = pytest_here(pytest_words("--capture=sys", *QUIET, *words, *files), self.root)
            lines = table.read_text(encoding="utf-8").splitlines() if table.is_file() else []
        outcomes = [Outcome(**entry) for entry in map(json.loads, lines) if "verdict" in entry]
        verdicts = [outcome.verdict for outcome in outcomes]
        own = tuple(outcome for outcome in outcomes if outcome.exercise == part.id)
        sentence = likely_sentence(Verdict(part, own)) if code and own else ""
        return {
            "passed": code == 0,
            "report": report.getvalue(),
            "tests": {
                "passed": verdicts.count("passed"),
                "failed": len(verdicts) - verdicts.count("passed"),
                "blocked": verdicts.count("blocked"),
            },
            "likely": [sentence] if sentence else [],
            "status": Progress(self.root).status(part),
        }

    def on_hint(self, exercise: str, function: str | None = None, level: int | None = None) -> dict[str, Any]:
        shown = next_hint(self._syllabus.exercise(exercise), function, level)
        return {"text": shown.text, "function": shown.ladder.function, "level": shown.level, "of": shown.last + 1}

    def on_solution(self, exercise: str) -> dict[str, Any]:
        return {"text": solution_text(self._syllabus.exercise(exercise))}

    def on_progress(self) -> dict[str, Any]:
        syllabus, progress = self._syllabus, Progress(self.root)
        step = next_exercise(syllabus, progress)
        _, text = command_here(["kuiper", "progress"], self.root, {})
        exercises = [as_dict(exercise, progress) for exercise in syllabus]
        return {"exercises": exercises, "next": step.id if step else None, "text": text}

    def on_race(self, model: str = "resnet20", engine: str = "kuiper") -> dict[str, Any]:
        done = self.on_command(["race", model, "--engine", engine])
        return {"ok": done["code"] == 0, "text": done["text"]}

    def on_annotate(self, exercise: str) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as scratch:
            page = annotate(self._syllabus.exercise(exercise).student_file, Path(scratch))
            return {"html": page.read_text(encoding="utf-8")}

    # lectures and commands

    def on_lecture(self, name: str) -> dict[str, Any]:
        path = self.files.path(f"notebooks/{name}.ipynb")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        self._lecture = Lecture(lambda data: self._emit({"event": "display", "data": data}), _compile_something)
        cells = [{"kind": cell["cell_type"], "source": "".join(cell["source"])} for cell in notebook["cells"]]
        return {"cells": cells}

    def on_cell(self, source: str, name: str = "cell") -> dict[str, Any]:
        if self._lecture is None:
            raise CourseError("cell", "a lecture that was begun", "none", hint='ask for "lecture" first')
        with working_in(self.root / "notebooks", {}):
            error = self._lecture.run(source, name)
        return {"ok": error is None, "error": error}

    def on_command(self, words: Any) -> dict[str, Any]:
        with working_in(self.root, {}), self._recorded() as text:
            code = ended(lambda: main(list(words)))
        return {"code": code, "text": text.getvalue()}

    # below them

    @property
    def _syllabus(self) -> Syllabus:
        return read_syllabus(self.root)

    def _needed(self, id_: str) -> list[Exercise]:
        exercise = self._syllabus.exercise(id_)
        return [exercise, *self._syllabus.needed_by(exercise)]

    def _tell_changes(self) -> None:
        changed, removed = self.files.changes()
        if changed or removed:
            self._emit({"event": "files", "changed": changed, "removed": removed})

    def _streams(self) -> contextlib.AbstractContextManager[object]:
        stack = contextlib.ExitStack()
        stack.enter_context(contextlib.redirect_stdout(Stream("stdout", self._emit)))
        stack.enter_context(contextlib.redirect_stderr(Stream("stderr", self._emit)))
        return stack

    @contextlib.contextmanager
    def _recorded(self) -> Any:
        """What is printed within this block goes on as events, and is kept, too."""
        text = io.StringIO()

        def emit(event: dict[str, Any]) -> None:
            text.write(event["text"])
            self._emit(event)

        with contextlib.redirect_stdout(Stream("stdout", emit)), contextlib.redirect_stderr(Stream("stderr", emit)):
            yield text


def _compile_something() -> None:
    from kuiper.course.lecture import cython  # knows all layers, which a first cell rarely needs

    cython("answer = 42\n")


def _described(syllabus: Syllabus, exercise: Exercise, progress: Progress) -> dict[str, Any]:
    """An exercise for a page."""
    return {
        "id": exercise.id,
        "title": translate(exercise.title, "hints"),
        "course": exercise.course.name,
        "file": exercise.file,
        "path": f"{exercise.course.name}/exercises/{exercise.file}",
        "language": "cython" if exercise.is_cython else "python",
        "minutes": exercise.minutes,
        "points": exercise.points,
        "tests": exercise.test_count,
        "symbols": list(exercise.symbols),
        "hints": [ladder.function for ladder in exercise.hints],
        "needs": [part.id for part in syllabus.needed_by(exercise)],
        "status": progress.status(exercise),
    }
