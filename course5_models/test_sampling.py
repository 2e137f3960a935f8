"""Exercise 5.13."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.models.text.sampling import Sampler, kept_best, kept_together

OUT = -np.inf  # the score of a token that was filtered out
SCORES = st.lists(st.integers(-6, 6), min_size=1, max_size=9).map(lambda numbers: np.array(numbers, np.float64))
SHARES = st.sampled_from([0.01, 0.17, 0.37, 0.62, 0.81, 0.93, 1.0])  # no sum of equal probabilities is one of them
CHANCES = st.sampled_from([0.0, 0.011, 0.123, 0.345, 0.523, 0.789, 0.939, 0.999])
NEARLY_1 = 1 - 2**-53  # the largest number below 1


def test_penalise(impl):
    calling(impl.penalise, np.array([2.0, 6.0, 4.0]), [1], 2.0).gives(np.array([2.0, 3.0, 4.0]))


def test_penalise_negative_scores(impl):
    calling(impl.penalise, np.array([-2.0, 3.0, -4.0]), [0], 2.0).gives(np.array([-4.0, 3.0, -4.0]))


def test_penalise_the_first_and_the_last_token(impl):
    calling(impl.penalise, np.array([2.0, 6.0, 4.0]), [2, 0], 2.0).gives(np.array([1.0, 6.0, 2.0]))


def test_penalise_positive_and_negative_scores(impl):
    scores = np.array([3.0, -3.0, 5.0, -5.0])
    calling(impl.penalise, scores, [0, 1, 3], 1.5).gives(np.array([2.0, -4.5, 5.0, -7.5]))


def test_penalise_once(impl):
    calling(impl.penalise, np.array([8.0, -8.0, 1.0]), [0, 1, 0, 1, 0], 2.0).gives(np.array([4.0, -16.0, 1.0]))


def test_penalise_zero_and_what_is_filtered_out(impl):
    calling(impl.penalise, np.array([0.0, OUT, 1.0]), [0, 1], 2.0).gives(np.array([0.0, OUT, 1.0]))


def test_penalise_without_text(impl):
    calling(impl.penalise, np.array([3.0, -3.0]), [], 2.0).gives(np.array([3.0, -3.0]))


def test_penalise_by_1(impl):
    calling(impl.penalise, np.array([3.0, -3.0]), [0, 1], 1.0).gives(np.array([3.0, -3.0]))


def test_softmax(impl):
    calling(impl.softmax, np.log([2.0, 1.0, 1.0]), 1.0).gives(np.array([0.5, 0.25, 0.25]), tolerance=1e-12)


def test_softmax_of_a_low_temperature(impl):
    """At temperature 0.5 the ratio 3 to 1 becomes 9 to 1."""
    calling(impl.softmax, np.log([3.0, 1.0]), 0.5).gives(np.array([0.9, 0.1]), tolerance=1e-12)


def test_softmax_of_a_high_temperature(impl):
    """At temperature 2 the ratio 9 to 1 becomes 3 to 1."""
    calling(impl.softmax, np.log([9.0, 1.0]), 2.0).gives(np.array([0.75, 0.25]), tolerance=1e-12)


def test_softmax_of_negative_scores(impl):
    calling(impl.softmax, np.log([0.5, 0.125, 0.125]), 1.0).gives(np.array([4, 1, 1]) / 6, tolerance=1e-12)


def test_softmax_of_large_scores(impl):
    calling(impl.softmax, np.array([5000.0, 5000.0]), 1.0).gives(np.array([0.5, 0.5]))
    calling(impl.softmax, np.array([-5000.0, -5000.0]), 1.0).gives(np.array([0.5, 0.5]))


def test_softmax_of_a_very_low_temperature(impl):
    calling(impl.softmax, np.array([3.0, 5.0, 5.0]), 0.001).gives(np.array([0.0, 0.5, 0.5]))


def test_softmax_of_what_is_filtered_out(impl):
    calling(impl.softmax, np.array([OUT, 1.0, OUT, 1.0]), 0.7).gives(np.array([0.0, 0.5, 0.0, 0.5]))


def test_top_k(impl):
    calling(impl.top_k, np.array([1.0, 4.0, 3.0, 2.0]), 2).gives(np.array([OUT, 4.0, 3.0, OUT]))


def test_top_k_of_one(impl):
    calling(impl.top_k, np.array([1.0, 4.0, 3.0]), 1).gives(np.array([OUT, 4.0, OUT]))


def test_top_k_of_negative_scores(impl):
    calling(impl.top_k, np.array([-1.0, -5.0, -2.0, 0.0]), 3).gives(np.array([-1.0, OUT, -2.0, 0.0]))


def test_top_k_keeps_equal_scores(impl):
    calling(impl.top_k, np.array([1.0, 4.0, 3.0, 3.0]), 2).gives(np.array([OUT, 4.0, 3.0, 3.0]))
    calling(impl.top_k, np.array([5.0, 5.0, 5.0, 1.0]), 1).gives(np.array([5.0, 5.0, 5.0, OUT]))


@pytest.mark.parametrize("k", [0, 3, 4, 1000])
def test_top_k_of_all(impl, k):
    calling(impl.top_k, np.array([1.0, -4.0, 3.0]), k).gives(np.array([1.0, -4.0, 3.0]))


def test_top_k_of_what_is_filtered_out(impl):
    calling(impl.top_k, np.array([OUT, 2.0, 1.0, OUT]), 1).gives(np.array([OUT, 2.0, OUT, OUT]))
    calling(impl.top_k, np.array([OUT, 2.0, 1.0, OUT]), 3).gives(np.array([OUT, 2.0, 1.0, OUT]))


def test_top_p(impl):
    """Probabilities 0.2, 0.5 and 0.3: 0.5 is below 0.6, so the token of 0.3 stays, too, and reaches it."""
    scores = np.log([2.0, 5.0, 3.0])
    calling(impl.top_p, scores, 0.6).gives(np.array([OUT, scores[1], scores[2]]))


def test_top_p_of_less_than_the_likeliest(impl):
    scores = np.log([2.0, 5.0, 3.0])
    calling(impl.top_p, scores, 0.4).gives(np.array([OUT, scores[1], OUT]))
    calling(impl.top_p, scores, 0.001).gives(np.array([OUT, scores[1], OUT]))


def test_top_p_that_is_reached_exactly(impl):
    """Two of four equal probabilities are exactly 0.5, and the two with the smaller numbers stay."""
    calling(impl.top_p, np.array([3.0, 3.0, 3.0, 3.0]), 0.5).gives(np.array([3.0, 3.0, OUT, OUT]))


def test_top_p_of_equal_scores(impl):
    calling(impl.top_p, np.array([0.0, 7.0, 7.0, 7.0]), 0.6).gives(np.array([OUT, 7.0, 7.0, OUT]))
    calling(impl.top_p, np.tile([0.0, 100.0], 20), 0.49).gives(np.array([OUT, 100.0] * 10 + [OUT, OUT] * 10))


def test_top_p_of_nearly_all(impl):
    scores = np.log([1.0, 6.0, 3.0])
    calling(impl.top_p, scores, 0.95).gives(scores)
    calling(impl.top_p, scores, 0.85).gives(np.array([OUT, scores[1], scores[2]]))


@pytest.mark.parametrize("scores", [[-700.0, 0.0, 90.0], [0.1] * 10, [5.0]])
def test_top_p_of_1(impl, scores):
    calling(impl.top_p, np.array(scores), 1.0).gives(np.array(scores))


def test_top_p_of_large_scores(impl):
    calling(impl.top_p, np.array([5000.0, 5001.0, 4000.0]), 0.9).gives(np.array([5000.0, 5001.0, OUT]))


def test_top_p_of_what_is_filtered_out(impl):
    """Of the two tokens that are left, the likelier one has 0.75."""
    scores = np.array([OUT, np.log(1.0), np.log(3.0), OUT])
    calling(impl.top_p, scores, 0.7).gives(np.array([OUT, OUT, scores[2], OUT]))
    calling(impl.top_p, scores, 0.8).gives(scores)


QUARTERS = np.array([0.25, 0.5, 0.25])


@pytest.mark.parametrize(("chance", "token"), [(0.1, 0), (0.3, 1), (0.7, 1), (0.8, 2)])
def test_draw(impl, chance, token):
    calling(impl.draw, QUARTERS, chance).gives(token)


@pytest.mark.parametrize(("chance", "token"), [(0.0, 0), (0.25, 1), (0.75, 2)])
def test_draw_where_two_tokens_meet(impl, chance, token):
    calling(impl.draw, QUARTERS, chance).gives(token)


@pytest.mark.parametrize(("chance", "token"), [(0.0, 1), (0.4, 1), (0.5, 3), (NEARLY_1, 3)])
def test_draw_no_token_of_probability_0(impl, chance, token):
    calling(impl.draw, np.array([0.0, 0.5, 0.0, 0.5, 0.0]), chance).gives(token)


def test_draw_behind_a_sum_that_is_rounded(impl):
    """Ten times 0.1 is 0.9999999999999999 if one is added after the other, and that is not above the chance."""
    calling(impl.draw, np.array([0.1] * 10 + [0.0]), NEARLY_1).gives(9)


def test_draw_of_one_token(impl):
    calling(impl.draw, np.array([1.0]), 0.999).gives(0)


def drawn(impl, probabilities, chances):
    """How often each token is drawn, by chances that lie side by side."""
    tokens = [impl.draw(probabilities, chance) for chance in chances]
    return [tokens.count(token) for token in range(len(probabilities))]


def test_draw_each_token_as_often_as_its_probability_says(impl):
    chances = (np.arange(1000) + 0.5) / 1000
    calling(drawn, impl, np.array([0.1, 0.0, 0.62, 0.28]), chances).gives([100, 0, 620, 280])


# Five tokens, of 40, 30, 20, 8 and 2 percent.
FIVE = np.log([40.0, 30.0, 20.0, 8.0, 2.0])


@pytest.mark.parametrize(("chance", "token"), [(0.39, 0), (0.41, 1), (0.71, 2), (0.89, 2), (0.91, 3), (0.99, 4)])
def test_next_token_without_filters(impl, chance, token):
    calling(impl.next_token, FIVE, [], 1.0, 0, 1.0, 1.0, chance).gives(token)


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
def test_next_token_of_temperature_0(impl, chance):
    calling(impl.next_token, np.array([1.0, 3.0, 2.0]), [], 0.0, 0, 1.0, 1.0, chance).gives(1)


def test_next_token_of_temperature_0_and_equal_scores(impl):
    calling(impl.next_token, np.array([1.0, 3.0, 3.0, 2.0]), [], 0.0, 2, 0.5, 1.0, 0.9).gives(1)


def test_next_token_of_temperature_0_behind_the_penalty(impl):
    calling(impl.next_token, np.array([1.0, 3.0, 2.0]), [1], 0.0, 0, 1.0, 2.0, 0.5).gives(2)
    calling(impl.next_token, np.array([-2.0, -1.0]), [1, 1], 0.0, 0, 1.0, 3.0, 0.5).gives(0)


def test_next_token_with_a_temperature(impl):
    """The ratio 3 to 1 becomes 9 to 1 at a temperature of 0.5, and about 1.7 to 1 at 2."""
    scores = np.log([3.0, 1.0])
    calling(impl.next_token, scores, [], 0.5, 0, 1.0, 1.0, 0.88).gives(0)
    calling(impl.next_token, scores, [], 1.0, 0, 1.0, 1.0, 0.7).gives(0)
    calling(impl.next_token, scores, [], 2.0, 0, 1.0, 1.0, 0.7).gives(1)
    calling(impl.next_token, scores, [], 2.0, 0, 1.0, 1.0, 0.6).gives(0)


def test_next_token_with_top_k(impl):
    """Of 40 and 30 percent the first is 4/7."""
    calling(impl.next_token, FIVE, [], 1.0, 2, 1.0, 1.0, 0.56).gives(0)
    calling(impl.next_token, FIVE, [], 1.0, 2, 1.0, 1.0, 0.58).gives(1)
    calling(impl.next_token, FIVE, [], 1.0, 2, 1.0, 1.0, 0.999).gives(1)


def test_next_token_with_top_p(impl):
    """0.4 and 0.3 do not reach 0.8; with 0.2 they do."""
    calling(impl.next_token, FIVE, [], 1.0, 0, 0.8, 1.0, 0.999).gives(2)
    calling(impl.next_token, FIVE, [], 1.0, 0, 0.8, 1.0, 0.43).gives(0)


def test_next_token_with_a_penalty(impl):
    """Token 0 has e and token 1 has 1 before the penalty; afterwards token 0 has the square root of e."""
    scores = np.array([1.0, 0.0])
    calling(impl.next_token, scores, [], 1.0, 0, 1.0, 2.0, 0.7).gives(0)
    calling(impl.next_token, scores, [0], 1.0, 0, 1.0, 2.0, 0.7).gives(1)


def test_next_token_has_the_penalty_before_top_k(impl):
    """Behind the penalty the two highest are tokens 1 and 2."""
    scores = np.array([4.0, 3.0, 2.5, 2.0])
    calling(impl.next_token, scores, [0], 1.0, 2, 1.0, 2.0, 0.0).gives(1)
    calling(impl.next_token, scores, [0], 1.0, 2, 1.0, 2.0, 0.999).gives(2)


def test_next_token_has_the_temperature_before_top_p(impl):
    """At temperature 1 token 0 has 0.75 and is not enough for 0.85; at 0.5 it has 0.9 and is."""
    scores = np.log([3.0, 1.0])
    calling(impl.next_token, scores, [], 1.0, 0, 0.85, 1.0, 0.999).gives(1)
    calling(impl.next_token, scores, [], 0.5, 0, 0.85, 1.0, 0.999).gives(0)


def test_next_token_has_top_k_before_top_p(impl):
    """Of the two that top-k leaves, token 0 has 4/7, which reaches 0.5. Of all five it has 0.4, which does not."""
    calling(impl.next_token, FIVE, [], 1.0, 2, 0.5, 1.0, 0.999).gives(0)
    calling(impl.next_token, FIVE, [], 1.0, 0, 0.5, 1.0, 0.999).gives(1)


def test_next_token_of_all_steps(impl):
    scores = np.array([2.0, 1.0, 0.0, -1.0])
    calling(impl.next_token, scores, [0], 0.5, 3, 0.9, 2.0, 0.3).gives(0)
    calling(impl.next_token, scores, [0], 0.5, 3, 0.9, 2.0, 0.7).gives(1)
    calling(impl.next_token, scores, [0], 0.5, 3, 0.9, 2.0, 0.999).gives(1)


@given(scores=SCORES, k=st.integers(0, 10))
def test_top_k_as_in_the_engine(impl, scores, k):
    calling(impl.top_k, scores, k).gives(kept_best(scores, k))


@given(scores=SCORES, p=SHARES)
def test_top_p_as_in_the_engine(impl, scores, p):
    calling(impl.top_p, scores, p).gives(kept_together(scores, p))


@given(
    scores=SCORES,
    text=st.lists(st.integers(0, 8), max_size=4),
    temperature=st.sampled_from([0.0, 0.5, 0.8, 1.0, 1.7]),
    k=st.integers(0, 9),
    p=SHARES,
    penalty=st.sampled_from([1.0, 1.25, 2.0]),
    chance=CHANCES,
)
def test_next_token_as_in_the_engine(impl, scores, text, temperature, k, p, penalty, chance):
    text = [token for token in text if token < len(scores)]
    probabilities = Sampler(temperature, k, p, penalty).probabilities(scores, text)
    wanted = int(np.searchsorted(np.cumsum(probabilities), chance, side="right"))
    calling(impl.next_token, scores, text, temperature, k, p, penalty, chance).gives(wanted)
