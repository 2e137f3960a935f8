"""A pass that fails by mistake leaves the model as it stands in the file, and is told."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine import graph_lowering
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph
from kuiper.graph.passes import remove_no_ops
from kuiper.layers import registry
from kuiper.layers.operators.permute import Permute
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, file_graph

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
from tests.engine.test_fallback import LINES, Patch, X, fails


def a_pass(patch: Patch) -> None:
    def failing(operators: list[RuntimeOperator], registry: Any) -> list[RuntimeOperator]:
        raise IndexError("out of range")

    patch.setattr("kuiper.graph.runtime_graph.DEFAULT_PASSES", (remove_no_ops, failing))


CONSTANT = (
    "pnnx.Attribute c 0 1 c @data=(6,5)f32 #c=(6,5)f32",
    "torch.permute turned 1 1 c t dims=(1,0)",
    "torch.permute back 1 1 t b dims=(1,0)",
    "pnnx.Expression expr 2 1 1 b y expr=add(@0,@1)",
)


def built(*lines: str) -> RuntimeGraph:
    graph = RuntimeGraph(file_graph(*lines))
    graph.build(registry, optimize=True, engine=Engine)
    return graph


@pytest.mark.usefixtures("lenient")
def test_a_default_pass_that_fails_is_told_and_leaves_the_operators_as_in_the_file(monkeypatch: Patch) -> None:
    a_pass(monkeypatch)
    with pytest.warns(kuiper.FallbackWarning) as told:
        graph = built(*LINES)
    reason = "the pass failing: IndexError: out of range; the model runs without passes, slower"
    assert str(told[0].message).startswith(f"graph: expected the default passes to succeed, got {reason}; ")
    assert len(told) == 1
    assert [op.type for op in graph.order if op.layer is not None] == ["nn.Conv2d", "nn.ReLU"]
    assert np.asarray(graph(X)).shape == X.shape
    assert graph.fallbacks == copy.copy(graph).fallbacks == (reason,)
    assert str(graph.plan(X, runs=1)).endswith(f"\n{reason}")


@pytest.mark.usefixtures("lenient")
def test_a_model_whose_passes_have_failed_is_not_told_of_again(monkeypatch: Patch) -> None:
    a_pass(monkeypatch)
    with pytest.warns(kuiper.FallbackWarning):
        graph = built(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: fails)
    graph(X)
    copy.copy(graph)(X)
    assert [text.partition(":")[0] for text in graph.fallbacks] == ["the pass failing", "nn.Conv2d 'conv'"]


def test_a_default_pass_that_fails_is_its_error_where_kuiper_is_strict(monkeypatch: Patch) -> None:
    a_pass(monkeypatch)
    with pytest.raises(IndexError, match="out of range") as raised:
        built(*LINES)
    assert vars(raised.value)["__notes__"][0] == "the pass failing"


@pytest.mark.usefixtures("lenient")
def test_a_constant_that_cannot_be_folded_is_told_with_its_operator(monkeypatch: Patch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Permute, "forward", fails)
        with pytest.warns(
            kuiper.FallbackWarning, match="the pass fold_constants: torch.permute 'turned': TypeError: no"
        ):
            graph = built(INPUT, conv("x 1"), *CONSTANT, OUTPUT)
    assert np.asarray(graph(X)).shape == X.shape


def test_a_constant_that_is_refused_is_left_to_the_run() -> None:
    graph = built(INPUT, conv("x 1"), *(line.replace("dims=(1,0)", "dims=(2,0)") for line in CONSTANT), OUTPUT)
    with pytest.raises(kuiper.KuiperError, match=r"torch\.permute 'turned'"):
        graph(X)


def test_what_is_wrong_with_a_file_is_no_mistake_of_the_passes() -> None:
    with pytest.raises(kuiper.ParameterError, match=r"torch\.permute 'turned'"):
        built(INPUT, conv("x 1"), *(line.replace("dims=(1,0)", "dims=no") for line in CONSTANT), OUTPUT)
