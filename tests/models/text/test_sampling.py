"""Which tokens stay, with which probabilities, and that a seed decides the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.errors import ParameterError
from kuiper.models.text.sampling import Sampler, kept_best, kept_together, penalised, softmax

scores_of_any_size = st.lists(st.floats(-30, 30), min_size=1, max_size=40).map(np.array)


@given(scores_of_any_size, st.floats(0.05, 5), st.integers(0, 45), st.floats(0.01, 1), st.floats(0.5, 2))
def test_probabilities_sum_to_one_and_keep_the_best(
    scores: Any, temperature: float, top_k: int, top_p: float, penalty: float
) -> None:
    chances = Sampler(temperature, top_k, top_p, penalty).probabilities(scores)
    assert chances.shape == scores.shape
    assert chances.min() >= 0
    assert chances.sum() == pytest.approx(1)
    assert chances[scores.argmax()] == chances.max() > 0


@given(scores_of_any_size, st.integers(1, 45))
def test_kept_best_keeps_as_many_as_asked_and_what_is_equal(scores: Any, count: int) -> None:
    kept = np.isfinite(kept_best(scores, count))
    least = np.sort(scores)[::-1][min(count, len(scores)) - 1]
    assert (kept == (scores >= least)).all()


@given(scores_of_any_size, st.floats(0.01, 0.99))
def test_kept_together_keeps_the_fewest_that_reach_the_share(scores: Any, share: float) -> None:
    chances = softmax(scores)
    kept = np.isfinite(kept_together(scores, share))
    assert chances[kept].sum() >= share - 1e-9
    assert chances[kept].sum() - chances[kept].min() < share + 1e-9
    assert chances[kept].min() >= chances[~kept].max(initial=0)


@given(scores_of_any_size, st.integers(0, 2**40))
def test_call_draws_only_what_has_a_chance(scores: Any, seed: int) -> None:
    sampler = Sampler(top_k=3, top_p=0.9, seed=seed)
    assert sampler.probabilities(scores)[sampler(scores)] > 0


def test_call_draws_each_token_as_often_as_its_probability_says() -> None:
    sampler, chances = Sampler(seed=3), np.array([0.5, 0.0, 0.2, 0.3])
    with np.errstate(divide="ignore"):
        scores = np.log(chances)
    counts = np.bincount([sampler(scores) for _ in range(4000)], minlength=4)
    assert counts[1] == 0
    assert np.abs(counts / 4000 - chances).max() < 0.03


def test_seed_decides_the_text() -> None:
    scores = np.zeros(100)

    def drawn(seed: int) -> list[int]:
        sampler = Sampler(seed=seed)
        return [sampler(scores) for _ in range(20)]

    assert drawn(5) == drawn(5) != drawn(6)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.0},
    {"temperature": 0.7, "top_k": 50},
    {"top_p": 0.9},
    {"top_p": 0.999, "temperature": 1.5},
    {"top_k": 40, "top_p": 0.5},
    {"top_k": 7, "top_p": 0.95, "repetition_penalty": 1.3, "temperature": 0.8},
    {"temperature": 0.0, "repetition_penalty": 2.0},
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["flat", "peaked", "alike", "few"])
def test_call_draws_what_probabilities_say(setting: dict[str, Any], kind: str) -> None:
    """The short way of a draw beside the plain one, with the same random numbers."""
    rng = np.random.default_rng(0)
    sampler, numbers = Sampler(**setting, seed=9), np.random.default_rng(9)
    for _ in range(20):
        scores = rng.standard_normal(5 if kind == "few" else 3000).astype(np.float32)
        if kind == "peaked":
            scores *= 8
        elif kind == "alike":
            scores = scores.round(0)
        text = rng.integers(0, len(scores), 9).tolist()
        chances = sampler.probabilities(scores, text)
        drawn = sampler(scores, text)
        if sampler.temperature:
            heights = np.cumsum(chances)
            assert drawn == np.searchsorted(heights, numbers.random() * heights[-1], side="right")
        else:
            assert drawn == chances.argmax()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
def test_call_takes_scores_of_any_type_and_leaves_them(dtype: Any) -> None:
    scores = np.array([1, 5, 3], dtype)
    assert Sampler(temperature=0)(scores) == 1
    assert Sampler(top_k=1, seed=0)(scores) == 1
    assert Sampler(top_p=0.1, repetition_penalty=3.0, seed=0)(scores, [1]) == 2
    assert scores.tolist() == [1, 5, 3]


@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize("scores", [[], [[1.0, 2.0]], [0.0, float("nan")], [-np.inf, -np.inf]])
def test_call_refuses_what_are_no_scores(scores: Any, temperature: float) -> None:
    with pytest.raises(ParameterError, match="sampling: expected"):
        Sampler(temperature)(np.array(scores, np.float32))


def test_temperature_zero_takes_the_first_of_the_best() -> None:
    assert [Sampler(temperature=0)([1.0, 3.0, 3.0]) for _ in range(5)] == [1] * 5


def test_repetition_penalty_counts_a_token_once_and_comes_first() -> None:
    assert penalised(np.array([4.0, -1.0]), [0, 0, 0, 1], 2.0).tolist() == [2.0, -2.0]
    assert Sampler(temperature=0, repetition_penalty=2.0)([4.0, 3.0], [0]) == 1
    assert Sampler(temperature=0, repetition_penalty=1.0)([4.0, 3.0], [0]) == 0


def test_penalty_leaves_the_scores_of_the_caller() -> None:
    scores = np.array([4.0, 3.0])
    Sampler(repetition_penalty=2.0, top_k=1, top_p=0.5, temperature=0.5).probabilities(scores, [0])
    assert scores.tolist() == [4.0, 3.0]


def test_infinite_score_takes_all() -> None:
    assert Sampler().probabilities([0.0, np.inf, 1.0]).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": -1}, "temperature: expected a number of at least 0, got -1"),
        ({"temperature": float("nan")}, "temperature: expected a number of at least 0, got nan"),
        ({"top_k": -2}, "top_k: expected a number of at least 0, got -2"),
        ({"top_p": 0}, "top_p: expected a number above 0, and at most 1, got 0"),
        ({"repetition_penalty": 0}, "repetition_penalty: expected a number above 0, got 0"),
        ({"seed": -1}, "seed: expected an integer of at least 0, got -1"),
    ],
)
def test_sampler_says_which_value_is_out_of_range(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Sampler(**setting)
    assert str(caught.value) == message


@pytest.mark.parametrize("scores", [[], [[1.0, 2.0]], [0.0, float("nan")], [-np.inf, -np.inf]])
def test_probabilities_refuses_what_are_no_scores(scores: Any) -> None:
    with pytest.raises(ParameterError, match="sampling: expected"):
        Sampler().probabilities(scores)
