from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.cli import main
from kuiper.course import race as race_module
from kuiper.course.engine_race import course_race, engine_race
from kuiper.course.errors import CourseError
from kuiper.course.ladder import OF_THE_REFERENCE, YOUR_ENGINE
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.progress import Progress
from kuiper.course.race import model_and_inputs
from kuiper.course.race_history import remember
from kuiper.course.selection import Selection
from kuiper.graph import pnnx
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = """7767517
3 2
pnnx.Input in 0 1 0 #0=(1,3)f32
pnnx.Expression four 1 1 0 1 expr=mul(@0,4) #1=(1,3)f32
pnnx.Output out 1 0 1
"""
FOURFOLD = '''"""Exercise 1.2."""

from kuiper.course import load_exercise

double = load_exercise("1.1").double


def fourfold(x):
    # BEGIN SOLUTION
    return double(double(x))
    # END SOLUTION


class Engine:
    def __init__(self, param, bin_path):
        assert param.is_file()

    def __call__(self, x):
        return [fourfold(x)]
'''
INPUTS = (np.array([[1, 2, 3]], np.float32),)


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.setattr(race_module, "SECONDS", 0.01)
    monkeypatch.chdir(tmp_path)
    made_up(tmp_path)
    course = tmp_path / "course1_made_up"
    text = (course / "course.toml").read_text()
    (course / "course.toml").write_text(text.replace("points = 3", 'points = 3\nbuilds = "Engine"'))
    (course / "solutions" / "fourfold.py").write_text(FOURFOLD)
    assert main(["course", "sync"]) == 0
    return read_syllabus(tmp_path)


@pytest.fixture
def param(tmp_path: Path) -> Path:
    path = tmp_path / "four.pnnx.param"
    pnnx.save(pnnx.parse_param(GRAPH, "four"), path)
    return path


def solved(syllabus: Syllabus, id_: str, *change: tuple[str, str]) -> None:
    solve(syllabus, id_, *change)
    exercise = syllabus.exercise(id_)
    Progress(syllabus.root).record({exercise: exercise.test_count})


def run(syllabus: Syllabus, param: Path) -> race_module.Result:
    return engine_race(Selection(syllabus), "four", param, INPUTS, lambda place: None)


def test_engine_race_of_nothing_solved_is_the_reference(syllabus: Syllabus, param: Path) -> None:
    result = run(syllabus, param)
    assert (result.yours, result.reference, result.divergence, result.failures) == ([], ["1.1", "1.2"], None, [])
    assert list(result.ladder) == [YOUR_ENGINE, "kuiper, operator by operator", "kuiper"]


def test_engine_race_takes_what_is_solved(syllabus: Syllabus, param: Path) -> None:
    solved(syllabus, "1.1")
    result = run(syllabus, param)
    assert (result.yours, result.reference, result.divergence) == (["1.1"], ["1.2"], None)


def test_engine_race_has_the_reference_beside_you_where_all_is_yours(syllabus: Syllabus, param: Path) -> None:
    solved(syllabus, "1.1")
    assert OF_THE_REFERENCE[YOUR_ENGINE] not in run(syllabus, param).ladder
    solved(syllabus, "1.2")
    result = run(syllabus, param)
    assert result.reference == []
    assert OF_THE_REFERENCE[YOUR_ENGINE] in result.ladder
    solved(syllabus, "1.1", ("x * 2", "x * 3"))
    assert OF_THE_REFERENCE[YOUR_ENGINE] not in run(syllabus, param).ladder


def test_engine_race_shows_a_wrong_answer(syllabus: Syllabus, param: Path) -> None:
    solved(syllabus, "1.1", ("x * 2", "x * 3"))
    divergence = run(syllabus, param).divergence
    assert divergence
    assert divergence.error == pytest.approx(1.25)


def test_engine_race_shows_what_was_raised(syllabus: Syllabus, param: Path) -> None:
    solved(syllabus, "1.1", ("x * 2", "x * 2 / 'a'"))
    result = run(syllabus, param)
    assert result.failures
    assert result.failures[0].startswith("1.1 double: TypeError: ")
    assert YOUR_ENGINE not in result.ladder


