from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course import race as race_module
from kuiper.course.ladder import OF_THE_REFERENCE, YOUR_LAYERS
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.race import candidate, in_turns, race
from kuiper.course.race_history import remember
from kuiper.course.selection import Selection
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def built(text: str, optimize: bool) -> RuntimeGraph:
    graph = RuntimeGraph(pnnx.parse_param(text, "graph"))
    graph.build(registry, optimize)
    return graph


def load(optimize: bool) -> RuntimeGraph:
    return built(GRAPH, optimize)


def that_provides_relu(root: Path) -> Syllabus:
    """The made-up course, whose first exercise is the ReLU of a graph."""
    made_up(root)
    manifest = root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("points = 2", 'points = 2\nprovides = { "nn.ReLU" = "Relu" }'))
    (manifest.parent / "adapters.py").write_text(ADAPTERS)
    return read_syllabus(root)


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.setattr(race_module, "SECONDS", 0.01)
    return that_provides_relu(tmp_path)


def test_nothing_solved_runs_on_the_reference(syllabus: Syllabus) -> None:
    result = race(Selection(syllabus), "graph", load, INPUTS)
    assert (result.yours, result.reference) == ([], ["1.1"])
    assert list(result.ladder) == ["kuiper, operator by operator", "kuiper"]


def test_exercises_are_named_in_the_order_of_the_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_module, "SECONDS", 0.01)
    made_up(tmp_path, second="1.10")
    manifest = tmp_path / "course1_made_up" / "course.toml"
    text = manifest.read_text().replace('"1.1"', '"1.9"')
    text = text.replace("points = 2", 'points = 2\nprovides = { "nn.ReLU" = "Relu" }')
    manifest.write_text(text.replace("points = 3", 'points = 3\nprovides = { "pnnx.Output" = "Relu" }'))
    assert race(Selection(read_syllabus(tmp_path)), "graph", load, INPUTS).reference == ["1.9", "1.10"]


def test_a_solved_layer_runs_and_agrees(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    places: list[str] = []
    result = race(Selection(syllabus), "graph", load, INPUTS, places.append)
    assert (result.yours, result.reference, result.failures, result.divergence) == (["1.1"], [], [], None)
    assert list(result.ladder) == [
        "your layers, every index checked",
        YOUR_LAYERS,
        OF_THE_REFERENCE[YOUR_LAYERS],
        "kuiper, operator by operator",
        "kuiper",
    ]
    assert "second -> 1.1 double" in places
    assert [entry["yours"] for entry in remember(syllabus.root, result) + remember(syllabus.root, result)] == [
        ["1.1"]
    ] * 3


@pytest.mark.parametrize("how", ["another is the reference's", "no solutions", "wrong", "solutions race"])
def test_the_reference_runs_beside_you_only_where_all_is_yours_and_right(syllabus: Syllabus, how: str) -> None:
    solve(syllabus, "1.1", *([("x * 2", "x * 3")] if how == "wrong" else []))
    selection = Selection(syllabus)
    if how == "another is the reference's":
        manifest = syllabus.root / "course1_made_up" / "course.toml"
        manifest.write_text(
            manifest.read_text().replace("points = 3", 'points = 3\nprovides = { "pnnx.Output" = "Relu" }')
        )
        selection = Selection(read_syllabus(syllabus.root))
    elif how == "no solutions":
        shutil.rmtree(syllabus.root / "course1_made_up" / "solutions")
    elif how == "solutions race":
        selection = Selection(syllabus, "solution")
    result = race(selection, "graph", load, INPUTS)
    assert YOUR_LAYERS in result.ladder
    assert OF_THE_REFERENCE[YOUR_LAYERS] not in result.ladder


def test_in_turns_asks_all_equally_often_and_takes_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(race_module.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(race_module, "SECONDS", 2.0)
    asked: list[str] = []

    def call(name: str, seconds: Iterator[float]) -> float:
        asked.append(name)
        return next(seconds)

    yours, reference = iter([0.003, 0.002, 0.004, 9.0]), iter([0.005, 0.006, 0.001, 9.0])
    assert in_turns(lambda: call("yours", yours), lambda: call("reference", reference)) == [2.0, 1.0]
    assert asked == ["yours", "reference"] * 3


def test_own_product_takes_the_layer_that_multiplies_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1.1 and 1.2 are about the same type; 1.2 comes in only where the student's own product is asked for."""
    monkeypatch.setattr(race_module, "SECONDS", 0.01)
    made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    text = manifest.read_text().replace("points = 2", 'points = 2\nprovides = { "nn.ReLU" = "Relu" }')
    text = text.replace("points = 3", 'points = 3\nprovides_with_product = { "nn.ReLU" = "OwnProductRelu" }')
    manifest.write_text(text)
    own = ADAPTERS + "\n\nclass OwnProductRelu(Relu):\n    def forward(self, x):\n        return self.double(x) - x\n"
    (manifest.parent / "adapters.py").write_text(own)
    syllabus = read_syllabus(tmp_path)
    solve(syllabus, "1.1")
    solve(syllabus, "1.2")
    plain = race(Selection(syllabus), "graph", load, INPUTS)
    result = race(Selection(syllabus), "graph", load, INPUTS, own_product=True)
    assert (plain.yours, plain.divergence) == (["1.1"], None)
    assert (result.yours, result.divergence, result.failures) == (["1.2"], None, [])


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


def test_a_layer_of_another_shape_is_named_though_the_next_one_raises(syllabus: Syllabus) -> None:
    """The second operator is kuiper's and cannot take what the first one has made."""
    graph = GRAPH.replace("nn.ReLU second 1 1 1 2", "nn.Softmax second 1 1 1 2 dim=1")
    solve(syllabus, "1.1", ("x * 2", "x[0]"))
    result = race(Selection(syllabus), "graph", lambda optimize: built(graph, optimize), INPUTS)
    assert result.divergence
    assert (result.divergence.operator, result.divergence.error) == ("first", float("inf"))
    assert str(result.divergence) == "first -> 1.1 double (nn.ReLU, shape (3,) where (1, 3) is expected)"
    assert (result.yours, list(result.ladder)) == (["1.1"], ["kuiper, operator by operator", "kuiper"])


def test_a_layer_of_another_dtype_is_named_though_the_numbers_agree(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x.astype('float64') * 2"))
    divergence = race(Selection(syllabus), "graph", load, INPUTS).divergence
    assert str(divergence) == "first -> 1.1 double (nn.ReLU, float64 where float32 is expected)"


@pytest.mark.usefixtures("pseudo_language")
def test_a_layer_of_another_dtype_is_named_in_the_students_language(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x.astype('float64') * 2"))
    divergence = race(Selection(syllabus), "graph", load, INPUTS).divergence
    assert "float64⟦ where ⟧float32⟦ is expected⟧" in str(divergence)


@pytest.mark.parametrize(("covered", "yours"), [("True", ["1.1"]), ("op.name == 'first'", [])])
def test_an_adapter_must_cover_all_operators_of_a_type(syllabus: Syllabus, covered: str, yours: list[str]) -> None:
    solve(syllabus, "1.1")
    adapters = syllabus.root / "course1_made_up" / "adapters.py"
    adapters.write_text(ADAPTERS + f"\n    @staticmethod\n    def covers(op):\n        return {covered}\n")
    result = race(Selection(syllabus), "graph", load, INPUTS)
    assert (result.yours, result.reference) == (yours, [])


@pytest.mark.parametrize("name", ["resnet20", "expressions"])
def test_contestants_run(name: str) -> None:
    load, inputs = candidate(name)
    assert np.isfinite(np.asarray(load(False)(*inputs))).all()
