"""A plan that cannot be made is no error: the layers answer, or say what is wrong, as they would alone."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine import graph_walk
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph
from kuiper.graph.passes import DEFAULT_PASSES, remove_no_ops
from kuiper.layers import Layer, override, registry
from tests.engine.models import both, numbers
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, file_graph, norm, relu

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@pytest.mark.parametrize("error", [ValueError("no"), MemoryError(), OverflowError("long"), ZeroDivisionError()])
def test_a_lowering_that_fails_leaves_the_work_to_the_layers(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise error

    fast, plain = both(INPUT, conv("x y"), OUTPUT)
    monkeypatch.setattr(graph_walk, "find_lowering", lambda layer: failing)
    x = numbers(2, 4, 6, 5)
    np.testing.assert_array_equal(np.asarray(fast(x)), np.asarray(plain(x)))
    assert isinstance(fast._execution.executor, Engine)
    assert fast._execution.executor.refusal == f"{type(error).__name__}: {error}"


def test_a_plan_that_cannot_be_made_keeps_no_array_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise ValueError("no")

    fast, _ = both(INPUT, conv("x y"), OUTPUT)
    monkeypatch.setattr(graph_walk, "find_lowering", lambda layer: failing)
    x = numbers(2, 4, 6, 5)
    gone = weakref.ref(x)
    gc.disable()  # what only the collector finds stays until it comes by
    try:
        fast(x)
        del x
        assert gone() is None
    finally:
        gc.enable()


class NeverMade(Layer):
    """A layer whose class fails."""

    def __init__(self, op: RuntimeOperator) -> None:
        raise ZeroDivisionError("by zero")


def test_a_layer_that_cannot_be_made_is_one_error_with_the_name_of_the_operator() -> None:
    graph = RuntimeGraph(file_graph(INPUT, relu("x y", name="act"), OUTPUT))
    expected = "nn.ReLU 'act': expected parameters and weights that fit together, got ZeroDivisionError: by zero"
    with override("nn.ReLU", NeverMade), pytest.raises(kuiper.ExecutionError) as error:
        graph.build(registry)
    assert str(error.value) == expected
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_errors_name_the_operator_of_the_file_not_the_fused_one() -> None:
    fast, plain = both(INPUT, conv("x 1", name="first"), norm("1 2"), relu("2 y"), OUTPUT)
    assert [op.name for op in fast.order if op.layer is not None] == ["first+bn+relu"]
    texts = []
    for model in (fast, plain):
        with pytest.raises(kuiper.ShapeError) as error:
            model(numbers(2, 5, 6, 5))
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    assert texts[0].startswith("nn.Conv2d 'first': expected input (n, 4, h, w), got (2, 5, 6, 5)")


def test_a_default_pass_that_fails_leaves_the_operators_as_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(operators: list[RuntimeOperator], registry: Any) -> list[RuntimeOperator]:
        raise IndexError("out of range")

    graph = RuntimeGraph(file_graph(INPUT, conv("x 1"), relu("1 y"), OUTPUT))
    passes = (remove_no_ops, failing)
    monkeypatch.setattr("kuiper.graph.runtime_graph.DEFAULT_PASSES", passes)
    graph.build(registry, optimize=True, engine=Engine)
    assert [op.type for op in graph.order if op.layer is not None] == ["nn.Conv2d", "nn.ReLU"]
    assert np.asarray(graph(numbers(2, 4, 6, 5))).shape == (2, 4, 6, 5)


def test_a_pass_that_was_asked_for_and_fails_says_so() -> None:
    def failing(operators: list[RuntimeOperator], registry: Any) -> list[RuntimeOperator]:
        raise IndexError("out of range")

    graph = RuntimeGraph(file_graph(INPUT, conv("x y"), OUTPUT))
    with pytest.raises(IndexError):
        graph.build(registry, optimize=True, passes=[*DEFAULT_PASSES, failing])
