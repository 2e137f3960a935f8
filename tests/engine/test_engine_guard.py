"""A plan that cannot be made is no error: the layers answer, or say what is wrong, as they would alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kuiper
from kuiper.graph import RuntimeGraph
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.layers import Layer, override, registry
from tests.engine.models import both, numbers
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, file_graph, norm, relu

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


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


def test_a_pass_that_was_asked_for_and_fails_says_so() -> None:
    def failing(operators: list[RuntimeOperator], registry: Any) -> list[RuntimeOperator]:
        raise IndexError("out of range")

    graph = RuntimeGraph(file_graph(INPUT, conv("x y"), OUTPUT))
    with pytest.raises(IndexError):
        graph.build(registry, optimize=True, passes=[*DEFAULT_PASSES, failing])
