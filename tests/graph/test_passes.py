"""All passes together: how they are chosen, what the default ones make of whole networks, and random chains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kuiper
from kuiper.errors import ParameterError, UnsupportedOperatorError
from kuiper.graph import RuntimeGraph
from kuiper.graph import passes as package
from kuiper.graph.passes import DEFAULT_PASSES, find_passes, fuse_activation_into_conv, remove_no_ops
from kuiper.layers import ParamLayer, override, registry
from kuiper.models import bundled
from tests.arrays import assert_close
from tests.graph.pass_graphs import (
    IMAGE,
    INPUT,
    OUTPUT,
    assert_wired,
    build,
    conv,
    expression,
    file_graph,
    norm,
    relu,
    types,
)

if TYPE_CHECKING:
    from kuiper.graph import RuntimeOperator

CIFAR = bundled("cifar_resnet20")
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "passes.md").read_text(encoding="utf-8")
PHOTO = np.random.default_rng(0).standard_normal((1, 3, 32, 32)).astype(np.float32)


def kinds(model: RuntimeGraph) -> dict[str, int]:
    found = types(model)
    return {name: found.count(name) for name in found}


def test_find_passes_takes_functions_and_names() -> None:
    assert find_passes(["remove_no_ops", fuse_activation_into_conv]) == [remove_no_ops, fuse_activation_into_conv]
    assert find_passes("remove_no_ops") == [remove_no_ops]
    assert find_passes(()) == []


def test_find_passes_lists_all_names_for_an_unknown_one() -> None:
    with pytest.raises(ParameterError, match=r"passes: expected passes among remove_no_ops, .*, got 'fuse_everything'"):
        find_passes(["fuse_everything"])


def test_every_pass_is_exported_and_explains_itself() -> None:
    for function in DEFAULT_PASSES:
        assert getattr(package, function.__name__) is function
        module = __import__(function.__module__, fromlist=["x"])
        assert "before " in module.__doc__
        assert "after " in module.__doc__


def test_load_takes_passes() -> None:
    def count(operators: list[RuntimeOperator], registry: object) -> list[RuntimeOperator]:
        seen.append(len(operators))
        return operators

    seen: list[int] = []
    plain = kuiper.load(CIFAR, optimize=False)
    fused = kuiper.load(CIFAR, optimize=False, passes=[count, "fuse_add_into_conv", count, fuse_activation_into_conv])
    assert kinds(plain)["nn.Conv2d"] == 21
    assert kinds(fused) == {
        "kuiper.FusedConv2d": 19,
        "nn.Conv2d": 2,
        "nn.AdaptiveAvgPool2d": 1,
        "torch.flatten": 1,
        "nn.Linear": 1,
    }
    assert seen == [len(plain.operators), len(plain.operators) - 9]
    np.testing.assert_allclose(fused.forward(PHOTO), plain.forward(PHOTO), rtol=0, atol=1e-4)


def test_load_without_passes_keeps_every_operator() -> None:
    plain = kuiper.load(CIFAR, optimize=False)
    assert len(kuiper.load(CIFAR, optimize=True, passes=()).operators) == len(plain.operators)


def test_load_names_the_model_when_a_pass_is_unknown() -> None:
    with pytest.raises(ParameterError, match=r"cifar_resnet20\.pnnx\.param: expected passes among"):
        kuiper.load(CIFAR, passes=["fuse"])


def test_passes_show_in_summary_profile_and_drawing() -> None:
    model = kuiper.load(CIFAR, optimize=False, passes=DEFAULT_PASSES)
    for text in (str(model.summary()), str(model.profile(PHOTO, runs=1)), model.draw().mermaid()):
        assert "kuiper.FusedConv2d" in text
        assert "+add+relu" in text


def test_passes_call_every_layer_of_a_student() -> None:
    class Mine(registry._factories["nn.ReLU"]):  # type: ignore[misc]
        """kuiper's own class, but put in by hand."""

        def forward(self, x: np.ndarray) -> np.ndarray:
            calls.append(self.op.name)
            return super().forward(x)

    calls: list[str] = []
    expected = kuiper.load(CIFAR, optimize=False).forward(PHOTO)
    with override("nn.ReLU", Mine):
        model = kuiper.load(CIFAR, optimize=False, passes=DEFAULT_PASSES)
    np.testing.assert_allclose(model.forward(PHOTO), expected, rtol=0, atol=1e-4)
    assert len(calls) == 19
    assert kinds(model)["kuiper.FusedConv2d"] == 9  # those with an addition


