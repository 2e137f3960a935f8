"""A mistake of kuiper's that only makes a model slower is heard: as a warning, or with KUIPER_STRICT as the error.

What cannot be planned, and what is wrong with a model, its inputs or a layer of somebody else's, is no such mistake.
"""

from __future__ import annotations

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
from kuiper.layers.operators.relu import ReLU
from tests.engine.models import assert_close, both, numbers
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, relu

if TYPE_CHECKING:
    from collections.abc import Callable


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
