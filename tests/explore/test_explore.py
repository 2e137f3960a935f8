"""The page as a whole: its numbers are those of summary and plan, and any model gives a page or an error."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.explore.explore import explore
from kuiper.explore.operators import formula
from kuiper.explore.page import Page
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.runtime_operator import RuntimeOperator
from kuiper.graph.summary import Summary
from kuiper.language import speaking
from kuiper.layers import registry
from kuiper.layers.fused.conv2d import FusedConv1d
from kuiper.models import bundled
from tests.explore.nets import net
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = [
    "</script><script>alert(1)</script>",
    "\"'&<!--",
    "層\u202e一",
    "x" * 10_000,
    "a\x1b[2J\x07b",
    "\u2028\ud800",
]


@pytest.fixture(scope="module")
def resnet() -> tuple[RuntimeGraph, np.ndarray, dict[str, Any]]:
    model = kuiper.load(bundled("cifar_resnet20"))
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), np.float32)
    return model, x, explore(model, x).data


def data_in(html: str) -> dict[str, Any]:
    """What a browser would read as the page's data."""
    (text,) = re.findall(r'<script type="application/json" id="network">(.*?)</script>', html, re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def array_of(table: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(table["data"]), "<f4").reshape(table["shape"])


def test_explore_has_the_numbers_of_summary(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    model, x, data = resnet
    summary = Summary.of(model, (x,))
    assert (data["model"]["parameters"], data["model"]["flops"]) == (summary.parameters, summary.flops)
    for row in summary.rows:
        operator = data["operators"][row.name]
        assert (operator["type"], operator["parameters"], operator["flops"]) == (row.type, row.parameters, row.flops)
        for key, shape in zip(operator["outputs"], row.outputs, strict=True):
            assert data["values"][key]["shape"] == list(shape or ())


def test_explore_has_the_steps_of_plan(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    model, x, data = resnet
    rows = model.plan(x, runs=1).rows
    steps = data["plan"]["steps"]
    assert [(step["operator"], step["algorithm"], str(step["tasks"])) for step in steps] == [
        (row[0], row[2], row[3]) for row in rows
    ]
    assert [f"{step['bytes'] * 1e-6:.2f}" for step in steps] == [row[4] for row in rows]
    assert all(step["measured"] > 0 for step in steps)
    owners = [name for name, operator in data["operators"].items() for _ in operator["steps"]]
    assert len(owners) == len(steps)


def test_explore_says_what_each_step_is_for(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    steps = resnet[2]["plan"]["steps"]
    ends = {"import": "Brings an input", "export": "Copies an output"}
    assert (steps[0]["kind"], steps[-1]["kind"]) == tuple(ends)
    for step in steps:
        assert step["kind"] in (*ends, "chain", "compute")
        assert step["rejected"] or step["kind"] not in ends or step["why"].startswith(ends[step["kind"]])


def test_explore_says_what_the_planner_rejected(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    steps = [step for step in resnet[2]["plan"]["steps"] if step["rejected"]]
    assert len(steps) >= 17  # every 3 x 3 convolution but the first
    for step in steps:
        stride = " /2" if any("/2" in other["algorithm"] for other in step["rejected"]) else ""
        ways = {"direct 3x3", f"Winograd F(2,3){stride}", f"Winograd F(4,3){stride}"}
        assert {other["algorithm"] for other in step["rejected"]} < ways
        assert step["expected"] <= min(other["expected"] for other in step["rejected"])


def test_explore_keeps_exact_values_of_the_run(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    model, x, data = resnet
    (operand,) = model.output_operators[0].inputs
    np.testing.assert_allclose(
        array_of(data["values"][operand.name]["exact"]), np.asarray(model(x)), rtol=1e-4, atol=1e-5
    )
    assert (array_of(data["values"][data["model"]["inputs"][0]["value"]]["exact"]) == x).all()


def test_a_pixel_can_be_computed_from_what_the_page_has(
    resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]],
) -> None:
    _, _, data = resnet
    name = "convbn2d_2+add+relu"
    operator, window = data["operators"][name], data["windows"][name]
    x, weights, bias = (
        array_of(t) for t in (data["values"][operator["inputs"][0]]["exact"], window["weights"], window["bias"])
    )
    residual = array_of(data["values"][window["residual"]]["exact"])
    out = array_of(data["values"][operator["outputs"][0]]["exact"])
    channel, row, column = window["channels"].index(5), 7, 9
    top, left = row * window["stride"][0] - window["padding"][0], column * window["stride"][1] - window["padding"][1]
    total = float(
        (x[0, :, top : top + 3, left : left + 3] * weights[channel]).sum() + bias[5] + residual[0, 5, row, column]
    )
    assert window["activation"]["name"] == "relu"
    assert out[0, 5, row, column] == pytest.approx(max(total, 0.0), rel=1e-4, abs=1e-5)


def test_every_key_of_the_page_leads_somewhere(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    data = resnet[2]
    for before, stage in zip([None, *data["stages"]], data["stages"], strict=False):
        ids = [node["id"] for node in stage["nodes"]]
        assert ids == list(range(len(ids)))
        assert all(node["operator"] in data["operators"] for node in stage["nodes"])
        assert all(edge["from"] in ids and edge["to"] in ids for edge in stage["edges"])
        assert all(edge["value"] is None or edge["value"] in data["values"] for edge in stage["edges"])
        assert before is None or all(
            source < len(before["nodes"]) for node in stage["nodes"] for source in node["from"]
        )
    for operator in data["operators"].values():
        assert {*operator["inputs"], *operator["outputs"]} <= data["values"].keys()
    for run in data["runs"]:
        assert run["spans"]
        assert all(span.get("step", 0) < len(data["plan"]["steps"]) for span in run["spans"])
        assert all(span["operator"] in data["operators"] for span in run["spans"] if "operator" in span)


def test_runs_have_every_step_with_its_threads(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    model, x, _ = resnet
    before = kuiper.get_num_threads()
    kuiper.set_num_threads(2)
    try:
        data = explore(model, x).data
    finally:
        kuiper.set_num_threads(before)
    one, two = data["runs"][:2]
    assert (one["name"], two["name"]) == ("engine, 1 thread", "engine, 2 threads")
    steps = len(data["plan"]["steps"])
    assert [span["step"] for span in one["spans"]] == list(range(steps))
    assert {span["step"] for span in two["spans"]} == set(range(steps))
    assert {span["thread"] for span in two["spans"]} <= {0, 1}
    for run in (one, two):
        assert all(0 <= span["start"] <= span["start"] + span["time"] <= run["total"] + 1 for span in run["spans"])


def test_memory_is_the_arena_of_the_plan(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    memory = resnet[2]["memory"]
    assert memory["bound"] <= memory["arena"] <= memory["unshared"]
    assert memory["alive"][memory["peak_step"]] == memory["bound"]
    taken: list[dict[str, Any]] = []
    for one in memory["rectangles"]:
        assert one["offset"] + one["bytes"] <= memory["arena"]
        for other in taken:  # no two share a place at one time
            together = one["first"] <= other["last"] and other["first"] <= one["last"]
            overlap = (
                one["offset"] < other["offset"] + other["bytes"] and other["offset"] < one["offset"] + one["bytes"]
            )
            assert not (together and overlap)
        taken.append(one)
    assert sum(1 for one in taken if one["value"]) > 15


def test_texts_of_a_model_cannot_break_the_page() -> None:
    names = [name.replace(" ", "_") for name in HOSTILE]
    graph = pnnx.parse_param(
        "7767517\n3 2\npnnx.Input in 0 1 x #x=(1,4)f32\nnn.ReLU a 1 1 x y\npnnx.Output out 1 0 y\n", "m"
    )
    for name in names:
        graph.name = name  # type: ignore[attr-defined]
        graph.operators[1].name = name
        model = RuntimeGraph(graph, name=name)
        model.build(registry)
        html = explore(model, np.ones((1, 4), np.float32)).html
        assert html.count("<script") == html.count("</script>") == explore_scripts()
        data = data_in(html)
        assert any(node["type"] == "nn.ReLU" for node in data["stages"][0]["nodes"])
        html.encode("utf-8")


def explore_scripts() -> int:
    """How many scripts a page has, whatever the model."""
    model = net("pnnx.Input in 0 1 x #x=(1,4)f32", "nn.ReLU a 1 1 x y", "pnnx.Output out 1 0 y")
    return explore(model, np.ones((1, 4), np.float32)).html.count("<script")


def test_page_is_saved_and_framed(tmp_path: Path, resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    model, x, _ = resnet
    page = model.explore(x)
    page.save(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert data_in(html)["model"]["name"] == "cifar_resnet20"
    assert data_in(html)["model"]["kuiper"] == kuiper.__version__
    assert not re.findall(r'(?:src|href)="(?!data:)', html.partition('id="network"')[0])
    frame = page._repr_html_()
    assert frame.startswith("<iframe")
    assert frame.count("<") == 2  # the frame's own tags: the document within is escaped


@pytest.mark.usefixtures("pseudo_language")
def test_a_page_says_what_python_sends_in_the_language_in_which_it_is_made(
    resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]],
) -> None:
    """Every sentence of the data; names, formulas without words and keys stay as they are."""
    model, x, english = resnet
    page = explore(model, x)
    data = page.data
    said = [stage["title"] for stage in data["stages"]]
    said += [step["why"] for step in data["plan"]["steps"]]
    said += [run["name"] for run in data["runs"]]
    said += [re.sub("`[^`]*`", "", operator["formula"]) for operator in data["operators"].values()]
    algorithms = {step["algorithm"] for step in data["plan"]["steps"]}
    algorithms |= {other["algorithm"] for step in data["plan"]["steps"] for other in step["rejected"]}
    for text in said:
        for name in sorted(algorithms, key=len, reverse=True):
            text = text.replace(name, "")
        assert escaped(text) == []
    assert '<html lang="xx">' in page.html
    assert "⟦Overview⟧" in page.html
    assert [stage["name"] for stage in data["stages"]] == [stage["name"] for stage in english["stages"]]
    assert data["operators"].keys() == english["operators"].keys()


@pytest.mark.parametrize(("name", "text"), [("en", "one. The same of"), ("zh", "第二个输入。序列 (n, c, l)")])
def test_formula_goes_on_from_what_stands_above_it(name: str, text: str) -> None:
    """A space parts two English sentences; a Chinese full stop has it within."""
    op = RuntimeOperator("kuiper.FusedConv1d", "conv")
    op.layer = object.__new__(FusedConv1d)
    with speaking(name):
        assert text in formula(op)


def test_an_english_page_has_no_messages(resnet: tuple[RuntimeGraph, np.ndarray, dict[str, Any]]) -> None:
    assert 'id="messages"' not in Page(resnet[2]).html