def test_passes_make_no_layer_for_what_disappears(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    init = ParamLayer.__init__

    def noting(self: ParamLayer, op: RuntimeOperator, weight_shape: tuple[int, ...]) -> None:
        made.append(op.name)
        init(self, op, weight_shape)

    monkeypatch.setattr(ParamLayer, "__init__", noting)
    build(file_graph(INPUT, conv("x 1"), norm("1 2"), relu("2 y"), OUTPUT), *DEFAULT_PASSES)
    assert made == ["conv+bn+relu"]


def test_layers_of_passes_pack_weights_at_the_first_forward_pass_only() -> None:
    model = build(file_graph(INPUT, conv("x 1"), relu("1 y"), OUTPUT), *DEFAULT_PASSES)
    layer = model.order[1].layer
    assert "kernels" not in vars(layer)
    model.forward(np.ones((2, 4, 6, 5)))
    packed = vars(layer)["kernels"]
    model.forward(np.ones((2, 4, 6, 5)))
    assert vars(layer)["kernels"] is packed


def test_passes_of_a_graph_that_is_built_twice_run_once() -> None:
    graph = RuntimeGraph(file_graph(INPUT, conv("x 1"), relu("1 y"), OUTPUT))
    graph.build(registry, optimize=True)
    operators = graph.operators
    graph.build(registry, passes=[])
    assert graph.operators is operators


def test_build_that_fails_starts_from_the_file_again() -> None:
    drop = relu("2 3", "drop", "nn.Dropout", "training=True")
    lines = (INPUT, relu("x 1", "same", "nn.Identity"), relu("1 2"), drop, relu("3 y", "last"), OUTPUT)
    graph = RuntimeGraph(file_graph(*lines))
    with pytest.raises(UnsupportedOperatorError, match="expected training=False"):
        graph.build(registry, passes=DEFAULT_PASSES)
    with override("nn.Dropout", registry._factories["nn.Identity"]):
        graph.build(registry)
    assert types(graph) == ["nn.Identity", "nn.ReLU", "nn.Dropout", "nn.ReLU"]
    assert_wired(graph)


def test_page_lists_the_default_passes_in_their_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert rows == [function.__name__ for function in DEFAULT_PASSES]


def test_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "passes.md", "exec"), scope)
    assert len(scope["plain"].operators) == 54
    assert len(scope["fused"].operators) == 26
    assert any(op.name == "convbn2d_2+add+relu" for op in scope["fused"].operators)
    negations = [expression("neg(@0)", f"{a} {b}", f"neg{b}") for a, b in ("x1", "12", "2y")]
    model = build(file_graph(INPUT, *negations, OUTPUT), scope["skip_negations_of_negations"], "eliminate_dead_code")
    assert_wired(model)
    np.testing.assert_array_equal(model.forward(np.ones((2, 4, 6, 5))), -np.ones((2, 4, 6, 5)))
    assert len(types(model)) == 1


STEPS = ("conv", "grouped", "bn", "relu", "relu6", "silu", "dropout", "add", "scaled", "gate", "constant", "again")


def random_step(step: str, i: int, a: str, b: str) -> list[str]:
    """The lines of one step, which reads ``a`` and perhaps ``b`` and makes ``v<i>``."""
    wires, name = f"{a} v{i}", f"op{i}"
    single = {
        "conv": conv(wires, name),
        "grouped": conv(wires, name, bias=False, groups=2),
        "bn": norm(wires, name) + f" #v{i}={IMAGE}",
        "relu": relu(wires, name),
        "relu6": relu(wires, name, "F.relu6"),
        "silu": relu(wires, name, "nn.SiLU"),
        "dropout": relu(wires, name, "nn.Dropout"),
        "add": expression("add(@0,@1)", f"{a} {b} v{i}", name),
        "scaled": expression("add(mul(@0,0.5),@1)", f"{a} {b} v{i}", name),
        "constant": f"pnnx.Attribute {name} 0 1 v{i} @data={IMAGE} #v{i}={IMAGE}",
    }
    gate = [relu(f"{a} s{i}", f"sigmoid{i}", "F.sigmoid"), expression("mul(@0,@1)", f"{a} s{i} v{i}", name)]
    return [single[step]] if step in single else gate


@st.composite
def random_lines(draw: st.DrawFn) -> list[str]:
    """The lines of a graph of 1 to 14 steps, each on some of the last three values; one or two values are returned."""
    lines, values = [INPUT], ["x"]
    step, a, b = "conv", "x", "x"
    for i in range(draw(st.integers(1, 14))):
        following = draw(st.sampled_from(STEPS))
        if following != "again":  # again: the same step on the same values
            step, a, b = following, draw(st.sampled_from(values[-3:])), draw(st.sampled_from(values[-3:]))
        lines += random_step(step, i, a, b)
        values.append(f"v{i}")
    outputs = [values[-1], *draw(st.lists(st.sampled_from(values), max_size=1))]
    return lines + [f"pnnx.Output out{k} 1 0 {value}" for k, value in enumerate(outputs)]


@given(random_lines(), st.integers(0, 100), st.booleans())
@settings(max_examples=80)
def test_default_passes_keep_the_numbers_of_random_graphs(lines: list[str], seed: int, equal_weights: bool) -> None:
    graph = file_graph(*lines, seed=seed)
    if equal_weights:
        first: dict[tuple[str, str, tuple[int, ...]], np.ndarray | None] = {}
        for op in graph.operators:
            for key, attr in op.attrs.items():
                attr.data = first.setdefault((op.type, key, attr.shape), attr.data)
    x = np.random.default_rng(seed).standard_normal((2, 4, 6, 5)).astype(np.float32)
    plain, model = build(graph), build(graph, *DEFAULT_PASSES)
    assert_wired(model)
    assert_close(model.forward(x), plain.forward(x), tolerance=1e-4)  # relu6 may cut off large values that differ
    assert len(model.operators) <= len(plain.operators)
    again = model.operators
    for rewrite in DEFAULT_PASSES:
        again = rewrite(again, registry)
    assert again == model.operators  # once was enough
