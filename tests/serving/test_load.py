"""A load: which calls it has, and what is made of their timings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.serving.load import Call, CallSizes, LoadFigures, Percentiles, Timing, draw_calls

SIZES = CallSizes((32, 200), (5, 9), shared=64)


def test_draw_calls_keeps_to_the_sizes_and_shares_beginnings() -> None:
    calls = draw_calls(400, SIZES, vocabulary=60, pause=0.5, seed=3)
    lengths = [len(call.prompt) for call in calls]
    assert (min(lengths), max(lengths)) == (32, 200)
    assert {call.tokens for call in calls} == {5, 6, 7, 8, 9}
    assert {token for call in calls for token in call.prompt} == set(range(1, 60))
    beginning = next(call.prompt for call in calls[::2] if len(call.prompt) > 64)[:64]
    for call in calls[::2]:
        shared = min(64, len(call.prompt) - 1)
        assert call.prompt[:shared] == beginning[:shared]
    assert all(call.prompt[:8] != beginning[:8] for call in calls[1::2])
    assert np.mean([call.pause for call in calls]) == pytest.approx(0.5, rel=0.2)


def test_draw_calls_is_decided_by_the_seed() -> None:
    first, again, other = (draw_calls(9, SIZES, vocabulary=99, pause=1, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(("prompts", "answers"), [((0, 4), (1, 2)), ((5, 4), (1, 2)), ((1, 2), (3, 2))])
def test_call_sizes_are_ranges_from_1_on(prompts: tuple[int, int], answers: tuple[int, int]) -> None:
    with pytest.raises(ParameterError, match="a range from at least 1"):
        CallSizes(prompts, answers)


def test_load_figures_are_those_of_all_calls() -> None:
    calls = [Call([1] * 10, 3, 0.0), Call([1] * 20, 1, 0.0)]
    figures = LoadFigures.of(calls, [Timing(10.0, [10.5, 10.6, 10.8]), Timing(10.1, [12.0])])
    assert figures.seconds == pytest.approx(2.0)
    assert (figures.read, figures.written) == (30, 4)
    assert figures.written_per_second == pytest.approx(2.0)
    assert figures.first.median == pytest.approx(1200)  # of 500 and 1900
    assert figures.each.median == pytest.approx(150)
    assert figures.whole.p99 == pytest.approx(1889, abs=1)


def test_percentiles_of_nothing_are_no_numbers() -> None:
    assert all(math.isnan(number) for number in Percentiles.of([]))
