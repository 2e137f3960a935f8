"""All that the classroom's commands print comes from the catalogues: they speak a language that shows what does not."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.cli import main, race, watch
from kuiper.cli.terminal import PlainConsole
from kuiper.course import speed, text_race
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.markers import BEGIN, END
from kuiper.course.own_layers import course_module
from kuiper.course.progress import Progress
from kuiper.course.quiet import busy_words
from kuiper.course.race import Divergence, Result
from kuiper.language import prefer
from kuiper.machine import this_machine
from tests.pseudo_language import WORD, escaped

if TYPE_CHECKING:
    Captured = pytest.CaptureFixture[str]

ROOT = Path(__file__).parents[2]
PROGRAMS = {"kuiper", "pytest", "jupyter", "lab", "pip", "cd"}
COMMANDS = {"race", "check", "hint", "progress", "annotate", "course", "sync", "solution", "explore"}
PATHS = {"cat", "interview", "language", "python"}
RACES = {"tensor", "linear", "convolution", "formulas", "photo", "serving", "shakespeare"}
KNOWN = PROGRAMS | COMMANDS | RACES | PATHS
RATIOS = (0.1, 0.5, 0.9)
LADDER = {"your layers": 4.0, "the reference's layers": 2.4, "kuiper, operator by operator": 3.0, "kuiper": 0.5}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pseudo_language: Path, capsys: Captured) -> Syllabus:
    """A student's folder, with what starting it has said still to be read."""
    monkeypatch.setenv("COLUMNS", "400")  # nothing is cut
    monkeypatch.chdir(tmp_path)
    assert main(["course", "start", "c", "--no-git"]) == 0
    monkeypatch.chdir(tmp_path / "c")
    return read_syllabus(tmp_path / "c")


def solve(course: Syllabus, *ids: str) -> None:
    """Put solutions in place, and say that their tests have passed."""
    for id_ in ids:
        exercise = course.exercise(id_)
        lines = exercise.solution_file.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not BEGIN.match(line) and not END.match(line))
        exercise.student_file.write_text(f"{text}\n", encoding="utf-8")
        Progress(course.root).record({exercise: exercise.test_count})


def said(capsys: Captured, *words: str, code: int = 0) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main(words) == code
    return capsys.readouterr().out


def test_course_start_and_update_speak(course: Syllabus, capsys: Captured) -> None:
    packages = {"install", "hypothesis", "cython", "setuptools", "jupyterlab", "matplotlib"}
    assert escaped(capsys.readouterr().out, KNOWN | packages) == []
    assert escaped(said(capsys, "course", "start", "../with_git"), KNOWN | packages) == []
    solve(course, "1.3")
    (course.root / "course1_tensor/test_padding.py").write_text("# changed")
    (course.root / "course1_tensor/README.md").unlink()
    assert escaped(said(capsys, "course", "update"), KNOWN) == []
    course.exercise("1.4").student_file.unlink()
    for words in (["--check"], [], ["--reset", "1.3"], ["--reset", "1.4"]):
        text = said(capsys, "course", "sync", *words, code=int(words == ["--check"]))
        assert text
        assert escaped(text, KNOWN) == []


