"""What ``kuiper race`` says of times, and how the process that runs a student's code is watched."""

from __future__ import annotations

import sys
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from kuiper.cli import apart, main
from kuiper.cli.race import SMALL, show, small_case
from kuiper.cli.terminal import PlainConsole
from kuiper.course.errors import CourseError
from kuiper.course.quiet import ONE_THREAD
from kuiper.course.race import Divergence, Result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RATIOS = (0.1, 0.5, 0.9)
RIGHT = Result("net", ["1.1"], [], ladder={"your layers": 4.0, "kuiper": 0.5})
WRONG = replace(
    RIGHT, divergence=Divergence("conv", "nn.Conv2d", "3.5", 0.5), ladder={"your layers": 1.0, "kuiper": 0.5}
)


def shown(result: Result, *earlier: Result, ratios: Sequence[float] = ()) -> str:
    console = PlainConsole(file=StringIO(), width=200)
    show(result, [vars(each) for each in earlier], console, ratios)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_show_counts_right_runs_only() -> None:
    assert "your best so far: 4.00 ms, now 4.00 ms" in shown(RIGHT, RIGHT, WRONG)
    assert "your best so far" not in shown(RIGHT, WRONG, replace(RIGHT, failures=["conv -> 3.5"]))
    words = shown(WRONG, RIGHT)
    assert "your best so far" not in words
    assert "a time counts only when all outputs agree" in words


def test_show_counts_the_points_for_speed() -> None:
    timed = replace(RIGHT, ladder={"your layers": 4.0, "the reference's layers": 2.4, "kuiper": 0.5})
    assert "points for speed" not in shown(timed)
    words = "points for speed: 2 of 3 (the next at 0.9 of the reference, yours reaches 0.6"
    assert f"{words})\n" in shown(timed, ratios=RATIOS)
    busy = replace(timed, busy="5.0 processes wanted the 2 cores")
    assert f"{words}; the machine was too busy to judge: 5.0 processes" in shown(busy, ratios=RATIOS)
    partly = replace(RIGHT, reference=["1.2", "1.3"])
    words = "points for speed: 0 of 3 (they count when all of it is yours; missing: 1.2 1.3)"
    assert words in shown(partly, ratios=RATIOS)
    assert "points for speed" not in shown(WRONG, ratios=RATIOS)
    assert "points for speed" not in shown(replace(partly, yours=[]), ratios=RATIOS)


def test_show_says_that_the_machine_was_busy() -> None:
    assert "busy" not in shown(RIGHT)
    assert "the machine is busy (5.0 processes wanted the 2 cores)" in shown(
        replace(RIGHT, busy="5.0 processes wanted the 2 cores")
    )


def test_show_does_not_say_that_all_agree_where_a_layer_was_replaced() -> None:
    assert "\nall outputs agree" in shown(RIGHT)
    assert "\nall other outputs agree" in shown(replace(RIGHT, failures=["conv -> 3.5: TypeError"]))


@pytest.mark.parametrize(
    ("yours", "own", "kuiper", "is_told"),
    [
        (["1.1"], SMALL / 4, SMALL / 2, True),
        (["1.1"], SMALL / 2, SMALL / 4, False),
        (["1.1"], 2 * SMALL, 3 * SMALL, False),
        ([], SMALL / 4, SMALL / 2, False),
    ],
)
def test_small_case_explains_a_win_in_a_tiny_case(yours: list[str], own: float, kuiper: float, is_told: bool) -> None:
    result = Result("tensor", yours, [], ladder={"your engine": own, "kuiper": kuiper})
    assert bool(small_case(result)) is is_told


def python_instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """What ``kuiper NAME`` runs is this code; its last argument is the file of the result."""
    monkeypatch.setattr(apart, "python_environment", dict)
    command = [sys.executable, "-c", code]
    begun = apart.subprocess.Popen
    monkeypatch.setattr(apart.subprocess, "Popen", lambda words, **more: begun([*command, words[-1]], **more))


def test_result_apart_hands_variables_on_and_shows_the_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(apart, "LOOKS", 0.01)
    monkeypatch.setattr(apart, "TOLD_EVERY", 0.0)
    code = """
import os, pathlib, sys, time
path = pathlib.Path(sys.argv[1])
path.with_suffix(".place").write_text("conv -> 3.5")
while not path.with_suffix(".seen").exists():
    time.sleep(0.01)
path.write_text(os.environ["OPENBLAS_NUM_THREADS"] + os.environ["OMP_NUM_THREADS"])
"""
    python_instead(monkeypatch, code)
    real = apart.place_in

    def place_in(path: Path) -> str:
        if real(path):
            path.with_suffix(".seen").touch()
        return real(path)

    monkeypatch.setattr(apart, "place_in", place_in)
    path = apart.result_apart("race", [], tmp_path / "result.json", 100.0, ONE_THREAD)
    assert path.read_text() == "11"
    assert "race: conv -> 3.5 (" in capsys.readouterr().err


def test_result_apart_ends_what_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).with_suffix(".place").write_text("conv -> 3.5")
time.sleep(3600)
"""
    python_instead(monkeypatch, code)
    with pytest.raises(CourseError, match=r"expected an answer, got nothing within 2 seconds"):
        apart.result_apart("race", [], tmp_path / "result.json", 2.0)
    assert apart.place_in(tmp_path / "result.place") in ("", "conv -> 3.5")  # a slow machine may not have got so far


def test_a_note_is_whole_after_a_longer_one_in_chinese(tmp_path: Path) -> None:
    note = apart.note_in(tmp_path / "place")
    note("给你的层计时" * 40)  # more bytes than a note has, the last of them half a letter
    assert apart.place_in(tmp_path / "place") == ("给你的层计时" * 40)[:66]
    note("计时")
    assert apart.place_in(tmp_path / "place") == "计时"


def test_a_race_without_a_model_names_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "foo"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("kuiper race: MODEL: expected one of resnet20, ")
    assert said.endswith("or the path of a .param file, got 'foo'\n")


def test_the_error_of_the_process_that_runs_the_layers_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["race", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"kuiper race: {tmp_path}: expected a file, got a directory\n"
