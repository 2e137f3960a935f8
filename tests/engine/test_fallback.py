"""A mistake of kuiper's that only makes a model slower is heard: as a warning, or with KUIPER_STRICT as the error.

What cannot be planned, and what is wrong with a model, its inputs or a layer of somebody else's, is no such mistake.
"""

from __future__ import annotations

import copy
import gc
import re
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine import graph_lowering
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph
from kuiper.graph.fallback import Refusal
from kuiper.graph.passes import DEFAULT_PASSES, remove_no_ops
from kuiper.layers import Layer, override, registry
from kuiper.layers.operators.embedding import Embedding
from kuiper.layers.operators.permute import Permute
from kuiper.layers.operators.relu import ReLU
from tests.engine.models import assert_close, both, numbers
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, file_graph, relu

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator

X = numbers(2, 4, 6, 5)
LINES = (INPUT, conv("x 1"), relu("1 y"), OUTPUT)
INSTEAD = "; the model runs on its layers, many times slower"
Patch = pytest.MonkeyPatch


def fails(*_: Any, **__: Any) -> Any:
    raise TypeError("no")


def without_lowering(patch: Patch, layer_class: type) -> None:
    """Leave the operators of a layer to Python."""
    found = graph_lowering.find_lowering
    patch.setattr(graph_lowering, "find_lowering", lambda layer: None if type(layer) is layer_class else found(layer))


def replace_forward(patch: Patch, forward: Callable[[np.ndarray], np.ndarray]) -> None:
    """Let the ReLU, which plans then call as a layer, compute this."""
    without_lowering(patch, ReLU)
    patch.setattr(ReLU, "forward", lambda self, x: forward(x))


def on_the_arena(x: np.ndarray) -> bool:
    """Whether a plan hands this to a layer, or its placeholder: nobody may write to either."""
    return not x.flags.writeable


def a_lowering(patch: Patch) -> None:
    patch.setattr(graph_lowering, "find_lowering", lambda layer: fails)


def a_lowering_with_an_error_of_kuipers(patch: Patch) -> None:
    def too_many(*_: Any) -> Any:
        raise kuiper.ParameterError("a step", "at most 3 axes", 4)

    patch.setattr(graph_lowering, "find_lowering", lambda layer: too_many)


def a_lowering_with_too_few_outputs(patch: Patch) -> None:
    patch.setattr(graph_lowering, "find_lowering", lambda layer: lambda *_: [])


def the_arena(patch: Patch) -> None:
    patch.setattr("kuiper.engine.compile.place_buffers", fails)


def a_chain(patch: Patch) -> None:
    patch.setattr("kuiper.engine.compile.join_chains", fails)


def a_kernel(patch: Patch) -> None:
    for algorithm in ("convolution.Convolution", "winograd.Winograd"):
        patch.setattr(f"kuiper.engine.lowering.{algorithm}", fails)


def an_export(patch: Patch) -> None:
    patch.setattr(graph_lowering, "export_value", fails)


def a_layer_on_placeholders(patch: Patch) -> None:
    replace_forward(patch, lambda x: fails() if on_the_arena(x) and not x.any() else np.maximum(x, 0))


def a_layer_in_a_plan(patch: Patch) -> None:
    replace_forward(patch, lambda x: fails() if on_the_arena(x) and x.any() else np.maximum(x, 0))


def a_layer_of_two_types(patch: Patch) -> None:
    replace_forward(patch, lambda x: np.maximum(x, 0, dtype=np.float32 if x.any() else np.float64))


MISTAKES: dict[Callable[[Patch], None], str] = {
    a_lowering: "nn.Conv2d 'conv': TypeError: no",
    a_lowering_with_an_error_of_kuipers: "nn.Conv2d 'conv': ParameterError: a step: expected at most 3 axes, got 4",
    a_lowering_with_too_few_outputs: "nn.Conv2d 'conv': ValueError: zip() argument 2 is shorter than argument 1",
    the_arena: "TypeError: no",
    a_chain: "TypeError: no",
    a_kernel: "nn.Conv2d 'conv': TypeError: no",
    an_export: "pnnx.Output 'out': TypeError: no",
    a_layer_on_placeholders: "nn.ReLU 'relu': TypeError: no",
    a_layer_in_a_plan: "nn.ReLU 'relu': TypeError: no",
    a_layer_of_two_types: (
        "PlanMismatchError: nn.ReLU 'relu': expected (2, 4, 6, 5) of float64 as when it was planned, "
        "got (2, 4, 6, 5) of float32"
    ),
}


