"""What a graph says of wrong inputs, unknown operators and layers that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.errors import (
    DataTypeError,
    ExecutionError,
    ParameterError,
    ShapeError,
    UnsupportedOperatorError,
)
from kuiper.layers import Layer, override, registry
from tests.graph.graphs import DIAMOND, graph_of
from tests.graph.test_runtime_graph import X, built

if TYPE_CHECKING:
    from kuiper.graph import RuntimeOperator


def test_wrong_number_of_inputs_names_those_expected() -> None:
    with pytest.raises(ShapeError, match=r"graph: expected 1 inputs \('in'\), got 2"):
        built(DIAMOND)(X, X)


@pytest.mark.parametrize("value", ["text", [[1, 2], [3]], None, np.array([object()])])
def test_input_that_is_no_array_of_numbers_is_refused(value: object) -> None:
    with pytest.raises(DataTypeError, match=r"pnnx\.Input 'in'"):
        built(DIAMOND)(value)


def test_input_with_another_number_of_axes_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"pnnx.Input 'in': expected 2 axes as in \(2, 3\), got \(3,\)"):
        built(DIAMOND)(X[0])


def test_failure_of_an_operator_names_it_its_type_and_its_inputs() -> None:
    class Broken(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            raise ZeroDivisionError("oh")

    with override("nn.ReLU", Broken):
        graph = built(DIAMOND)
    with pytest.raises(ExecutionError) as caught:
        graph(X)
    assert str(caught.value) == "nn.ReLU 'left': expected a result, got ZeroDivisionError: oh; inputs: (2, 3)"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_shape_error_of_a_layer_gets_the_shapes_of_all_inputs() -> None:
    text = """7767517
4 3
pnnx.Input a 0 1 0
pnnx.Input b 0 1 1
torch.cat join 2 1 0 1 2 dim=0
pnnx.Output out 1 0 2
"""
    with pytest.raises(ShapeError, match=r"torch.cat 'join'.*inputs: \(2, 3\), \(1, 4\)$"):
        built(text)(X, np.ones((1, 4)))


def test_wrong_number_of_outputs_from_a_layer_is_an_error() -> None:
    class One(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            return x

    text = """7767517
3 3
pnnx.Input in 0 1 0
torch.chunk cut 1 2 0 1 2 chunks=2 dim=0
pnnx.Output out 1 0 2
"""
    with override("torch.chunk", One):
        graph = built(text)
    with pytest.raises(ExecutionError, match=r"torch.chunk 'cut': expected 2 outputs, got ndarray"):
        graph(X)


def test_unknown_operators_are_all_listed_at_once() -> None:
    text = """7767517
5 4
pnnx.Input in 0 1 0
nn.Relu a 1 1 0 1
nn.Relu b 1 1 1 2
my.Thing c 1 1 2 3
pnnx.Output out 1 0 3
"""
    with pytest.raises(UnsupportedOperatorError) as caught:
        built(text)
    message = str(caught.value)
    assert "nn.Relu 'a' and 1 more (similar: nn.ReLU" in message
    assert "my.Thing 'c'" in message
    assert message.endswith("see docs/inside/add-a-layer.md")


def test_missing_parameter_names_operator_and_parameter() -> None:
    text = """7767517
3 2
pnnx.Input in 0 1 0
torch.transpose turn 1 1 0 1 dim1=1
pnnx.Output out 1 0 1
"""
    with pytest.raises(
        ParameterError, match=r"torch.transpose 'turn': expected a parameter 'dim0', got parameters: dim1"
    ):
        built(text)


class OwnError(kuiper.KuiperError):
    """A user's class of errors, made from other arguments than kuiper's."""

    def __init__(self, code: int) -> None:
        super().__init__("my layer", "luck", code)
        self.code = code


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (
            MemoryError("no 3 GiB"),
            kuiper.OutOfMemoryError,
            "nn.ReLU 'left': expected enough memory, got MemoryError: no",
        ),
        (MemoryError(), MemoryError, r"nn.ReLU 'left': expected enough memory, got MemoryError; inputs: \(2, 3\)"),
        (RecursionError("deep"), ExecutionError, "nn.ReLU 'left': expected a result, got RecursionError: deep"),
        (OwnError(7), OwnError, r"nn.ReLU 'left': my layer: expected luck, got 7; inputs: \(2, 3\)"),
    ],
)
@pytest.mark.parametrize("engine", [None, Engine])
def test_whatever_a_users_layer_raises_is_a_kuiper_error(
    raised: Exception, expected: type[Exception], message: str, engine: Any
) -> None:
    class Fails(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            if x.any():
                raise raised
            return np.maximum(x, 0)

    with override("nn.ReLU", Fails):
        graph = graph_of(DIAMOND)
        graph.build(registry, engine=engine)
    with pytest.raises(kuiper.KuiperError, match=message) as caught:
        graph.forward(X)
    assert isinstance(caught.value, expected)
    assert not graph.forward(np.zeros_like(X)).any()
    if isinstance(raised, OwnError):
        assert caught.value.code == 7  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", [None, Engine])
@pytest.mark.parametrize("answer", [None, 7, "seven", [1, 2]])
def test_a_layer_that_returns_no_array_after_planning_is_no_crash(answer: object, engine: Any) -> None:
    class Odd(Layer):
        def forward(self, x: np.ndarray) -> Any:
            return answer if x.any() else np.maximum(x, 0)

    with override("nn.ReLU", Odd):
        graph = graph_of(DIAMOND)
        graph.build(registry, engine=engine)
    assert not graph.forward(np.zeros_like(X)).any()
    with pytest.raises(kuiper.KuiperError, match=r"torch.cat 'join'"):
        graph.forward(X)


@pytest.mark.parametrize(
    ("raised", "expected"), [(ValueError("stop"), ExecutionError), (MemoryError(), kuiper.OutOfMemoryError)]
)
def test_failure_of_an_observer_names_the_operator(raised: Exception, expected: type[Exception]) -> None:
    def observer(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        raise raised

    graph = built(DIAMOND)
    with pytest.raises(expected, match=r"^nn.ReLU 'left': expected ") as caught:
        graph.forward(X, observer=observer)
    assert caught.value.__cause__ is raised
    assert graph.forward(X).shape == (2, 6)