def test_engine_race_wants_an_exercise_that_builds_one(tmp_path: Path, param: Path) -> None:
    made_up(tmp_path)
    assert read_syllabus(tmp_path).engine_parts() == []
    with pytest.raises(CourseError, match="an exercise that builds an engine"):
        run(read_syllabus(tmp_path), param)


def test_remember_keeps_races_of_the_own_engine(syllabus: Syllabus, param: Path) -> None:
    solved(syllabus, "1.1")
    result = run(syllabus, param)
    assert [len(remember(syllabus.root, result)) for _ in range(3)] == [1, 2, 3]


def test_model_and_inputs_is_a_file_and_its_inputs(param: Path) -> None:
    path, inputs = model_and_inputs(str(param))
    assert path == param
    assert [array.shape for array in inputs] == [(1, 3)]


def test_race_command_runs_the_own_engine(syllabus: Syllabus, param: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solved(syllabus, "1.1")
    assert main(["race", str(param), "--engine", "mine"]) == 0
    shown = capsys.readouterr().out
    assert f"{param} on your engine: yours: 1.1; reference: 1.2" in shown
    assert "all outputs agree with the reference" in shown


@pytest.mark.usefixtures("race_here")
def test_race_command_writes_a_picture(syllabus: Syllabus, param: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = syllabus.root / "race.svg"
    assert main(["race", str(param), "--engine", "mine", "--picture", str(picture)]) == 0
    assert f"written: {picture}" in capsys.readouterr().out
    assert "your engine" in picture.read_text(encoding="utf-8")


def test_race_command_refuses_a_picture_of_another_kind_before_it_runs(
    syllabus: Syllabus, param: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["race", str(param), "--engine", "mine", "--picture", "race.png"]) == 1
    assert "race.png: expected a name that ends in .svg, got .png" in capsys.readouterr().err
    assert not (syllabus.root / ".kuiper" / "race.json").exists()


def test_progress_shows_how_far_the_engine_is(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    solved(syllabus, "1.1")
    assert main(["progress"]) == 0
    assert "your engine: 1 of 2 parts are yours\n  Made up  █░  1/2\n" in capsys.readouterr().out


ENGINE = """
import numpy as np
from kuiper.course import load_exercise


def own():
    fourfold = load_exercise("1.2").fourfold
    return lambda: [np.array([fourfold(x) for x in (1, 2)])]


def reference():
    return lambda: [np.array([4, 8])]


def words(answer):
    return f"the sum is {answer[0].sum()}"
"""
AFTERWARDS = (
    '[afterwards]\nbuilt = "a doubler"\nengines = "shift"\ntry = []\nrace = "numbers"\nparts = ["1.1", "1.2"]\n\n'
)


@pytest.fixture
def grown(syllabus: Syllabus) -> Syllabus:
    """The made-up course with a race of its own behind it."""
    course = syllabus.root / "course1_made_up"
    path = course / "course.toml"
    path.write_text(path.read_text().replace("[[exercise]]", AFTERWARDS + "[[exercise]]", 1))
    (course / "engine.py").write_text(ENGINE)
    return read_syllabus(syllabus.root)


@pytest.mark.usefixtures("race_here")
def test_course_race_takes_what_is_solved_and_lists_the_rest(
    grown: Syllabus, capsys: pytest.CaptureFixture[str]
) -> None:
    solved(grown, "1.1")
    assert main(["race", "numbers"]) == 0
    shown = capsys.readouterr().out
    assert "numbers: yours: 1.1; reference: 1.2\nthe sum is 12\nall outputs agree with the reference\n" in shown
    assert YOUR_ENGINE in shown


def test_course_race_shows_a_wrong_answer(grown: Syllabus) -> None:
    solved(grown, "1.1", ("x * 2", "x * 3"))
    result = course_race(Selection(grown), grown.races()["numbers"], lambda place: None)
    assert result.divergence
    assert (result.divergence.exercise, result.answer) == ("1.1 double", "")
    assert list(result.ladder) == [YOUR_ENGINE, "kuiper"]


def test_course_race_shows_what_was_raised(grown: Syllabus) -> None:
    solved(grown, "1.1", ("x * 2", "x * 2 / 'a'"))
    result = course_race(Selection(grown), grown.races()["numbers"], lambda place: None)
    assert result.failures[0].startswith("1.1 double: TypeError: ")
    assert result.failures[0].endswith(" (without your 1.1 double it is right)")
    assert list(result.ladder) == ["kuiper"]


def test_course_race_names_itself_where_no_part_has_raised(grown: Syllabus) -> None:
    engine = grown.root / "course1_made_up" / "engine.py"
    engine.write_text(
        ENGINE.replace(
            "return lambda: [np.array([fourfold", "raise ValueError('no')\n    return lambda: [np.array([fourfold"
        )
    )
    result = course_race(Selection(grown), grown.races()["numbers"], lambda place: None)
    assert result.failures == ["course1_made_up: ValueError: no"]


PER_PAIR = (
    ENGINE
    + """

PER = ("pair", 10)


def difference(got, wanted):
    return f"{got[0].tolist()} in place of {wanted[0].tolist()}"
"""
)


def test_course_race_counts_what_the_course_says(grown: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    (grown.root / "course1_made_up" / "engine.py").write_text(PER_PAIR)
    monkeypatch.setattr("kuiper.course.engine_race.in_turns", lambda *runs: [30.0 for _ in runs])
    monkeypatch.setattr("kuiper.course.engine_race.milliseconds", lambda run, inputs: 20.0)
    result = course_race(Selection(grown), grown.races()["numbers"], lambda place: None)
    assert (result.per, result.ladder) == ("pair", {YOUR_ENGINE: 3.0, "kuiper": 2.0})


def test_course_race_says_how_a_wrong_answer_differs(grown: Syllabus) -> None:
    (grown.root / "course1_made_up" / "engine.py").write_text(PER_PAIR)
    solved(grown, "1.1", ("x * 2", "x * 3"))
    divergence = course_race(Selection(grown), grown.races()["numbers"], lambda place: None).divergence
    assert str(divergence) == "the answer -> 1.1 double ([9, 18] in place of [4, 8])"


def test_course_race_names_no_part_where_two_are_wrong(grown: Syllabus) -> None:
    solved(grown, "1.1", ("x * 2", "x * 3"))
    solved(grown, "1.2", ("double(double(x))", "double(double(x)) + 1"))
    divergence = course_race(Selection(grown), grown.races()["numbers"], lambda place: None).divergence
    assert divergence
    assert divergence.exercise == "course1_made_up"


def test_course_race_names_the_part_behind_an_error_of_another(grown: Syllabus) -> None:
    solved(grown, "1.1", ("x * 2 + 0", "str(x)"))
    solved(grown, "1.2", ("double(double(x))", "double(x) + double(x) + 0"))
    result = course_race(Selection(grown), grown.races()["numbers"], lambda place: None)
    assert result.failures[0].startswith("1.2 fourfold: TypeError: ")
    assert result.failures[0].endswith(" (without your 1.1 double it is right)")


def test_course_race_wants_parts_that_exist(grown: Syllabus) -> None:
    path = grown.root / "course1_made_up" / "course.toml"
    path.write_text(path.read_text().replace('parts = ["1.1"', 'parts = ["7.1"'))
    syllabus = read_syllabus(grown.root)
    with pytest.raises(CourseError, match=r"expected one of 1\.1, 1\.2, got '7\.1'"):
        course_race(Selection(syllabus), syllabus.races()["numbers"], lambda place: None)


def test_progress_names_the_race_of_each_course(grown: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    solved(grown, "1.1")
    assert main(["progress"]) == 0
    assert "yours\n  Made up  █░  1/2  kuiper race numbers\n" in capsys.readouterr().out
