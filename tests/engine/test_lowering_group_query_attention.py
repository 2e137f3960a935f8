"""GroupQueryAttention in a plan, against the layer, whose numbers are onnxruntime's (tests/onnx/test_contrib.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import KuiperError
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph

HEADS, GROUPS, POSITIONS = 6, 2, 700
TYPES = {"float32": "f32", "int32": "i32", "int64": "i64"}
Inputs = dict[str, np.ndarray]


def inputs_of(
    totals: tuple[int, ...], count: int, room: int, numbers_of_head: int = 16, packed: bool = False
) -> Inputs:
    """New queries, keys and values of texts of these lengths, behind a past."""
    b = len(totals)
    sizes = [heads * numbers_of_head for heads in (HEADS, GROUPS, GROUPS)]
    new = [numbers(b, count, size, seed=size + i) for i, size in enumerate(sizes)]
    given = {"query": np.concatenate(new, 2)} if packed else dict(zip(("query", "key", "value"), new, strict=True))
    for i, name in enumerate(("past_key", "past_value")):
        given[name] = numbers(b, GROUPS, max(room, 1), numbers_of_head, seed=7 + i)[:, :, :room]
    given["seqlens_k"] = np.asarray(totals, np.int32) - 1
    given["total_sequence_length"] = np.asarray(max(totals), np.int32)
    return given


def with_angles(given: Inputs, pairs: int, positions: int = POSITIONS) -> Inputs:
    angles = np.outer(np.arange(positions), 0.5 ** np.arange(pairs)).astype(np.float32)
    return {**given, "cos_cache": np.cos(angles), "sin_cache": np.sin(angles)}


def models(given: Inputs, **params: Any) -> tuple[RuntimeGraph, RuntimeGraph]:
    """The operator on the engine and on its layer; angles are stored, as in files."""
    stored = [name for name in given if name.endswith("_cache")]
    declared = [
        f"pnnx.Input in_{name} 0 1 {name} #{name}=({','.join(map(str, array.shape))}){TYPES[array.dtype.name]}"
        if name not in stored
        else f"pnnx.Attribute {name} 0 1 {name} @data=({','.join(map(str, array.shape))})f32"
        for name, array in given.items()
    ]
    settings = {"num_heads": HEADS, "kv_num_heads": GROUPS, **params}
    words = [f"${name}={name}" for name in given] + [f"{key}={value}" for key, value in settings.items()]
    line = f"GroupQueryAttention attention {len(given)} 3 {' '.join(given)} y0 y1 y2 {' '.join(words)}"
    return both(*declared, line, "pnnx.Output out 3 0 y0 y1 y2")


def arguments(given: Inputs) -> list[np.ndarray]:
    return [array for name, array in given.items() if not name.endswith("_cache")]


def assert_planned(given: Inputs, steps: tuple[str, ...] = ("join", "attention"), **params: Any) -> None:
    """The engine gives the numbers of the layer, with as many threads as you like, in these steps."""
    fast, plain = models(given, **params)
    before, results = kuiper.get_num_threads(), []
    try:
        for threads in (1, 2):
            kuiper.set_num_threads(threads)
            results.append(fast(*arguments(given)))
    finally:
        kuiper.set_num_threads(before)
    for place, expected in enumerate(plain(*arguments(given))):
        assert_close(results[0][place], expected)
        assert_close(results[1][place], results[0][place], tolerance=0)
    made = [word for word in algorithms(plan_of(fast, arguments(given))) if word not in ("import", "export", "copy")]
    assert made == list(steps)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("totals", "count", "room"),
    [
        ((1, 1), 1, 0),
        ((5, 5), 5, 0),
        ((7, 4), 1, 6),
        ((7, 4), 1, 9),
        ((300,), 30, 270),
        ((300,), 300, 0),
        ((590,), 2, 600),
    ],
)
def test_group_query_attention_is_two_steps(totals: tuple[int, ...], count: int, room: int, packed: bool) -> None:
    given = inputs_of(totals, count, room, packed=packed)
    for params in ({}, {"local_window_size": 3, "scale": 0.3}, {"local_window_size": 40}):
        assert_planned(given, **params)


@pytest.mark.parametrize("numbers_of_head", [16, 48, 64, 80, 144])
def test_group_query_attention_takes_heads_of_whole_vectors(numbers_of_head: int) -> None:
    for totals, count, room in (((70,), 70, 0), ((280, 266), 1, 280)):
        assert_planned(inputs_of(totals, count, room, numbers_of_head))


@pytest.mark.parametrize("pairs", [3, 8, 24])
@pytest.mark.parametrize("interleaved", [False, True])
def test_group_query_attention_turns_pairs(pairs: int, interleaved: bool) -> None:
    for totals, count, room in (((20, 20), 20, 0), ((33, 21), 1, 32), ((40,), 10, 30)):
        given = with_angles(inputs_of(totals, count, room, 48), pairs)
        assert_planned(given, do_rotary=True, rotary_interleaved=interleaved)


def test_group_query_attention_needs_no_past() -> None:
    given = inputs_of((9, 9), 9, 0)
    del given["past_key"], given["past_value"]
    assert_planned(given)


def test_group_query_attention_reads_lengths_in_each_call() -> None:
    fast, plain = models(inputs_of((7, 4), 1, 9))
    for totals in ((7, 4), (9, 9), (1, 2), (3, 8)):
        arrays = arguments(inputs_of(totals, 1, 9))
        for ours, theirs in zip(fast(*arrays), plain(*arrays), strict=True):
            assert_close(ours, theirs)
    assert not fast.execution.fallbacks.texts


def test_group_query_attention_leaves_a_present_of_another_size_to_the_layer() -> None:
    """The total decides the size of the present: the plan has that of its first call."""
    fast, plain = models(inputs_of((9, 9), 1, 9))
    for totals in ((9, 9), (10, 10), (5, 5)):
        arrays = arguments(inputs_of(totals, 1, 9))
        for ours, theirs in zip(fast(*arrays), plain(*arrays), strict=True):
            assert ours.shape == theirs.shape
            assert_close(ours, theirs)


@pytest.mark.parametrize("totals", [(14, 3), (3, 14)])
def test_group_query_attention_says_what_is_wrong_with_lengths(totals: tuple[int, int]) -> None:
    given = inputs_of(totals, 1, 9)
    given["total_sequence_length"][...] = 10
    fast, _ = models(given)
    with pytest.raises(KuiperError, match="at most 10 keys, of which 9 are past"):
        fast(*arguments(given))


def test_group_query_attention_says_that_a_position_has_no_angle() -> None:
    given = with_angles(inputs_of((9, 9), 1, 9), 8, positions=8)
    fast, _ = models(given, do_rotary=True)
    with pytest.raises(KuiperError, match="positions within 8"):
        fast(*arguments(given))


@pytest.mark.parametrize("params", [{"softcap": 2.0}, {"smooth_softmax": True}])
def test_group_query_attention_with_other_scores_is_left_to_the_layer(params: dict[str, Any]) -> None:
    assert_planned(inputs_of((7, 4), 1, 6), steps=("layer",), **params)


def test_group_query_attention_of_heads_that_are_no_whole_vectors_is_left_to_the_layer() -> None:
    assert_planned(inputs_of((7, 4), 1, 6, numbers_of_head=10), steps=("layer",))
