from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course import race as race_module
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.race import contestant, race, remember
from kuiper.course.selection import Selection
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = """7767517
4 3
pnnx.Input in 0 1 0 #0=(1,3)f32
nn.ReLU first 1 1 0 1
nn.ReLU second 1 1 1 2
pnnx.Output out 1 0 2
"""
# The made-up exercise is no ReLU, but on positive numbers its half is one.
ADAPTERS = """
from kuiper.course import load_exercise
from kuiper.layers import Layer


class Relu(Layer):
    def __init__(self, op):
        super().__init__(op)
        self.double = load_exercise("1.1").double

    def forward(self, x):
        return self.double(x) / 2
"""
INPUTS = (np.array([[1, 2, 3]], np.float32),)


def load(optimize: bool) -> RuntimeGraph:
    graph = RuntimeGraph(pnnx.parse_param(GRAPH, "graph"))
    graph.build(registry, optimize)
    return graph


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.setattr(race_module, "SECONDS", 0.01)
    made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("points = 2", 'points = 2\nprovides = { "nn.ReLU" = "Relu" }'))
    (manifest.parent / "adapters.py").write_text(ADAPTERS)
    return read_syllabus(tmp_path)


def test_nothing_solved_runs_on_the_reference(syllabus: Syllabus) -> None:
    result = race(Selection(syllabus), "graph", load, INPUTS)
    assert (result.yours, result.reference) == ([], ["1.1"])
    assert list(result.ladder) == ["kuiper, operator by operator", "kuiper"]


def test_a_solved_layer_runs_and_agrees(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    places: list[str] = []
    result = race(Selection(syllabus), "graph", load, INPUTS, places.append)
    assert (result.yours, result.reference, result.failures, result.divergence) == (["1.1"], [], [], None)
    assert len(result.ladder) == 4
    assert "second -> 1.1 double" in places
    assert [entry["yours"] for entry in remember(syllabus.root, result) + remember(syllabus.root, result)] == [
        ["1.1"]
    ] * 3


def test_a_wrong_layer_is_named_with_its_exercise(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 3"))
    divergence = race(Selection(syllabus), "graph", load, INPUTS).divergence
    assert divergence
    assert (divergence.operator, divergence.exercise) == ("first", "1.1 double")
    assert divergence.error == pytest.approx(0.5)


@pytest.mark.parametrize(("code", "words"), [("x * 2 / 'a'", "TypeError"), ("x * 2)", "ExerciseSyntaxError")])
def test_a_layer_that_raises_is_named_and_replaced(syllabus: Syllabus, code: str, words: str) -> None:
    solve(syllabus, "1.1", ("x * 2", code))
    result = race(Selection(syllabus), "graph", load, INPUTS)
    assert (result.yours, result.reference) == ([], ["1.1"])
    assert result.failures[0].startswith(f"first -> 1.1 double: {words}")


@pytest.mark.parametrize("name", ["resnet20", "expressions"])
def test_contestants_run(name: str) -> None:
    load, inputs = contestant(name)
    assert np.isfinite(np.asarray(load(False)(*inputs))).all()
