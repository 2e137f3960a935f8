"""What is no mistake of kuiper's: never a warning, and the same error with KUIPER_STRICT and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.engine import graph_lowering
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph
from kuiper.graph.fallback import Refusal
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.layers import Layer, override, registry
from kuiper.layers.operators.embedding import Embedding
from tests.engine.models import assert_close, both, numbers
from tests.engine.test_fallback import LINES, Patch, X, fails, on_the_arena, replace_forward
from tests.graph.pass_graphs import OUTPUT, file_graph


def refusal_of(model: RuntimeGraph, *inputs: np.ndarray) -> Refusal:
    """Why the engine leaves these inputs to the layers."""
    assert isinstance(model.execution.executor, Engine)
    answer = model.execution.executor.run(inputs)
    assert isinstance(answer, Refusal)
    return answer


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("x", [numbers(2, 5, 6, 5), numbers(4, 6, 5), np.array(["a"]), numbers(0, 4, 6, 5)[..., :0]])
def test_wrong_inputs_are_the_errors_of_the_layers(x: np.ndarray) -> None:
    fast, plain = both(*LINES)
    texts = []
    for model in (fast, plain):
        with pytest.raises(kuiper.KuiperError) as raised:
            model(x)
        texts.append(f"{type(raised.value).__name__}: {raised.value}")
    assert texts[0] == texts[1]
    assert fast.fallbacks == ()


@pytest.mark.usefixtures("either")
def test_a_mistake_while_the_layers_fail_too_is_their_error(monkeypatch: Patch) -> None:
    fast, _ = both(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: fails)
    with pytest.raises(kuiper.ShapeError, match=r"nn.Conv2d 'conv': expected input \(n, 4, h, w\)"):
        fast(numbers(2, 5, 6, 5))
    assert fast.fallbacks == ()


class Theirs(Layer):
    """A layer of somebody else's that raises ``error`` where ``condition`` holds."""

    error: Exception = ZeroDivisionError("theirs")

    def forward(self, x: np.ndarray) -> np.ndarray:
        if self.condition(x):
            raise self.error
        return x + 1

    def condition(self, x: np.ndarray) -> bool:
        return True


class OnZeros(Theirs):
    """One that cannot do with zeros, on which it is planned."""

    def condition(self, x: np.ndarray) -> bool:
        return not x.any()


class OnTheArena(Theirs):
    """One that writes to its input, which plans forbid."""

    def condition(self, x: np.ndarray) -> bool:
        return on_the_arena(x) and bool(x.any())


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(
    "error", [ValueError("v"), ZeroDivisionError("z"), TypeError("t"), kuiper.ShapeError("s", "a", 1)]
)
def test_a_layer_of_somebody_else_raises_what_it_raises(error: Exception, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Theirs, "error", error)
    texts = []
    with override("nn.ReLU", Theirs):
        models = both(*LINES)
    for model in models:
        with pytest.raises(kuiper.KuiperError, match=r"nn\.ReLU 'relu'") as raised:
            model(X)
        texts.append(f"{type(raised.value).__name__}: {raised.value}")
    assert texts[0] == texts[1]
    assert models[0].fallbacks == ()


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("layer", [OnZeros, OnTheArena])
def test_a_layer_of_somebody_else_that_fails_in_plans_only_is_left_to_the_layers(layer: type[Layer]) -> None:
    with override("nn.ReLU", layer):
        fast, plain = both(*LINES)
    assert_close(fast(X), plain(X))
    assert fast.fallbacks == ()
    assert "nn.ReLU 'relu'" in refusal_of(fast, X).reason
    with pytest.raises(kuiper.GraphStateError, match=r"left to the layers; nn\.ReLU 'relu'.*ZeroDivisionError: theirs"):
        fast.plan(X)


