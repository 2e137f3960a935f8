"""Whose memory an output is: the caller's alone, whatever the operator, on both paths."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.layers import Layer, override
from tests.engine.models import both, numbers
from tests.fixtures.operator_files import case_names, graph_file, inputs_of
from tests.graph.pass_graphs import INPUT, OUTPUT, relu
from tests.layers.test_operators_against_torch import arrays_of
from tests.sweeps import swept

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.graph import RuntimeGraph


def kept_by(model: RuntimeGraph) -> list[np.ndarray]:
    """The arrays that a model holds: its weights, and what its layers have made of them."""
    layers = [op.layer for op in model.operators if op.layer is not None]
    held = [value for layer in layers for value in vars(layer).values() if isinstance(value, np.ndarray)]
    return [attr.data for op in model.operators for attr in op.attrs.values()] + held


def scribble(arrays: list[np.ndarray]) -> None:
    """Change every number."""
    for array in arrays:
        array[...] = ~array if array.dtype.kind == "b" else array + array.dtype.type(7)


@pytest.mark.parametrize("name", swept(case_names()))
def test_outputs_of_every_operator_are_the_callers_alone(name: str) -> None:
    given = inputs_of(name)
    for optimize in (False, True):
        assert_outputs_are_the_callers_alone(graph_file(name), optimize, copy.deepcopy(given))


def assert_outputs_are_the_callers_alone(param: Path, optimize: bool, given: list[np.ndarray]) -> None:
    """No later run, no change of an input and no copy of the model reaches an output, and none reaches the model."""
    model = kuiper.load(param, optimize=optimize)
    inputs = copy.deepcopy(given)
    first = arrays_of(model(*inputs))
    expected = copy.deepcopy(first)
    earlier = arrays_of(model(*inputs))
    others = [*inputs, *kept_by(model), *earlier]
    for i, output in enumerate(first):
        assert output.flags.writeable
        assert not any(np.shares_memory(output, other) for other in [*others, *first[:i]])
    assert all(x.tobytes() == y.tobytes() for x, y in zip(inputs, given, strict=True))
    scribble([*earlier, *inputs])
    assert [y.tobytes() for y in first] == [y.tobytes() for y in expected]
    assert [y.tobytes() for y in arrays_of(model(*given))] == [y.tobytes() for y in expected]
    again = pickle.loads(pickle.dumps(model))
    assert [y.tobytes() for y in arrays_of(again(*given))] == [y.tobytes() for y in expected]


def answers(*lines: str, x: np.ndarray) -> list[list[np.ndarray]]:
    """What the graph of these lines gives on both paths; the input stays as it is when outputs are written to."""
    found = []
    for model in both(*lines):
        given = x.copy()
        outputs = arrays_of(model(given))
        expected = copy.deepcopy(outputs)
        scribble(outputs[:1])
        np.testing.assert_array_equal(given, x)
        for got, before in zip(outputs[1:], expected[1:], strict=True):
            np.testing.assert_array_equal(got, before)
        for got, before in zip(arrays_of(model(given)), expected, strict=True):
            np.testing.assert_array_equal(got, before)
        found.append(expected)
    return found


def test_an_input_that_is_an_output_is_copied() -> None:
    x = numbers(1, 4, 3, 2)
    for (y,) in answers("pnnx.Input in 0 1 x #x=(1,4,3,2)f32", "pnnx.Output out 1 0 x", x=x):
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize(
    "view",
    [
        "nn.Dropout d 1 1 x y p=0.5",
        "Tensor.reshape r 1 1 x y shape=(4,6)",
        "Tensor.expand e 1 1 x y shape=(3,4,3,2)",
        "Tensor.permute p 1 1 x y dims=(0,2,3,1)",
        "Tensor.slice s 1 1 x y dim=1 start=0 end=2 step=1",
    ],
)
def test_a_view_of_an_input_is_copied(view: str) -> None:
    answers("pnnx.Input in 0 1 x #x=(1,4,3,2)f32", view, OUTPUT, x=numbers(1, 4, 3, 2))


def test_two_outputs_that_are_one_operand_are_two_arrays() -> None:
    lines = (INPUT, relu("x y"), "pnnx.Output out 2 0 y y")
    for one, two in answers(*lines, x=numbers(2, 4, 6, 5)):
        np.testing.assert_array_equal(one, two)


def test_two_outputs_of_which_one_is_a_view_are_two_arrays() -> None:
    lines = (INPUT, relu("x y"), "Tensor.permute p 1 1 y z dims=(0,2,3,1)", "pnnx.Output out 2 0 z y")
    for one, two in answers(*lines, x=numbers(2, 4, 6, 5)):
        np.testing.assert_array_equal(one, two.transpose(0, 2, 3, 1))


def test_what_a_users_layer_keeps_is_copied() -> None:
    class Reuses(Layer):
        """Writes every answer to the same memory."""

        def forward(self, x: np.ndarray) -> np.ndarray:
            if not hasattr(self, "memory") or self.memory.shape != x.shape:
                self.memory = np.empty(x.shape, np.float32)
            return np.multiply(x, np.float32(2), out=self.memory)

    with override("nn.ReLU", Reuses):
        models: tuple[Any, ...] = both(INPUT, relu("x y"), OUTPUT)
    x = numbers(2, 4, 6, 5)
    for model in models:
        first = model(x)
        model(-x)
        np.testing.assert_array_equal(np.asarray(first), 2 * x)


def test_an_output_that_the_layer_has_just_made_is_not_copied() -> None:
    made = []

    class Notes(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            made.append(x * np.float32(2))
            return made[-1]

        def returns_ownership(self, result: np.ndarray) -> bool:
            return result is made[-1]

    with override("nn.ReLU", Notes):
        models: tuple[Any, ...] = both(INPUT, relu("x y"), OUTPUT)
    for model in models:
        assert np.shares_memory(np.asarray(model.forward(numbers(2, 4, 6, 5))), made[-1])
