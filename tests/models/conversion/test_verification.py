"""Comparison of a graph with a model; here the model is a function of arrays, and the graph is written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.errors import ExportError, UnsupportedOperatorError
from kuiper.models.conversion import verify
from kuiper.models.conversion.comparison import difference
from kuiper.models.conversion.diagnosis import first_difference
from kuiper.models.nested import flat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GRAPH = """7767517
5 4
pnnx.Input           in   0 1 0 #0=(2,3)f32
pnnx.Expression      half 1 1 0 1 expr=mul(@0,0.5) #0=(2,3)f32 #1=(2,3)f32
pnnx.Expression      more 1 1 1 2 expr=add(@0,1.0) #1=(2,3)f32 #2=(2,3)f32
F.relu               last 1 1 2 3 $input=2 #2=(2,3)f32 #3=(2,3)f32
pnnx.Output          out  1 0 3
"""
X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


class Function:
    """A model that is a function; its steps are what it yields before the last array."""

    name, framework = "net", "NumPy"

    def __init__(self, function: Callable[[np.ndarray], list[np.ndarray]], rounding: float | None = None) -> None:
        self.function, self.rounding = function, rounding
        self.shake = 0.0
        self.settled: Callable[[np.ndarray], tuple[list[np.ndarray], set[str]]] | None = None

    def answers(self, inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        return self.function(*inputs)[-1:]

    def exact_answers(self, inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        """What ``answers`` says, but for the rounding that this model is said to have."""
        return [] if self.rounding is None else [answer + self.rounding for answer in self.answers(inputs)]

    def settled_answers(self, inputs: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], set[str]]:
        """What a test says, if it says so."""
        return self.settled(*inputs) if self.settled else ([], set())

    def shaken_answers(self, inputs: tuple[np.ndarray, ...]) -> list[list[np.ndarray]]:
        """What ``answers`` says, moved by as much as a test says."""
        return [[answer + self.shake for answer in self.answers(inputs)]] if self.shake else []

    def suspect(self, param: str | Path, inputs: tuple[np.ndarray, ...], tolerance: float) -> str | None:
        """The first operator that computes what this function does not."""
        return first_difference(param, inputs, self.function(*inputs), tolerance) or None


def steps(x: np.ndarray, added: Any = 1) -> list[np.ndarray]:
    """What GRAPH computes, with another number added."""
    return [x / 2, x / 2 + added, np.maximum(x / 2 + added, 0)]


@pytest.fixture
def param(tmp_path: Path) -> Path:
    path = tmp_path / "net.pnnx.param"
    path.write_text(GRAPH)
    return path


@pytest.mark.parametrize(("rounding", "agrees"), [(None, False), (1e-4, True), (2e-5, False), (0.0, False)])
def test_a_difference_that_the_models_own_rounding_explains_is_accepted(
    rounding: float | None, agrees: bool, param: Path
) -> None:
    model = Function(lambda x: steps(x, 1 + 1e-4), rounding)
    comparison = verify(param, model, {"first": (X,)})
    assert comparison.agrees is agrees
    assert len(comparison.rounding) == agrees
    assert ("up to 4 times as far is accepted" in str(comparison.report())) is agrees


def test_a_large_difference_is_never_put_down_to_rounding(param: Path) -> None:
    assert not verify(param, Function(lambda x: steps(x, 1.1), 0.1), {"first": (X,)}).agrees


def test_a_graph_that_computes_the_same_agrees(param: Path) -> None:
    comparison = verify(param, Function(steps), {"first": (X,), "second": (-2 * X,)})
    assert comparison.agrees
    assert comparison.reason == comparison.suspect == ""
    assert [(row.inputs, row.output, row.shape) for row in comparison.rows] == [
        ("first", 0, "(2, 3)"),
        ("second", 0, "(2, 3)"),
    ]
    table = str(comparison.report())
    assert "kuiper beside NumPy" in table
    assert table.count("agrees") == 2
    assert "hardly changes" not in table


def test_a_graph_that_fails_where_the_model_runs_is_said_in_the_users_words(param: Path) -> None:
    param.write_text(GRAPH.replace("add(@0,1.0)", "add(@0,[1.0,2.0])"))
    with pytest.raises(ExportError, match=r"net: expected a graph that runs on first, as the model does, got an error"):
        verify(param, Function(steps), {"first": (X,)})


def test_what_other_roundings_explain_is_accepted_beyond_the_cap_if_each_operator_is_right(param: Path) -> None:
    """The cap on what rounding may do does not count where no operator alone differs."""
    wrong = [(0.1, "", True), (0.1, "nn.Conv2d 'c'", False), (0.01, "", False), (0.1, None, False)]
    for shake, blamed, agrees in wrong:
        model = Function(lambda x: steps(x, 1.1))
        model.shake = shake
        model.suspect = lambda *_, answer=blamed: answer  # type: ignore[method-assign]
        assert verify(param, model, {"first": (X,)}).agrees is agrees


def test_the_first_operator_that_differs_is_named(param: Path) -> None:
    comparison = verify(param, Function(lambda x: steps(x, 2)), {"first": (X,), "second": (-X,)})
    assert not comparison.agrees
    assert comparison.worst == pytest.approx(1 / 4.5)
    expected = "the first operator that computes something else is pnnx.Expression 'more' (add(@0,1.0))"
    assert comparison.reason == expected
    assert "differs" in str(comparison.report())


def test_a_difference_on_other_inputs_only_points_to_constants(param: Path) -> None:
    comparison = verify(param, Function(lambda x: steps(x, 1 if x[0, 0] < 0 else 3)), {"first": (X,), "second": (-X,)})
    assert [row.verdict for row in comparison.rows] == ["agrees", "differs"]
    assert comparison.reason.startswith("it agrees on the inputs it was made with")


def test_a_small_difference_may_be_rounding(param: Path) -> None:
    model = Function(lambda x: steps(x, np.float32(1.0001)))
    comparison = verify(param, model, {"first": (X,)})
    assert "may be rounding" in comparison.reason
    assert verify(param, model, {"first": (X,)}, tolerance=1e-3).agrees


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda y: y.astype(np.int64), "differs: (2, 3) float32, not (2, 3) int64"),
        (lambda y: y.reshape(3, 2), "differs: (2, 3) float32, not (3, 2) float32"),
        (lambda y: np.where(y > 1, np.nan, y), "differs"),
    ],
)
def test_shape_type_and_nan_are_compared_too(
    param: Path, change: Callable[[np.ndarray], np.ndarray], verdict: str
) -> None:
    comparison = verify(param, Function(lambda x: [*steps(x)[:2], change(steps(x)[2])]), {"first": (X,)})
    assert [row.verdict for row in comparison.rows] == [verdict]
    assert comparison.worst == float("inf")


def test_outputs_that_do_not_depend_on_the_input_are_noted(param: Path) -> None:
    comparison = verify(param, Function(steps), {"first": (X,), "second": (X + np.float32(1e-5),)})
    assert comparison.agrees
    assert "note: output 0 hardly changes with the inputs" in str(comparison.report())


def test_two_answers_to_the_same_inputs_are_refused(param: Path) -> None:
    generator = np.random.default_rng(0)
    model = Function(lambda x: steps(x, generator.random()))
    with pytest.raises(ExportError, match=r"net: expected the same answer to the same inputs, got two; dropout"):
        verify(param, model, {"first": (X,)})


@pytest.mark.parametrize(("count", "message"), [(0, "a tensor returned, got nothing"), (2, "2 outputs, got 1 from")])
def test_the_number_of_outputs_is_compared(param: Path, count: int, message: str) -> None:
    model = Function(steps)
    model.answers = lambda inputs: [inputs[0]] * count  # type: ignore[method-assign]
    with pytest.raises(ExportError, match=f"net: expected {message}"):
        verify(param, model, {"first": (X,)})


def test_operators_that_kuiper_lacks_are_all_named(param: Path) -> None:
    param.write_text(GRAPH.replace("F.relu ", "my.relu ").replace("pnnx.Expression      half", "my.half half"))
    with pytest.raises(UnsupportedOperatorError, match=r"net\.pnnx\.param: .*my\.half 'half'.*my\.relu 'last'"):
        verify(param, Function(steps), {"first": (X,)})


def test_first_difference_does_not_ask_for_the_same_layout(param: Path) -> None:
    half, more, last = steps(X)
    assert first_difference(param, [X], [half.reshape(6), more.reshape(3, 2), last[None]], 1e-5) == ""
    assert first_difference(param, [X], [half, more], 1e-5) == "F.relu 'last'"
    assert first_difference(param, [X], [more, last], 1e-5).startswith("pnnx.Expression 'half'")
    assert first_difference(param, [X], [], 1e-5) == ""


def test_difference_of_equal_infinities_is_none() -> None:
    a = np.array([1.0, np.inf, -np.inf, np.nan])
    assert difference(a, a) == 0
    assert difference(a, np.array([1.0, -np.inf, -np.inf, np.nan])) == np.inf
    assert difference(np.array([True, False]), np.array([True, True])) == 1
    assert difference(np.zeros(0), np.zeros(0)) == 0


def test_flat_leaves_none_out() -> None:
    assert list(flat({"a": [1, None, (2,)], "b": None})) == [1, 2]


def test_verify_judges_ties_by_the_first_of_equals(param: Path) -> None:
    model = Function(lambda x: steps(x, added=2))
    model.settled = lambda x: (steps(x)[-1:], {"torch.topk"})
    comparison = verify(param, model, {"a": (X,)})
    assert comparison.agrees
    assert comparison.ties == ("a: torch.topk chooses among equal numbers; it agrees if the first of them comes first",)
    assert "ties: a: torch.topk chooses among equal numbers" in str(comparison.report())


@pytest.mark.parametrize("met", [set(), {"torch.topk"}])
def test_verify_takes_no_ties_for_an_excuse(met: set[str], param: Path) -> None:
    model = Function(lambda x: steps(x, added=2))
    model.settled = lambda x: (steps(x, added=1 if not met else 3)[-1:], met)
    comparison = verify(param, model, {"a": (X,)})
    assert not comparison.agrees
    assert comparison.ties == ()
