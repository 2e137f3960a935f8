from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.explored_layers import both, look_into
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.selection import Selection
from kuiper.explore import timing
from tests.course.made_up import made_up, solve
from tests.course.test_race import ADAPTERS, INPUTS, load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("points = 2", 'points = 2\nprovides = { "nn.ReLU" = "Relu" }'))
    (manifest.parent / "adapters.py").write_text(ADAPTERS)
    return read_syllabus(tmp_path)


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


def test_look_into_flags_nan_and_other_shapes(syllabus: Syllabus) -> None:
    for code in ("x * float('nan')", "x[:, :2] * 2"):
        solve(syllabus, "1.1", ("x * 2", code))
        table = look_into(Selection(syllabus), load, INPUTS)
        assert table["first"] == "first"
        assert table["operators"]["first"]["error"] is None  # endless
        json.dumps(table, allow_nan=False)


def test_both_of_other_shapes_has_no_pictures() -> None:
    assert both(np.zeros((1, 2)), np.zeros((1, 3))) == {"shapes": [[1, 2], [1, 3]]}
