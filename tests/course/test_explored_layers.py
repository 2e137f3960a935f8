from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.course import race as race_module
from kuiper.course.explored_layers import both, look_into
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.race import model_and_inputs, race
from kuiper.course.selection import Selection
from kuiper.explore import timing
from kuiper.models import bundled
from tests.course.made_up import solve
from tests.course.test_race import ADAPTERS, INPUTS, load, that_provides_relu

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise
    from kuiper.graph import RuntimeGraph

ROOT = Path(__file__).parents[2]


def mistaken(exercise: Exercise, right: str, wrong: str, folder: Path) -> Path:
    """A file with the solution of an exercise, in which one place is wrong."""
    text, path = exercise.solution_file.read_text(), folder / exercise.file
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    return path


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    return that_provides_relu(tmp_path)


def test_look_into_of_nothing_solved_has_no_run(syllabus: Syllabus) -> None:
    table = look_into(Selection(syllabus), load, INPUTS)
    assert (table["exercises"], table["first"], table["run"]) == ([], None, None)


def test_look_into_of_layers_that_agree_has_a_run(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    table = look_into(Selection(syllabus), load, INPUTS)
    assert (table["exercises"], table["failures"], table["first"]) == (["1.1 double"], [], None)
    assert all(entry["agrees"] and entry["exercise"] == "1.1 double" for entry in table["operators"].values())
    assert [span["operator"] for span in table["run"]["spans"]] == ["first", "second"]


def test_look_into_of_a_wrong_layer_leads_to_it_with_both_pictures(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 3"))
    table = look_into(Selection(syllabus), load, INPUTS)
    assert table["first"] == "first"
    assert (table["yours"]["high"], table["reference"]["high"], table["difference"]["high"]) == (4.5, 4.5, 1.5)
    entry = table["operators"]["second"]
    assert (entry["error"], entry["alone"], entry["agrees"]) == (pytest.approx(1.25), pytest.approx(0.5), False)
    json.dumps(table, allow_nan=False)


def test_look_into_replaces_a_layer_that_raises(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 2 / 'a'"))
    table = look_into(Selection(syllabus), load, INPUTS)
    assert (table["exercises"], table["first"]) == ([], None)
    assert table["failures"][0].startswith("first -> 1.1 double: TypeError")


def test_look_into_of_a_wrong_layer_says_what_is_known_of_the_others(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 3"))
    assert look_into(Selection(syllabus), load, INPUTS)["others"] == "Also wrong on its own: second."
    solve(syllabus, "1.1", ("x * 2", "(x * 3 if x[0, 0] == 1 else x * 2)"))
    table = look_into(Selection(syllabus), load, INPUTS)
    assert table["operators"]["second"]["alone"] == pytest.approx(0.5)  # on its own it is given a 1, in the run a 1.5
    solve(syllabus, "1.1", ("x * 2", "(x * 3 if x[0, 0] == 1 else x * 2) if x.max() < 4 else x * 2"))
    adapters = syllabus.root / "course1_made_up" / "adapters.py"
    adapters.write_text(ADAPTERS.replace("self.double(x) / 2", "self.double(x) / 2 if self.op.name == 'first' else x"))
    table = look_into(Selection(syllabus), load, INPUTS)
    assert table["others"] == "1 more gets wrong inputs, and differs for that."


def test_look_into_of_a_layer_that_raises_only_alone_says_that_it_has_no_right_number(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 3"))
    adapters = syllabus.root / "course1_made_up" / "adapters.py"
    raises = "self.double(x) / 2 if self.op.name == 'first' or x[0, 0] != 1 else x[9]"
    adapters.write_text(ADAPTERS.replace("self.double(x) / 2", raises))
    table = look_into(Selection(syllabus), load, INPUTS)
    assert (table["first"], table["failures"]) == ("first", [])
    assert table["operators"]["second"]["alone"] is None  # endless
    assert table["others"] == "Also wrong on its own: second."


def test_look_into_replaces_a_layer_that_raises_when_it_is_timed(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "(calls.append(1), x * 2 if len(calls) < 3 else x[9])[1]"))
    text = syllabus.exercise("1.1").student_file
    text.write_text(text.read_text() + "\n\ncalls = []\n")
    table = look_into(Selection(syllabus), load, INPUTS)
    assert (table["exercises"], table["run"]) == ([], None)
    assert "IndexError" in table["failures"][0]


def test_look_into_of_a_wrong_attention_blames_nothing_on_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operators with state differ because of their inputs, and on their own they are right."""
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    syllabus = read_syllabus(ROOT)
    attention = syllabus.exercise("5.12")
    wrong = mistaken(attention, "np.arange(t) <= last_seen", "np.arange(t) <= last_seen + 1", tmp_path)
    selection = Selection(syllabus, "skeleton", {"5.12": "solution"}).with_path(attention, wrong)
    model = bundled("shakespeare")
    table = look_into(selection, lambda optimize: kuiper.load(model, optimize=optimize), (np.arange(12)[None],))
    assert table["failures"] == []
    assert table["exercises"] == [attention.label]
    types = {op.name: op.type for op in kuiper.load(model, optimize=False).operators}
    assert types[table["first"]] == "kuiper.CausalAttention"
    caches = [entry for name, entry in table["operators"].items() if types[name] == "kuiper.Cache"]
    assert {entry["agrees"] for entry in caches} == {True, False}  # those in front of the first attention agree
    assert {entry["alone"] for entry in caches} == {0.0}
    assert "more get wrong inputs" in table["others"]


def test_look_into_and_race_measure_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    monkeypatch.setattr(race_module, "SECONDS", 0.0)
    syllabus = read_syllabus(ROOT)
    convolution = syllabus.exercise("3.5")
    mistake = "if bias is not None and tuple(stride) == (1, 1):"
    wrong = mistaken(convolution, "if bias is not None:", mistake, tmp_path)
    selection = Selection(syllabus, "solution").with_path(convolution, wrong)
    path, inputs = model_and_inputs("resnet20")

    def load(optimize: bool) -> RuntimeGraph:
        return kuiper.load(path, optimize=optimize)

    divergence = race(selection, "resnet20", load, inputs).divergence
    table = look_into(selection, load, inputs)
    assert divergence is not None
    assert divergence.operator == table["first"]
    assert divergence.error == pytest.approx(table["operators"][table["first"]]["error"], rel=1e-6)
    assert "Of their type, only these have stride=(2,2)." in table["others"]


def test_look_into_flags_nan_and_other_shapes(syllabus: Syllabus) -> None:
    for code in ("x * float('nan')", "x[:, :2] * 2"):
        solve(syllabus, "1.1", ("x * 2", code))
        table = look_into(Selection(syllabus), load, INPUTS)
        assert table["first"] == "first"
        assert table["operators"]["first"]["error"] is None  # endless
        json.dumps(table, allow_nan=False)


def test_both_of_other_shapes_has_no_pictures() -> None:
    assert both(np.zeros((1, 2)), np.zeros((1, 3))) == {"shapes": [[1, 2], [1, 3]]}
