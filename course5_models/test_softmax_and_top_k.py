"""Exercise 5.2."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import arrays, given, st
from kuiper.layers.reference import softmax as reference

LOGITS = arrays.arrays(np.float32, st.tuples(*[st.integers(1, 4)] * 3), elements=st.integers(-60, 60).map(float))
ROWS = arrays.arrays(
    np.float32, st.tuples(st.integers(1, 3), st.integers(1, 9)), elements=st.integers(-3, 3).map(float)
)
TWO, THREE, FOUR = (float(np.log(value)) for value in (2, 3, 4))


def test_softmax(impl):
    calling(impl.softmax, np.float32([0, 0, TWO])).gives(np.float32([0.25, 0.25, 0.5]), tolerance=1e-6)


def test_softmax_of_negative_logits(impl):
    calling(impl.softmax, np.float32([-5, -5 - TWO, -5 - TWO])).gives(np.float32([0.5, 0.25, 0.25]), tolerance=1e-6)


def test_softmax_of_each_row(impl):
    x = np.float32([[0, 0, TWO], [THREE, 0, 0]])
    calling(impl.softmax, x).gives(np.float32([[0.25, 0.25, 0.5], [0.6, 0.2, 0.2]]), tolerance=1e-6)


def test_softmax_of_a_square(impl):
    x = np.float32([[0, THREE], [FOUR, 0]])
    calling(impl.softmax, x).gives(np.float32([[0.25, 0.75], [0.8, 0.2]]), tolerance=1e-6)


def test_softmax_down_the_columns(impl):
    x = np.float32([[0, THREE], [FOUR, 0]])
    calling(impl.softmax, x, 0).gives(np.float32([[0.2, 0.75], [0.8, 0.25]]), tolerance=1e-6)


def test_softmax_along_the_middle_axis(impl):
    x = np.float32([[[0, 0], [THREE, 0]], [[0, TWO], [0, 0]]])
    wanted = np.float32([[[0.25, 0.5], [0.75, 0.5]], [[0.5, 2 / 3], [0.5, 1 / 3]]])
    calling(impl.softmax, x, axis=1).gives(wanted, tolerance=1e-6)


def test_softmax_of_large_logits(impl):
    calling(impl.softmax, np.float32([1000, 1000])).gives(np.float32([0.5, 0.5]))


def test_softmax_of_rows_far_apart(impl):
    x = np.float32([[1000, 1000 - 20], [-1000, -1000]])
    calling(impl.softmax, x).gives(np.float32([[1, 0], [0.5, 0.5]]), tolerance=1e-6)


def test_softmax_of_minus_infinity(impl):
    calling(impl.softmax, np.float32([-np.inf, 1, 1])).gives(np.float32([0, 0.5, 0.5]))


def test_softmax_of_one_class(impl):
    calling(impl.softmax, np.float32([[7], [-300]])).gives(np.float32([[1], [1]]))


@pytest.mark.parametrize("axis", [-2, -3, 2])
def test_any_axis(impl, axis):
    x = np.random.default_rng(7).normal(0, 3, (2, 3, 4)).astype(np.float32)
    powers = np.exp(x.astype(np.float64))
    wanted = (powers / powers.sum(axis=axis, keepdims=True)).astype(np.float32)
    calling(impl.softmax, x, axis).gives(wanted, tolerance=1e-6)
    calling(impl.log_softmax, x, axis).gives(np.log(wanted.astype(np.float64)).astype(np.float32), tolerance=1e-6)


def test_softmax_of_small_logits_keeps_the_small_probabilities(impl):
    calling(impl.softmax, np.float32([-60])).gives(np.float32([1]))
    wanted = np.exp(np.float64([-40])).astype(np.float32)
    calling(last_probability, impl, np.float32([0, -40])).gives(wanted, tolerance=1e-5)


def last_probability(impl, x):
    return impl.softmax(x)[-1:]


def test_log_softmax_of_minus_infinity(impl):
    with np.errstate(divide="ignore"):
        calling(impl.log_softmax, np.float32([[-np.inf, 1, 1]])).gives(
            np.float32([[-np.inf, -TWO, -TWO]]), tolerance=1e-6
        )


def test_log_softmax_close_to_zero(impl):
    """The first is exp(-12), which is lost in 1 + exp(-12) only by 7 digits: minus that is what log_softmax must say."""
    calling(impl.log_softmax, np.float32([0, -200, -300])).gives(np.float32([0, -200, -300]))


@given(x=LOGITS)
def test_softmax_as_in_the_engine(impl, x):
    calling(impl.softmax, x, 1).gives(reference.softmax(x.astype(np.float64)).astype(np.float32), tolerance=1e-5)


def test_log_softmax(impl):
    wanted = np.log([0.25, 0.25, 0.5]).astype(np.float32)
    calling(impl.log_softmax, np.float32([0, 0, TWO])).gives(wanted, tolerance=1e-6)


def test_log_softmax_where_softmax_is_zero(impl):
    calling(impl.log_softmax, np.float32([[0, 200], [-150, 0]])).gives(np.float32([[-200, 0], [-150, 0]]))


def test_log_softmax_of_large_logits(impl):
    wanted = np.full((2, 2), -TWO, np.float32)
    calling(impl.log_softmax, np.float32([[5000, 5000], [-5000, -5000]])).gives(wanted, tolerance=1e-6)


def test_log_softmax_down_the_columns(impl):
    x = np.float32([[0, THREE], [FOUR, 0]])
    wanted = np.log([[0.2, 0.75], [0.8, 0.25]]).astype(np.float32)
    calling(impl.log_softmax, x, 0).gives(wanted, tolerance=1e-6)


@given(x=LOGITS)
def test_log_softmax_as_in_the_engine(impl, x):
    wanted = reference.log_softmax(x.astype(np.float64)).astype(np.float32)
    calling(impl.log_softmax, x, 1).gives(wanted, tolerance=1e-5)


def test_top_k(impl):
    calling(impl.top_k, np.float32([[1, 5, 2, 4]]), 3).gives((np.float32([[5, 4, 2]]), np.int64([[1, 3, 2]])))


def test_top_k_of_each_row(impl):
    scores = np.float32([[1, 5, 2], [9, 7, 8]])
    calling(impl.top_k, scores, 2).gives((np.float32([[5, 2], [9, 8]]), np.int64([[1, 2], [0, 2]])))


def test_top_k_of_negative_scores(impl):
    calling(impl.top_k, np.float32([[-3, -1, -2]]), 2).gives((np.float32([[-1, -2]]), np.int64([[1, 2]])))


def test_top_k_of_equal_scores(impl):
    scores = np.float32([[7, 8, 7, 8, 7, 8]])
    calling(impl.top_k, scores, 5).gives((np.float32([[8, 8, 8, 7, 7]]), np.int64([[1, 3, 5, 0, 2]])))


def test_top_k_of_many_equal_scores(impl):
    scores = np.tile(np.float32([1, 0]), 20)[None]
    calling(impl.top_k, scores, 20).gives((np.ones((1, 20), np.float32), np.arange(0, 40, 2, dtype=np.int64)[None]))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.float16, np.float64])
def test_top_k_keeps_the_dtype(impl, dtype):
    scores = np.array([[3, 0, 100, 3, 1], [0, 0, 1, 0, 0]], dtype)
    wanted = np.array([[100, 3, 3, 1, 0], [1, 0, 0, 0, 0]], dtype), np.int64([[2, 0, 3, 4, 1], [2, 0, 1, 3, 4]])
    calling(impl.top_k, scores, 5).gives(wanted)


def test_top_k_of_the_smallest_and_largest_integers(impl):
    calling(impl.top_k, np.int8([[-128, 127, 0]]), 3).gives((np.int8([[127, 0, -128]]), np.int64([[1, 2, 0]])))
    calling(impl.top_k, np.int64([[2**53, 2**53 + 1]]), 1).gives((np.int64([[2**53 + 1]]), np.int64([[1]])))


def test_top_k_of_infinities(impl):
    scores = np.float32([[-np.inf, 3, np.inf, -np.inf]])
    calling(impl.top_k, scores, 4).gives((np.float32([[np.inf, 3, -np.inf, -np.inf]]), np.int64([[2, 1, 0, 3]])))


def test_top_k_of_no_rows_and_of_one_column(impl):
    calling(impl.top_k, np.zeros((0, 3), np.float32), 2).gives(
        (np.zeros((0, 2), np.float32), np.zeros((0, 2), np.int64))
    )
    calling(impl.top_k, np.float32([[5], [-1]]), 1).gives((np.float32([[5], [-1]]), np.int64([[0], [0]])))


@pytest.mark.parametrize("function", ["softmax", "log_softmax"])
def test_of_any_memory_order(impl, function):
    x = np.random.default_rng(2).normal(0, 2, (3, 4)).astype(np.float32)
    shares = np.exp(x.astype(np.float64))
    shares /= shares.sum(axis=1, keepdims=True)
    wanted = (shares if function == "softmax" else np.log(shares)).astype(np.float32)
    for array in (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
        calling(getattr(impl, function), array).gives(wanted, tolerance=1e-6)


def test_top_k_of_a_view(impl):
    scores = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-2]
    calling(impl.top_k, scores, 2).gives((np.float32([[5, 3], [17, 15]]), np.int64([[0, 1], [0, 1]])))


def test_top_k_of_all(impl):
    calling(impl.top_k, np.float64([[1, 3, 2]]), 3).gives((np.float64([[3, 2, 1]]), np.int64([[1, 2, 0]])))


@pytest.mark.parametrize("k", [0, -2, 4])
def test_top_k_of_too_few_or_too_many(impl, k):
    calling(impl.top_k, np.float32([[1, 3, 2], [4, 5, 6]]), k).raises(ValueError, f"{k}")


@given(scores=ROWS, data=st.data())
def test_top_k_as_sorted_by_python(impl, scores, data):
    k = data.draw(st.integers(1, scores.shape[1]))
    pairs = [sorted((-value, column) for column, value in enumerate(row))[:k] for row in scores.tolist()]
    values = np.array([[-value for value, _ in row] for row in pairs], np.float32)
    columns = np.int64([[column for _, column in row] for row in pairs])
    calling(impl.top_k, scores, k).gives((values, columns))
