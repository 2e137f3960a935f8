"""Exercise 6.1."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.operators.causal_attention import causal_attention as engine_attention

LOG2, LOG3, LOG4 = (float(np.log(n)) for n in (2, 3, 4))
HIDDEN = -np.inf
NOTHING = ([HIDDEN], [0], [[0]])


def array(numbers):
    return np.array(numbers, np.float32)


def state(maximum, total, mixed):
    """A Partial as it arrives here."""
    return {"maximum": array(maximum), "total": array(total), "mixed": array(mixed)}


def arrays(maximum, total, mixed):
    return array(maximum), array(total), array(mixed)


def test_begin(impl):
    calling(impl.begin, 1, 1).gives(state(*NOTHING))


def test_begin_of_several_rows(impl):
    calling(impl.begin, 2, 3).gives(state([HIDDEN, HIDDEN], [0, 0], [[0, 0, 0], [0, 0, 0]]))


def add_to(impl, maximum, total, mixed, scores, values):
    """A block is added to a Partial of these three."""
    return impl.add_block(impl.Partial(maximum, total, mixed), scores, values)


def test_add_block_of_equal_scores(impl):
    calling(add_to, impl, *arrays(*NOTHING), array([[5, 5]]), array([[6], [1]])).gives(state([5], [2], [[7]]))


def test_add_block_of_unlike_scores(impl):
    """exp(0 - log 4) and exp(log 2 - log 4) are 1/4 and 1/2."""
    calling(add_to, impl, *arrays(*NOTHING), array([[0, LOG4, LOG2]]), array([[8], [3], [2]])).gives(
        state([LOG4], [1.75], [[6]]), tolerance=1e-6
    )


def test_add_block_of_several_numbers_a_value(impl):
    calling(
        add_to, impl, *arrays([HIDDEN], [0], [[0, 0, 0]]), array([[LOG2, 0]]), array([[1, 2, 3], [10, 20, -40]])
    ).gives(state([LOG2], [1.5], [[6, 12, -17]]), tolerance=1e-6)


def test_add_block_with_the_same_maximum(impl):
    calling(add_to, impl, *arrays([2], [3], [[10]]), array([[2, 2]]), array([[5], [-1]])).gives(state([2], [5], [[14]]))


def test_add_block_below_the_maximum(impl):
    """What was there stays; the new key counts exp(0 - log 4)."""
    calling(add_to, impl, *arrays([LOG4], [3], [[10]]), array([[0]]), array([[8]])).gives(
        state([LOG4], [3.25], [[12]]), tolerance=1e-6
    )


def test_add_block_above_the_maximum(impl):
    """What was there counts exp(0 - log 4)."""
    calling(add_to, impl, *arrays([0], [3], [[10]]), array([[LOG4]]), array([[8]])).gives(
        state([LOG4], [1.75], [[10.5]]), tolerance=1e-6
    )


def test_add_block_to_several_rows(impl):
    """Row 0 keeps its maximum, row 1 gets a larger one, row 2 has none yet."""
    calling(
        add_to,
        impl,
        *arrays([LOG4, 0, HIDDEN], [3, 2, 0], [[10, 1], [4, 8], [0, 0]]),
        array([[0, LOG2], [LOG2, 0], [1, 1]]),
        array([[4, 8], [2, -4]]),
    ).gives(
        state([LOG4, LOG2, 1], [3.75, 2.5, 2], [[12, 1], [7, 10], [6, 4]]),
        tolerance=1e-6,
    )


def test_add_block_with_a_hidden_key(impl):
    calling(add_to, impl, *arrays([0], [1], [[2]]), array([[HIDDEN, 0]]), array([[100], [5]])).gives(
        state([0], [2], [[7]])
    )


def test_add_block_that_a_row_does_not_see(impl):
    """Row 0 has seen keys before, and sees none of these."""
    calling(
        add_to,
        impl,
        *arrays([-3, 1], [2, 1], [[6], [4]]),
        array([[HIDDEN, HIDDEN], [HIDDEN, 1]]),
        array([[100], [5]]),
    ).gives(state([-3, 1], [2, 2], [[6], [9]]))


def test_add_block_when_a_row_has_seen_nothing(impl):
    calling(
        add_to,
        impl,
        *arrays([HIDDEN, 1], [0, 1], [[0], [4]]),
        array([[HIDDEN, HIDDEN], [1, 1]]),
        array([[100], [5]]),
    ).gives(state([HIDDEN, 1], [0, 3], [[0], [109]]))


def test_add_block_of_a_first_key_below_zero(impl):
    calling(add_to, impl, *arrays(*NOTHING), array([[-1000, -1000]]), array([[6], [1]])).gives(
        state([-1000], [2], [[7]])
    )


@pytest.mark.parametrize("scores", [(1000, -1000), (-1000, 1000), (1000, 999), (-1000, -999)])
def test_add_block_of_large_scores(impl, scores):
    first, second = scores
    level = max(scores)
    old, new = np.exp(np.float32(first - level)), np.exp(np.float32(second - level))
    calling(add_to, impl, *arrays([first], [1], [[3]]), array([[second]]), array([[5]])).gives(
        state([level], [old + new], [[3 * old + 5 * new]]), tolerance=1e-6
    )


def before_and_after(impl, maximum, total, mixed, scores, values):
    """The Partial that was given, when a block has been added to it."""
    given = impl.Partial(maximum, total, mixed)
    impl.add_block(given, scores, values)
    return given


def test_add_block_does_not_change_what_it_gets(impl):
    calling(before_and_after, impl, *arrays([0], [3], [[10]]), array([[LOG4]]), array([[8]])).keeps(
        state([0], [3], [[10]])
    )


def after_blocks(impl, scores, values, ends):
    """Begin, and add the keys up to each of these ends."""
    partial = impl.begin(len(scores), values.shape[1])
    for first, end in zip([0, *ends], ends):
        partial = impl.add_block(partial, scores[:, first:end], values[first:end])
    return partial


def at_once(scores, values):
    """The same from all scores, by numbers of twice the length."""
    maximum = scores.max(axis=1)
    powers = np.exp(scores.astype(np.float64) - maximum[:, None])
    return state(maximum, powers.sum(axis=1), powers @ values)


@pytest.mark.parametrize("ends", [[9], [3, 6, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], [8, 9], [1, 9]])
def test_add_block_after_block(impl, ends):
    numbers = np.random.default_rng(7)
    scores, values = array(numbers.normal(0, 3, (4, 9))), array(numbers.normal(0, 1, (9, 3)))
    calling(after_blocks, impl, scores, values, ends).gives(at_once(scores, values), tolerance=1e-5)


def merged(impl, one, other):
    """Two Partials, each from its three arrays."""
    return impl.merge(impl.Partial(*one), impl.Partial(*other))


def test_merge_with_the_same_maximum(impl):
    calling(merged, impl, arrays([2], [3], [[10, 1]]), arrays([2], [1], [[5, -2]])).gives(state([2], [4], [[15, -1]]))


def test_merge_with_a_larger_maximum(impl):
    """The first one counts exp(0 - log 4)."""
    calling(merged, impl, arrays([0], [2], [[10]]), arrays([LOG4], [1], [[3]])).gives(
        state([LOG4], [1.5], [[5.5]]), tolerance=1e-6
    )


def test_merge_with_a_smaller_maximum(impl):
    """The second one counts exp(0 - log 4)."""
    calling(merged, impl, arrays([LOG4], [1], [[3]]), arrays([0], [3], [[10]])).gives(
        state([LOG4], [1.75], [[5.5]]), tolerance=1e-6
    )


def test_merge_of_several_rows(impl):
    one = arrays([LOG2, 0, 1], [1, 3, 1], [[4], [8], [6]])
    other = arrays([0, LOG2, 1], [3, 1, 2], [[10], [1], [-2]])
    calling(merged, impl, one, other).gives(state([LOG2, LOG2, 1], [2.5, 2.5, 3], [[9], [5], [4]]), tolerance=1e-6)


def test_merge_when_one_has_seen_nothing(impl):
    one = arrays([HIDDEN, -2], [0, 3], [[0], [6]])
    other = arrays([-5, HIDDEN], [2, 0], [[8], [0]])
    calling(merged, impl, one, other).gives(state([-5, -2], [2, 3], [[8], [6]]))


def test_merge_when_both_have_seen_nothing(impl):
    one = arrays([HIDDEN, 1], [0, 1], [[0], [4]])
    other = arrays([HIDDEN, 1], [0, 2], [[0], [5]])
    calling(merged, impl, one, other).gives(state([HIDDEN, 1], [0, 3], [[0], [9]]))


@pytest.mark.parametrize("maxima", [(1000, -1000), (-1000, 1000), (-1000, -1000)])
def test_merge_of_large_scores(impl, maxima):
    level = max(maxima)
    first, second = (np.exp(np.float32(maximum - level)) for maximum in maxima)
    calling(merged, impl, arrays(maxima[:1], [2], [[3]]), arrays(maxima[1:], [1], [[5]])).gives(
        state([level], [2 * first + second], [[3 * first + 5 * second]]), tolerance=1e-6
    )


def given_after_merge(impl, one, other):
    """Both Partials that were given, when they have been merged."""
    given = impl.Partial(*one), impl.Partial(*other)
    impl.merge(*given)
    return given


def test_merge_does_not_change_what_it_gets(impl):
    one, other = ([0], [2], [[10]]), ([LOG4], [1], [[3]])
    calling(given_after_merge, impl, arrays(*one), arrays(*other)).keeps((state(*one), state(*other)))


def finished(impl, maximum, total, mixed):
    return impl.finish(impl.Partial(maximum, total, mixed))


def test_finish(impl):
    calling(finished, impl, *arrays([1, 3], [4, 2], [[2, 8], [-6, 1]])).gives(array([[0.5, 2], [-3, 0.5]]))


def test_finish_of_several_rows(impl):
    calling(finished, impl, *arrays([5, -2, 0], [4, 2, 1], [[2, 8], [-6, 1], [3, 7]])).gives(
        array([[0.5, 2], [-3, 0.5], [3, 7]])
    )


def test_finish_when_a_row_has_seen_nothing(impl):
    calling(finished, impl, *arrays([HIDDEN, 3], [0, 2], [[0, 0], [5, 6]])).gives(array([[0, 0], [2.5, 3]]))


def given_after_finish(impl, maximum, total, mixed):
    """The Partial that was given, when its result has been asked for."""
    given = impl.Partial(maximum, total, mixed)
    impl.finish(given)
    return given


def test_finish_does_not_change_what_it_gets(impl):
    calling(given_after_finish, impl, *arrays([1, HIDDEN], [4, 0], [[2, 8], [0, 0]])).keeps(
        state([1, HIDDEN], [4, 0], [[2, 8], [0, 0]])
    )


def ones(*shape):
    return np.ones(shape, np.float32)


def test_blocked_attention_of_one_token(impl):
    calling(impl.blocked_attention, array([[[3, -1]]]), array([[[5, 2]]]), array([[[7, -4]]]), 2).gives(
        array([[[7, -4]]])
    )


def test_blocked_attention_of_one_block(impl):
    """Keys are alike: each value has the same share."""
    calling(impl.blocked_attention, ones(1, 1, 1), ones(1, 3, 1), array([[[3], [5], [10]]]), 3).gives(
        array([[[6]]]), tolerance=1e-6
    )


def test_blocked_attention_of_two_blocks(impl):
    calling(impl.blocked_attention, ones(1, 1, 1), ones(1, 4, 1), array([[[3], [5], [10], [2]]]), 2).gives(
        array([[[5]]]), tolerance=1e-6
    )


def test_blocked_attention_of_a_last_block_that_is_shorter(impl):
    calling(impl.blocked_attention, ones(1, 1, 1), ones(1, 5, 1), array([[[3], [5], [10], [2], [-5]]]), 2).gives(
        array([[[3]]]), tolerance=1e-6
    )


def test_blocked_attention_of_less_than_a_block(impl):
    calling(impl.blocked_attention, ones(1, 1, 1), ones(1, 3, 1), array([[[3], [5], [10]]]), 64).gives(
        array([[[6]]]), tolerance=1e-6
    )


def test_blocked_attention_of_unlike_keys(impl):
    """exp(0), exp(log 2), exp(log 3): the shares are 1/6, 1/3 and 1/2."""
    key, value = array([[[0], [LOG2], [LOG3]]]), array([[[6], [12], [24]]])
    calling(impl.blocked_attention, ones(1, 1, 1), key, value, 1).gives(array([[[17]]]), tolerance=1e-6)


def test_blocked_attention_divides_by_the_root_of_the_width(impl):
    """Four numbers: the sum of the products is 2 log 3, divided by 2 it is log 3; the shares are 1/4 and 3/4."""
    key = array([[[0, 5, 7, 0], [LOG3, 5, 7, LOG3]]])
    value = array([[[4, 0, 8, 0], [0, 4, 8, -4]]])
    calling(impl.blocked_attention, array([[[1, 0, 0, 1]]]), key, value, 1).gives(
        array([[[1, 3, 8, -3]]]), tolerance=1e-6
    )


def test_blocked_attention_sees_nothing_behind(impl):
    value = array([[[3], [5], [10], [2]]])
    calling(impl.blocked_attention, ones(1, 4, 1), ones(1, 4, 1), value, 2).gives(
        array([[[3], [4], [6], [5]]]), tolerance=1e-6
    )


def test_blocked_attention_of_the_last_tokens(impl):
    """Two queries in a text of five: the first one stands at position 3, and sees four values."""
    value = array([[[1], [2], [3], [6], [13]]])
    calling(impl.blocked_attention, ones(1, 2, 1), ones(1, 5, 1), value, 2).gives(array([[[3], [5]]]), tolerance=1e-6)


def test_blocked_attention_of_shared_heads(impl):
    """Heads 0 and 1 use the first head of the keys and values, 2 and 3 the second one."""
    key, value = array([[[0], [LOG3]], [[LOG3], [0]]]), array([[[4], [8]], [[4], [8]]])
    calling(impl.blocked_attention, ones(4, 1, 1), key, value, 1).gives(
        array([[[7]], [[7]], [[5]], [[5]]]), tolerance=1e-6
    )


def test_blocked_attention_of_shared_heads_and_several_tokens(impl):
    """Nobody sees what is behind, whichever head it belongs to."""
    value = array([[[2], [4], [9]], [[10], [20], [60]]])
    calling(impl.blocked_attention, ones(4, 3, 1), ones(2, 3, 1), value, 2).gives(
        array([[[2], [3], [5]], [[2], [3], [5]], [[10], [15], [30]], [[10], [15], [30]]]), tolerance=1e-6
    )


def test_blocked_attention_of_large_scores(impl):
    key = array([[[1000], [-1000], [1000]]])
    calling(impl.blocked_attention, ones(1, 3, 1), key, array([[[3], [5], [7]]]), 1).gives(
        array([[[3], [3], [5]]]), tolerance=1e-6
    )


def largest_block(impl, query, key, value, block):
    """The most keys that add_block was given at a time."""
    names, seen = impl.blocked_attention.__globals__, [0]
    own = names["add_block"]

    def counting(partial, scores, values):
        seen.append(np.shape(scores)[-1])
        return own(partial, scores, values)

    names["add_block"] = counting
    try:
        impl.blocked_attention(query, key, value, block)
    finally:
        names["add_block"] = own
    return int(max(seen))


@pytest.mark.parametrize("block", [1, 3])
def test_blocked_attention_never_has_more_than_a_block(impl, block):
    calling(largest_block, impl, ones(2, 4, 2), ones(1, 7, 2), ones(1, 7, 2), block).gives(block)


@given(
    g=st.integers(1, 3),
    shared=st.integers(1, 3),
    s=st.integers(1, 5),
    before=st.integers(0, 5),
    block=st.integers(1, 6),
)
def test_blocked_attention_of_any_sizes(impl, g, shared, s, before, block):
    numbers = np.random.default_rng(g + 10 * shared + 100 * s + 1000 * before)
    query = array(numbers.normal(0, 2, (g * shared, s, 4)))
    key, value = (array(numbers.normal(0, 2, (g, before + s, 4))) for _ in range(2))
    calling(impl.blocked_attention, query, key, value, block).gives(
        engine_attention(query[None], key[None], value[None])[0], tolerance=1e-5
    )
