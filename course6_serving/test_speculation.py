"""Exercise 6.6."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate

LIMIT = 16.3  # chi-square of 3 degrees of freedom is above it once in a thousand times


def test_guess_what_followed(impl):
    calling(impl.guess, [5, 6, 7, 8, 5, 6], 2, 2).gives([7, 8])
    calling(impl.guess, [1, 2, 3, 4, 9, 2, 3], 2, 1).gives([4])


def test_guess_of_the_last_place(impl):
    calling(impl.guess, [1, 2, 3, 0, 1, 2, 4, 0, 1, 2], 2, 2).gives([4, 0])


def test_guess_by_as_many_tokens_as_possible(impl):
    calling(impl.guess, [1, 2, 3, 4, 0, 2, 3, 5, 0, 1, 2, 3], 3, 2).gives([4, 0])
    calling(impl.guess, [1, 2, 3, 4, 0, 2, 3, 5, 0, 1, 2, 3], 2, 2).gives([5, 0])


def test_guess_by_fewer_tokens(impl):
    calling(impl.guess, [1, 2, 3, 4, 0, 2, 3], 3, 2).gives([4, 0])
    calling(impl.guess, [7, 3, 5, 6, 3], 3, 2).gives([5, 6])
    calling(impl.guess, [3, 5, 6, 3], 3, 1).gives([5])


def test_guess_of_a_text_shorter_than_longest(impl):
    calling(impl.guess, [4, 4], 5, 1).gives([4])
    calling(impl.guess, [1, 2, 1], 3, 1).gives([2])


def test_guess_of_a_text_that_goes_round_in_circles(impl):
    calling(impl.guess, [4, 9, 9], 2, 4).gives([9, 9, 9, 9])
    calling(impl.guess, [1, 2, 3, 1, 2, 3], 2, 7).gives([1, 2, 3, 1, 2, 3, 1])


@pytest.mark.parametrize("tokens", [[1, 2, 3], [1], []])
def test_guess_nothing(impl, tokens):
    calling(impl.guess, tokens, 3, 4).gives([])


def test_guess_no_tokens(impl):
    calling(impl.guess, [1, 1, 1], 2, 0).gives([])


def rows(*tokens, v=5):
    """Scores of which those of these tokens are the highest, one row for each."""
    scores = np.tile(np.linspace(-2.0, -1.0, v), (len(tokens), 1))
    scores[np.arange(len(tokens)), list(tokens)] = 3.0
    return scores


def test_greedy_without_guesses(impl):
    calling(impl.accept_greedy, [], rows(2)).gives([2])


def test_greedy_all_right(impl):
    calling(impl.accept_greedy, [1, 4, 0], rows(1, 4, 0, 2)).gives([1, 4, 0, 2])


def test_greedy_first_wrong(impl):
    calling(impl.accept_greedy, [3, 4], rows(1, 4, 0)).gives([1])


def test_greedy_wrong_in_the_middle(impl):
    calling(impl.accept_greedy, [1, 4, 0], rows(1, 3, 0, 2)).gives([1, 3])


def test_greedy_last_wrong(impl):
    calling(impl.accept_greedy, [1, 4, 0], rows(1, 4, 2, 3)).gives([1, 4, 2])


def test_greedy_right_again_behind_a_wrong_one(impl):
    calling(impl.accept_greedy, [1, 2, 3, 4], rows(1, 0, 3, 4, 1)).gives([1, 0])


def test_greedy_first_of_equal_scores(impl):
    calling(impl.accept_greedy, [1], np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 1.0]])).gives([1, 0])
    calling(impl.accept_greedy, [2], np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 1.0]])).gives([1])


HALVES = np.array([0.5, 0.25, 0.125, 0.125])
OTHER = np.array([0.25, 0.25, 0.5, 0.0])


def test_residual_what_the_draft_has_too_little_of(impl):
    calling(impl.residual, HALVES, OTHER).gives(np.array([2 / 3, 0, 0, 1 / 3]), tolerance=1e-12)
    calling(impl.residual, OTHER, HALVES).gives(np.array([0.0, 0, 1, 0]), tolerance=1e-12)


def test_residual_without_a_guess_that_was_certain(impl):
    calling(impl.residual, HALVES, np.array([0.0, 1, 0, 0])).gives(np.array([4 / 6, 0, 1 / 6, 1 / 6]), tolerance=1e-12)


def test_residual_of_equals(impl):
    calling(impl.residual, HALVES, HALVES).gives(HALVES, tolerance=1e-12)


SURE = np.eye(4)


def test_sampled_without_guesses(impl):
    calling(impl.accept_sampled, [], np.zeros((0, 4)), HALVES[None], [0.6]).gives([1])
    calling(impl.accept_sampled, [], np.zeros((0, 4)), HALVES[None], [0.49]).gives([0])


def test_sampled_guess_that_was_certain(impl):
    target = np.array([HALVES, OTHER])
    calling(impl.accept_sampled, [1], SURE[[1]], target, [0.2, 0.3]).gives([1, 1])
    calling(impl.accept_sampled, [1], SURE[[1]], target, [0.3, 0.3]).gives([0])
    calling(impl.accept_sampled, [1], SURE[[1]], target, [0.3, 0.7]).gives([2])


def test_sampled_guess_of_a_draft(impl):
    target = np.array([HALVES, OTHER])
    calling(impl.accept_sampled, [2], OTHER[None], target, [0.2, 0.9]).gives([2, 2])
    calling(impl.accept_sampled, [2], OTHER[None], target, [0.3, 0.9]).gives([3])
    calling(impl.accept_sampled, [2], OTHER[None], target, [0.3, 0.5]).gives([0])


def test_sampled_guess_that_is_always_taken(impl):
    calling(impl.accept_sampled, [0], OTHER[None], np.array([HALVES, OTHER]), [0.99, 0.6]).gives([0, 2])


def test_sampled_guess_that_the_model_never_takes(impl):
    calling(impl.accept_sampled, [3], HALVES[None], np.array([OTHER, HALVES]), [0.0, 0.0]).gives([2])
    calling(impl.accept_sampled, [3], HALVES[None], np.array([OTHER, HALVES]), [0.0, 0.5]).gives([2])


def test_sampled_guess_on_the_border(impl):
    calling(impl.accept_sampled, [1], SURE[[1]], np.array([HALVES, OTHER]), [0.25, 0.0]).gives([0])


def test_sampled_up_to_the_first_that_is_not_taken(impl):
    target = np.array([HALVES, OTHER, HALVES, OTHER])
    calling(impl.accept_sampled, [0, 2, 1], SURE[[0, 2, 1]], target, [0.4, 0.6, 0.1, 0.9]).gives([0, 1])
    calling(impl.accept_sampled, [0, 2, 1], SURE[[0, 2, 1]], target, [0.4, 0.6, 0.1, 0.3]).gives([0, 0])
    calling(impl.accept_sampled, [0, 2, 1], SURE[[0, 2, 1]], target, [0.4, 0.4, 0.3, 0.9]).gives([0, 2, 3])


def test_sampled_all_taken(impl):
    target = np.array([HALVES, OTHER, HALVES, OTHER])
    calling(impl.accept_sampled, [0, 2, 1], SURE[[0, 2, 1]], target, [0.4, 0.4, 0.2, 0.6]).gives([0, 2, 1, 2])


@pytest.mark.parametrize(
    ("rate", "count", "tokens"), [(0.5, 3, 1.875), (0.9, 0, 1.0), (0.8, 1, 1.8), (0.25, 2, 1.3125)]
)
def test_expected_tokens(impl, rate, count, tokens):
    calling(impl.expected_tokens, rate, count).gives(tokens, tolerance=1e-12)


def test_expected_tokens_at_the_ends(impl):
    calling(impl.expected_tokens, 0.0, 4).gives(1.0, tolerance=1e-12)
    calling(impl.expected_tokens, 1.0, 4).gives(5.0, tolerance=1e-12)


@pytest.mark.parametrize(
    ("rate", "cost", "most", "count"),
    [(0.8, 0.1, 10, 6), (0.8, 0.1, 4, 4), (0.5, 0.1, 10, 2), (0.5, 0.25, 10, 1), (0.2, 0.5, 10, 0), (0.9, 0.02, 0, 0)],
)
def test_best_count(impl, rate, cost, most, count):
    calling(impl.best_count, rate, cost, most).gives(count)


def test_best_count_smallest_of_equals(impl):
    calling(impl.best_count, 0.0, 0.0, 5).gives(0)
    calling(impl.best_count, 0.5, 0.5, 3).gives(0)


def drawn(impl, draft, target, seed, times):
    """How often each pair of tokens came first, where two guesses are drawn by ``draft`` and checked by ``target``."""
    random = np.random.default_rng(seed)
    vocabulary = target.shape[1]
    sums, counts = np.cumsum(draft, axis=1), np.zeros((vocabulary, vocabulary), np.int64)
    for _ in range(times):
        guesses = [int(np.searchsorted(row, random.random() * row[-1], side="right")) for row in sums]
        chances = [float(chance) for chance in random.random(len(guesses) + 1)]
        tokens = impl.accept_sampled(guesses, draft, target, chances)
        if len(tokens) == 1:  # the next step draws the second one
            tokens = [*tokens, int(np.searchsorted(np.cumsum(target[1]), random.random(), side="right"))]
        counts[tokens[0], tokens[1]] += 1
    return counts


def chi_square(counts, expected):
    """How far counts are from what is expected of them; about as much as there are counts, less one, if they are right."""
    return float(((counts - expected) ** 2 / expected).sum())


DRAFTS = [[0.25, 0.25, 0.25, 0.25], [0.05, 0.05, 0.1, 0.8], [0.4, 0.3, 0.2, 0.1]]
TARGET = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])


@pytest.mark.parametrize("draft", DRAFTS)
def test_sampled_tokens_come_as_often_as_without_guesses(impl, draft):
    times = 2000
    counts = calling(drawn, impl, np.array([draft, draft[::-1]]), TARGET, 1, times).answer()
    for place, found in enumerate((counts.sum(axis=1), counts.sum(axis=0))):
        shares = [round(float(share), 2) for share in found / times]
        far = chi_square(found, times * TARGET[place])
        words = translate(
            "chi-square below {limit}: shares {shares} of token {number} in {times} texts, where the model gives {given}"
        )
        fields = {"shares": shares, "number": place + 1, "times": times, "given": TARGET[place].tolist()}
        same(words.format(limit=LIMIT, **fields), far < LIMIT, True)


@given(data=st.lists(st.integers(0, 3), min_size=1, max_size=14), longest=st.integers(1, 4), count=st.integers(0, 6))
def test_guess_of_any_text(impl, data, longest, count):
    expected = []
    for length in range(longest, 0, -1):
        places = [at for at in range(length, len(data)) if data[at - length : at] == data[len(data) - length :]]
        if places and length < len(data):
            period = len(data) - places[-1]
            expected = [data[places[-1] + at % period] for at in range(count)]
            break
    calling(impl.guess, data, longest, count).gives(expected)
