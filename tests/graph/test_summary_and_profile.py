from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import GraphStateError
from kuiper.graph import RuntimeGraph
from kuiper.graph.report import Column, Report
from kuiper.graph.summary import Summary
from kuiper.layers import registry
from kuiper.models import bundled
from tests.graph.graphs import DIAMOND, graph_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LINEAR = """7767517
4 3
pnnx.Input   in    0 1 0 #0=(2,8)f32
nn.ReLU      relu  1 1 0 1 #0=(2,8)f32 #1=(2,8)f32
nn.Linear    fc    1 1 1 2 bias=True in_features=8 out_features=4 @bias=(4)f32 @weight=(4,8)f32 #1=(2,8)f32 #2=(2,4)f32
pnnx.Output  out   1 0 2
"""


def linear(engine: Callable[[RuntimeGraph], Any] | None = None) -> RuntimeGraph:
    from kuiper.graph import pnnx
    from kuiper.graph.made_up import fill_random_weights

    file_graph = pnnx.parse_param(LINEAR, "linear.param")
    fill_random_weights(file_graph)
    graph = RuntimeGraph(file_graph, name="linear")
    graph.build(registry, engine=engine)
    return graph


def test_summary_counts_parameters_and_flops() -> None:
    summary = linear().summary()
    fc = next(row for row in summary.rows if row.name == "fc")
    assert fc.outputs == [(2, 4)]
    assert fc.parameters == 4 * 8 + 4
    assert fc.flops == 2 * 2 * 4 * 8 + 2 * 4
    assert summary.parameters == 36
    text = str(summary)
    assert "nn.Linear" in text
    assert "4 operators, 36 parameters" in text


def test_summary_of_a_run_shows_the_shapes_of_that_run() -> None:
    summary = Summary.of(linear(), (np.ones((5, 8), np.float32),))
    assert [row.outputs for row in summary.rows] == [[(5, 8)], [(5, 8)], [(5, 4)], []]


def test_summary_of_open_sizes_says_at_least() -> None:
    graph = graph_of(DIAMOND.replace("(2,3)", "(?,3)").replace("(2,6)", "(?,6)"))
    graph.build(registry)
    assert "(?, 6)" in str(graph.summary())


def test_summary_works_before_build() -> None:
    assert "5 operators, 0 parameters" in str(graph_of(DIAMOND).summary())


def test_profile_times_each_operator_once_per_run() -> None:
    profile = linear().profile(np.ones((2, 8), np.float32), runs=3)
    assert [row.name for row in profile.rows] == ["relu", "fc"]
    assert profile.total_microseconds >= max(row.last_microseconds for row in profile.rows)
    assert "median of 3 runs" in str(profile)


def test_chrome_trace_has_one_event_per_operator_in_order(tmp_path: Path) -> None:
    profile = linear().profile(np.ones((2, 8), np.float32), runs=1)
    profile.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["relu", "fc"]
    assert all(event["ph"] == "X" for event in events)
    assert 0 <= events[0]["ts"] <= events[0]["ts"] + events[0]["dur"] <= events[1]["ts"] + 1


class MadeUpEngine:
    """Says that relu took two steps and fc none; answers only if it is told to."""

    def __init__(self, graph: RuntimeGraph, answers: bool) -> None:
        self.graph, self.answers = graph, answers

    def run(self, inputs: Sequence[np.ndarray], /, observer: Any = None, **_: Any) -> tuple[Any, ...] | None:
        relu = next(op for op in self.graph.operators if op.name == "relu")
        for seconds in (3e-6, 4e-6) if observer else ():
            observer(SimpleNamespace(op=relu), seconds)
        return (np.zeros((2, 4), np.float32),) if self.answers else None

    def report(self, inputs: Sequence[np.ndarray], /, runs: int) -> Report:
        raise NotImplementedError


def test_profile_adds_up_the_steps_of_the_engine() -> None:
    profile = linear(lambda graph: MadeUpEngine(graph, answers=True)).profile(np.ones((2, 8), np.float32), runs=3)
    assert [row.name for row in profile.rows] == ["relu", "fc"]
    assert [row.microseconds for row in profile.rows] == pytest.approx([7, 0])
    assert [row.output for row in profile.rows] == ["(2, 8)", "(2, 4)"]
    relu, fc = profile.chrome_trace()["traceEvents"]
    assert relu["dur"] == pytest.approx(7)
    assert fc["ts"] == pytest.approx(relu["ts"] + 7, abs=0.01)


def test_profile_times_the_layers_where_the_engine_leaves_it_to_them() -> None:
    graph = linear(lambda graph: MadeUpEngine(graph, answers=False))
    times = graph.time_operators(np.ones((2, 8), np.float32))
    assert [time.op.name for time in times] == ["relu", "fc"]
    assert [row.name for row in graph.profile(np.ones((2, 8), np.float32), runs=1).rows] == ["relu", "fc"]


def test_profile_of_an_optimised_model_times_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    # On two, where cores are busy, the other may do a step before the one with the clock begins: the next has its time.
    monkeypatch.setattr("kuiper.threads._num_threads", 1)
    model = kuiper.load(bundled("cifar_resnet20"))
    profile = model.profile(np.ones((1, 3, 32, 32), np.float32), runs=2)
    names = {row.name: row for row in profile.rows}
    assert set(names) == {op.name for op in model.operators if op.type != "pnnx.Input"}
    assert names["torch.flatten_0"].microseconds == 0  # a view
    assert names["convbn2d_0+relu"].microseconds > 0
    starts = [row.last_start for row in profile.rows]
    assert starts == sorted(starts)


def test_time_operators_needs_a_built_graph() -> None:
    with pytest.raises(GraphStateError, match="a built graph"):
        graph_of(DIAMOND).time_operators(np.ones((2, 3), np.float32))


def test_report_as_text_is_whole_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """There rich would show the table in the cell, and leave nothing for the text."""
    outside = str(linear().summary())
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(linear().summary()) == outside
    assert "nn.Linear" in outside


def test_report_escapes_in_text_and_html() -> None:
    report = Report("a<b", [Column("x"), Column("n", numeric=True)], [("[bold]<i>", "1")], "end")
    assert "[bold]<i>" in str(report)
    assert "&lt;i&gt;" in report._repr_html_()
    assert 'text-align:right">1' in report._repr_html_()