@pytest.fixture
def lenient(monkeypatch: Patch) -> None:
    """Mistakes are warnings, as for users."""
    monkeypatch.delenv("KUIPER_STRICT", raising=False)


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_told_with_the_operator_and_the_layers_answer(
    mistake: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    fast, plain = both(*LINES, optimize=False)
    mistake(monkeypatch)
    with pytest.warns(RuntimeWarning, match=f"^graph: expected a plan, got {re.escape(MISTAKES[mistake])}; ") as told:
        got = fast(X)
    assert_close(got, plain(X))
    assert [(warning.category, warning.filename) for warning in told] == [(kuiper.FallbackWarning, __file__)]
    assert fast.fallbacks == (MISTAKES[mistake] + INSTEAD,)
    fast(X)  # and not told again


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_the_error_itself_where_kuiper_is_strict(
    mistake: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    fast, _ = both(*LINES, optimize=False)
    mistake(monkeypatch)
    for _ in range(2):  # in every call
        with pytest.raises(Exception) as raised:
            fast(X)
        reason = MISTAKES[mistake]
        notes = vars(raised.value)["__notes__"]
        assert f"{type(raised.value).__name__}: {raised.value}" in reason
        assert reason.startswith((*notes[:-1], type(raised.value).__name__))
        assert notes[-1] == f"graph: {reason}{INSTEAD} (KUIPER_STRICT is set)"
        assert raised.traceback[-1].name != "tell"  # but what has failed


@pytest.mark.usefixtures("lenient")
def test_a_mistake_is_told_once_for_a_model_whatever_the_shapes_and_threads(monkeypatch: Patch) -> None:
    fast, _ = both(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: fails)
    start = Barrier(4)

    def call(height: int) -> None:
        start.wait()
        fast(numbers(1, 4, height, 5))

    with warnings.catch_warnings(record=True) as told, ThreadPoolExecutor(4) as pool:
        warnings.simplefilter("always")
        list(pool.map(call, [6, 6, 7, 8]))
        fast(numbers(1, 4, 9, 5))
    assert len(told) == 1


@pytest.mark.usefixtures("lenient")
def test_fallbacks_are_as_many_as_one_wants_to_read(monkeypatch: Patch) -> None:
    def failing(layer: Any, inputs: Any, planner: Any) -> Any:
        raise TypeError(inputs[0].shape)

    fast, _ = both(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: failing)
    with pytest.warns(kuiper.FallbackWarning):
        fast(X)
    for height in range(1, 20):
        fast(numbers(1, 4, height, 5))
    assert len(fast.fallbacks) == len(set(fast.fallbacks)) == 8


@pytest.mark.usefixtures("lenient")
def test_a_plan_that_cannot_be_made_keeps_no_array_alive(monkeypatch: Patch) -> None:
    fast, _ = both(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: fails)
    x = numbers(2, 4, 6, 5)
    gone = weakref.ref(x)
    gc.disable()  # what only the collector finds stays until it comes by
    try:
        with pytest.warns(kuiper.FallbackWarning):
            fast(x)
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_the_times_of_operators_tell_of_a_mistake_too(monkeypatch: Patch) -> None:
    fast, _ = both(*LINES)
    monkeypatch.setattr(graph_lowering, "find_lowering", lambda layer: fails)
    with pytest.raises(TypeError):
        fast.time_operators(X)
    monkeypatch.delenv("KUIPER_STRICT")
    with pytest.warns(kuiper.FallbackWarning):
        assert [time.op.type for time in fast.time_operators(X)] == ["kuiper.FusedConv2d"]


def test_a_session_stays_where_it_was_when_a_mistake_is_raised(monkeypatch: Patch) -> None:
    from kuiper.models import bundled

    session = kuiper.load(bundled("shakespeare")).start(max_length=8)
    session([1, 2])
    with monkeypatch.context() as patch:
        patch.setattr(graph_lowering, "find_lowering", lambda layer: fails)
        with pytest.raises(TypeError):
            session([3, 4, 5])
    assert session.length == 2


# Passes.


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


# What is no mistake of kuiper's: never a warning, and the same error with KUIPER_STRICT and without.


@pytest.fixture(params=["strict", "lenient"])
def either(request: pytest.FixtureRequest, monkeypatch: Patch) -> None:
    """With KUIPER_STRICT and without; pytest makes errors of warnings."""
    monkeypatch.setenv("KUIPER_STRICT", str(int(request.param == "strict")))


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