@pytest.mark.parametrize("command", [["course", "update"], ["progress", "1"], ["doctor"]])
def test_commands_speak_the_language_of_the_folder(
    course: Syllabus, capsys: Captured, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.delenv("KUIPER_LANG")
    monkeypatch.setenv("LC_ALL", "C")
    prefer("")  # as in a process that begins
    assert "⟦" in said(capsys, *command)


def test_progress_speaks(course: Syllabus, capsys: Captured) -> None:
    solve(course, "1.1", "1.3")
    exercise = course.exercise("1.2")
    exercise.student_file.write_text("# begun", encoding="utf-8")
    assert escaped(said(capsys, "progress"), KNOWN) == []
    Progress(course.root).record({exercise: 1})
    assert escaped(said(capsys, "progress"), KNOWN) == []
    for path in ("cat", "interview"):
        assert escaped(said(capsys, "progress", "--path", path), KNOWN) == []
    solve(course, *(exercise.id for exercise in course))
    assert escaped(said(capsys, "progress", "--path", "python"), KNOWN) == []


def test_hint_and_solution_and_reset_speak(course: Syllabus, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {ladder.short for exercise in course for ladder in exercise.hints}
    assert escaped(said(capsys, "hint"), KNOWN | names) == []
    for words in (["1.1"], ["1.1"], ["1.1"], ["1.1", "offset"], ["3.8", "--level", "3"]):
        assert escaped(said(capsys, "hint", *words), KNOWN | names) == []
    for answer in ("", "y"):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        question = said(capsys, "solution", "1.3", code=int(not answer)).partition("def padding")[0]
        assert escaped(question.partition(" [y/N]")[0]) == []
        assert question.rpartition("[y/N]")[2].strip()
    solve(course, "1.3")
    assert escaped(said(capsys, "reset", "1.3")) == []
    solve(course, *(exercise.id for exercise in course))
    assert escaped(said(capsys, "hint"), KNOWN | {"ID"}) == []


def test_watch_speaks(course: Syllabus, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Saved(Exception):
        """Ends the endless loop."""

    def save(syllabus: Syllabus, before: object) -> None:
        raise Saved

    monkeypatch.setattr(watch, "test", lambda syllabus, exercise: None)
    monkeypatch.setattr(watch, "wait_for_save", save)
    capsys.readouterr()
    with pytest.raises(Saved):
        main(["watch"])
    assert escaped(text := capsys.readouterr().out) == []
    assert text
    monkeypatch.setattr(watch, "has_processes", lambda: False)
    assert escaped(said(capsys, "watch", "1.1")) == []
    solve(course, *(exercise.id for exercise in course))
    assert escaped(said(capsys, "watch")) == []


def test_doctor_speaks(
    course: Syllabus, capsys: Captured, monkeypatch: pytest.MonkeyPatch, pseudo_language: Path
) -> None:
    machine = set(kuiper.build_info()["cpu_features"] or ()) | set(WORD.findall(this_machine().name))
    known = {"kuiper", "Python", "NumPy", "Cython", "gcc", "clang", "Debian", "GFLOP", "cat", *machine}
    info = kuiper.build_info()
    other = {"gil": False, "debug": True, "openmp": False, "levels": ["one", "two"], "cpu_features": None}
    states = (info, {**info, **other})
    for state, strict in zip(states, ("0", "1"), strict=True):
        monkeypatch.setenv("KUIPER_STRICT", strict)
        monkeypatch.setattr(kuiper, "build_info", lambda state=state: state)
        facts, checks = said(capsys, "doctor").split("⟦matrix product⟧")
        lines = [line for line in facts.splitlines() if not line.startswith(("⟦flags⟧", "⟦built by⟧"))]
        assert escaped("\n".join([*lines, checks]), known | {"one", "two"}) == []


def shown(result: Result, *earlier: Result) -> str:
    console = PlainConsole(file=io.StringIO(), width=400)
    race.show(result, [vars(each) for each in earlier], console, RATIOS)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.usefixtures("pseudo_language")
def test_race_speaks_of_every_result() -> None:
    right = Result("net on your engine", ["1.1"], ["1.2"], ladder=LADDER, machine="desk")
    wrong = replace(right, model="m.param", divergence=Divergence("conv", "nn.Conv2d", "3.5", 0.5))
    timed = replace(right, reference=[], per="token", busy="5.0")
    results = (
        *(right, wrong, replace(right, failures=["conv -> 3.5"]), replace(right, yours=[], ladder={"kuiper": 1.0})),
        *(timed, replace(timed, busy="", per="request"), replace(timed, ladder={"your layers": 0.01, "kuiper": 0.1})),
    )
    names = set(WORD.findall(this_machine().name))
    for result in results:
        text = shown(result, result)
        assert text
        assert escaped(text, {"net", "conv", "kuiper", "explore", "ms", *names}) == []
        assert "⟦: milliseconds for one " in race.draw(result).svg()


@pytest.mark.thorough
def test_race_speaks(course: Syllabus, capsys: Captured) -> None:
    text = said(capsys, "race", "tensor")
    assert "⟦a photo of 32 x 32 pixels" in text  # what the course's own engine.py says
    assert escaped(text, KNOWN | {"ms", *WORD.findall(this_machine().name)}) == []


@pytest.mark.usefixtures("pseudo_language")
@pytest.mark.parametrize("course", ["course1_tensor", "course2_graph", "course3_layers", "course4_expression"])
def test_engines_of_the_courses_speak(course: str) -> None:
    words = course_module(ROOT / course, "engine").words([np.linspace(-1.0, 1.0, 10)])
    assert "⟦" in words
    assert escaped(words, {"truck"}) == []  # a label of the network's


@pytest.mark.usefixtures("pseudo_language")
def test_text_race_speaks_of_another_text() -> None:
    words = text_race._other_way("To be or not", "To be and yet")
    assert words.startswith("\n⟦(from character ⟧7⟦ behind the prompt")
    assert escaped(words) == []  # the text itself is in quotes
    assert escaped(str(Divergence("conv", "nn.Conv2d", "3.5", 0.5)), {"conv"}) == []


@pytest.mark.usefixtures("pseudo_language")
def test_speed_lines_speak() -> None:
    gemm: Any = SimpleNamespace(id="3.8", label="3.8")
    for unit in ("FLOP", *speed.COUNTED):
        for limit in speed.LIMITS:
            for size in (2e9, 2e6, 2e3, 2.0):
                rates = speed.Rate(size, unit, limit), speed.Rate(9 * size, unit, limit)
                assert escaped(speed.worded(gemm, *rates, most=9 * size), {"kuiper", "annotate"}) == []
    assert escaped(speed.worded(gemm, speed.Rate(1.0, "FLOP"), None)) == []
    for ratio, busy in ((0.05, ""), (0.5, "5.0"), (2.0, "")):
        assert escaped(speed.points_words(RATIOS, ratio, busy)) == []
    for waited, load in ((4.0, 1.0), (0.0, 9.0)):
        assert escaped(busy_words(waited, 10.0, load, 2)) == []
    assert escaped(speed.sum_words("", {"3.8": (2, "desk, 4 cores, kernels for v4")}, {"3.8": 3}), {"desk"}) == []


def test_speed_knows_what_the_probes_count() -> None:
    found = set()
    for path in ROOT.glob("course*/test_*.py"):
        found |= set(re.findall(r'return (?:best_)?seconds.*?, "([^"]+)"', path.read_text(encoding="utf-8")))
    assert found == {"FLOP", "B", *speed.COUNTED}


WRONG = (
    *("hint 9.9", "hint 1.1 foo", "hint 1.1 --level 9", "check 9.9", "watch 9", "reset 1.99", "solution x"),
    *("annotate 1.1", "progress 9", "progress --path x", "progress --path cat 1.1", "race nothing"),
    *("race photo --product mine", "race --picture x.png", "race --picture x", "race shakespeare --engine mine"),
    *("course start below", "course start README.md", "course start ../mine", "course update .."),
    *("grade nowhere", "grade notebooks"),
)


def test_errors_of_commands_speak(course: Syllabus, capsys: Captured) -> None:
    (course.root.parent / "mine").mkdir()
    (course.root.parent / "mine" / "mine.txt").touch()
    names = {ladder.short for exercise in course for ladder in exercise.hints}
    others = {"MODEL", "FOLDER", "ANOTHER_FOLDER", "start", "update", "expressions", "svg", "png"}
    for line in WRONG:
        words = line.split()
        capsys.readouterr()
        assert main(words) == 1, line
        told = capsys.readouterr().err
        assert "⟦" in told, line
        assert escaped(told, {*KNOWN, *names, *words, *others}) == [], line