@pytest.mark.usefixtures("either")
def test_what_follows_sizes_that_depend_on_data_is_one_step_and_the_plan_says_so() -> None:
    lines = (
        "torch.gt g 1 1 x m other=0",
        "torch.masked_select a 2 1 x m s",
        "torch.amax b 1 1 s y dim=(0) keepdim=True",
    )
    fast, plain = both("pnnx.Input in 0 1 x #x=(?)f32", *lines, OUTPUT)
    x = np.float32([3, 0, 1, -1])
    for values in (x, x[:2], -np.abs(x) + 2):
        assert_close(fast(values), plain(values))
    assert fast.fallbacks == ()
    assert fast.plan(x).rows[-1][:3] == ("a", "torch.masked_select", "with all that follows")


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("error", [ValueError, IndexError, ZeroDivisionError])
def test_what_stands_in_for_sizes_that_depend_on_data_is_no_mistake(error: type[Exception], monkeypatch: Patch) -> None:
    def forward(x: np.ndarray) -> np.ndarray:
        if not x.size:
            raise error
        return np.maximum(x, 0)

    replace_forward(monkeypatch, forward)
    select = ("torch.gt g 1 1 x m other=0", "torch.masked_select a 2 1 x m s")
    fast, plain = both("pnnx.Input in 0 1 x #x=(?)f32", *select, "nn.ReLU relu 1 1 s y", OUTPUT, optimize=False)
    x = np.float32([3, 0, 1, -1])
    assert_close(fast(x), plain(x))
    assert fast.fallbacks == ()
    assert fast.plan(x).rows[-1][2] == "with all that follows"


@pytest.mark.usefixtures("lenient")
def test_an_index_that_the_layer_takes_and_the_kernel_refuses_is_told(monkeypatch: Patch) -> None:
    line = "nn.Embedding e 1 1 i y num_embeddings=9 embedding_dim=4 @weight=(9,4)f32"
    monkeypatch.setattr(Embedding, "forward", lambda self, index: np.zeros((*index.shape, 4), np.float32))
    fast, _ = both("pnnx.Input in 0 1 i #i=(3)i64", line, OUTPUT)
    with pytest.warns(kuiper.FallbackWarning, match="got LayerFailedError: an index that lies outside; the model runs"):
        fast(np.array([0, 8, 9]))


@pytest.mark.usefixtures("either")
def test_an_index_that_the_layer_refuses_is_its_error() -> None:
    line = "nn.Embedding e 1 1 i y num_embeddings=9 embedding_dim=4 @weight=(9,4)f32"
    fast, _ = both("pnnx.Input in 0 1 i #i=(3)i64", line, OUTPUT)
    with pytest.raises(kuiper.KuiperError, match=r"nn\.Embedding 'e'"):
        fast(np.array([0, 8, 9]))
    assert fast.fallbacks == ()


@pytest.mark.usefixtures("either")
def test_too_little_memory_is_no_mistake(monkeypatch: Patch) -> None:
    def too_much(*_: Any) -> Any:
        raise MemoryError

    fast, plain = both(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: too_much)
    assert_close(fast(X), plain(X))
    assert fast.fallbacks == ()
    assert refusal_of(fast, X) == Refusal("MemoryError")


@pytest.mark.usefixtures("either")
def test_a_placeholder_larger_than_a_tensor_may_be_is_no_mistake() -> None:
    from kuiper.tensor_limit import get_tensor_limit, set_tensor_limit

    fast, plain = both("pnnx.Input in 0 1 x #x=(1,1,?,?)f32", "nn.ReLU relu 1 1 x y", OUTPUT)
    x, before = numbers(1, 1, 1000, 3).swapaxes(2, 3), get_tensor_limit()  # rounded up to whole vectors it is larger
    set_tensor_limit(x.nbytes)
    try:
        assert_close(fast(x), plain(x))
    finally:
        set_tensor_limit(before)
    assert fast.fallbacks == ()


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("passes", [[*DEFAULT_PASSES, fails], [fails]])
def test_a_pass_that_was_asked_for_raises_what_it_raises(passes: list[Any]) -> None:
    graph = RuntimeGraph(file_graph(*LINES))
    with pytest.raises(TypeError, match="no"):
        graph.build(registry, optimize=True, passes=passes)
