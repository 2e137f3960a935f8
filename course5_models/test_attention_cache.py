"""Exercise 5.12."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.layers.operators.causal_attention import causal_attention as engine_attention

LOG2, LOG3 = float(np.log(2)), float(np.log(3))


def counting(*shape, start=1):
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def lengths_of_a_new_cache(impl, b, heads, max_length, width):
    cache = impl.Cache(b, heads, max_length, width)
    return int(cache.length)


def test_init_is_empty(impl):
    calling(lengths_of_a_new_cache, impl, 1, 2, 8, 4).gives(0)


def steps(impl, sizes, *parts, rewinds=()):
    """All that append returned, as copies, and the length in the end; rewinds[i] is done before part i."""
    cache = impl.Cache(*sizes)
    seen = []
    for number, rows in enumerate(parts):
        for before, length in rewinds:
            if before == number:
                cache.rewind(length)
        seen.append(np.array(cache.append(rows)))
    return seen, int(cache.length)


def test_append(impl):
    rows = counting(1, 1, 2, 3)
    calling(steps, impl, (1, 1, 4, 3), rows).gives(([rows], 2))


def test_append_twice(impl):
    rows = counting(1, 1, 5, 2)
    first, second = rows[:, :, :2], rows[:, :, 2:]
    calling(steps, impl, (1, 1, 8, 2), first, second).gives(([first, rows], 5))


def test_append_one_row_after_another(impl):
    rows = counting(1, 2, 4, 3)
    parts = [rows[:, :, i : i + 1] for i in range(4)]
    calling(steps, impl, (1, 2, 4, 3), *parts).gives(([rows[:, :, : i + 1] for i in range(4)], 4))


def test_append_for_several_texts_and_heads(impl):
    rows = counting(2, 3, 3, 5)
    calling(steps, impl, (2, 3, 7, 5), rows[:, :, :1], rows[:, :, 1:]).gives(([rows[:, :, :1], rows], 3))


def test_append_no_rows(impl):
    rows = counting(1, 1, 2, 3)
    calling(steps, impl, (1, 1, 2, 3), rows, rows[:, :, :0]).gives(([rows, rows], 2))


def test_append_until_it_is_full(impl):
    rows = counting(1, 1, 4, 2)
    calling(steps, impl, (1, 1, 4, 2), rows[:, :, :3], rows[:, :, 3:]).gives(([rows[:, :, :3], rows], 4))


def how_two_answers_lie(impl, rows):
    """Whether the answers of two calls begin at the same place in memory."""
    cache = impl.Cache(1, 2, 6, 3)
    first = cache.append(rows)
    second = cache.append(rows)
    return "at one place" if second.ctypes.data == first.ctypes.data else "at two places"


def test_append_returns_a_view(impl):
    calling(how_two_answers_lie, impl, counting(1, 2, 2, 3)).gives("at one place")


def answer_after_the_rows_change(impl, rows):
    """What a call returned, read when the rows that it was given have been overwritten."""
    cache, given = impl.Cache(1, 2, 6, 3), np.array(rows)
    shown = cache.append(given)
    given[...] = 0
    return np.array(shown)


def test_append_keeps_the_numbers_not_the_array(impl):
    rows = counting(1, 2, 2, 3)
    calling(answer_after_the_rows_change, impl, rows).gives(rows)


def caches_side_by_side(impl, first, second):
    keys, values = impl.Cache(1, 1, 4, 2), impl.Cache(1, 1, 4, 2)
    shown = keys.append(first), values.append(second)
    return [np.array(rows) for rows in shown], int(keys.length), int(values.length)


def test_init_of_two_caches(impl):
    first, second = counting(1, 1, 2, 2), counting(1, 1, 3, 2, start=50)
    calling(caches_side_by_side, impl, first, second).gives(([first, second], 2, 3))


def append_two_parts(impl, before, rows):
    cache = impl.Cache(1, 1, 3, 2)
    cache.append(before)
    cache.append(rows)


def test_append_too_much(impl):
    calling(append_two_parts, impl, counting(1, 1, 2, 2), counting(1, 1, 2, 2)).raises(ValueError, "max_length")


def append_after_too_much(impl, before, rows):
    """The rows that are there, and the length, when less is appended behind what did not fit."""
    from contextlib import suppress

    cache = impl.Cache(1, 1, 3, 2)
    cache.append(before)
    with suppress(ValueError):
        cache.append(rows)
    after = np.array(cache.append(rows[:, :, :1]))
    return after, int(cache.length)


def test_append_too_much_changes_nothing(impl):
    before, rows = counting(1, 1, 2, 2), counting(1, 1, 2, 2, start=50)
    after = np.concatenate([before, rows[:, :, :1]], axis=2)
    calling(append_after_too_much, impl, before, rows).gives((after, 3))


def append_in_one_go(impl, max_length, rows):
    cache = impl.Cache(1, 1, max_length, 2)
    return np.array(cache.append(rows))


def test_append_more_than_max_length(impl):
    calling(append_in_one_go, impl, 5, counting(1, 1, 6, 2)).raises(ValueError, "max_length")


def test_rewind(impl):
    rows, other = counting(1, 1, 3, 2), counting(1, 1, 1, 2, start=50)
    after = np.concatenate([rows[:, :, :1], other], axis=2)
    calling(steps, impl, (1, 1, 4, 2), rows, other, rewinds=((1, 1),)).gives(([rows, after], 2))


def test_rewind_to_the_beginning(impl):
    rows, other = counting(1, 1, 4, 2), counting(1, 1, 2, 2, start=50)
    calling(steps, impl, (1, 1, 4, 2), rows, other, rewinds=((1, 0),)).gives(([rows, other], 2))


def test_rewind_to_where_it_is(impl):
    rows = counting(1, 1, 4, 2)
    calling(steps, impl, (1, 1, 4, 2), rows[:, :, :3], rows[:, :, 3:], rewinds=((1, 3),)).gives(
        ([rows[:, :, :3], rows], 4)
    )


def test_rewind_twice(impl):
    rows = counting(1, 1, 4, 2)
    calling(steps, impl, (1, 1, 4, 2), rows, rows[:, :, 2:], rewinds=((1, 3), (1, 2))).gives(([rows, rows], 4))


def rewind_behind_rows(impl, rows, length):
    cache = impl.Cache(1, 1, 9, 2)
    cache.append(rows)
    cache.rewind(length)


@pytest.mark.parametrize("length", [4, 7, -1, -3])
def test_rewind_to_where_nothing_is(impl, length):
    calling(rewind_behind_rows, impl, counting(1, 1, 3, 2), length).raises(ValueError, str(length))


def length_after_a_wrong_rewind(impl, rows, length):
    from contextlib import suppress

    cache = impl.Cache(1, 1, 9, 2)
    cache.append(rows)
    with suppress(ValueError):
        cache.rewind(length)
    return int(cache.length)


@pytest.mark.parametrize("length", [4, -1])
def test_rewind_to_where_nothing_is_changes_nothing(impl, length):
    calling(length_after_a_wrong_rewind, impl, counting(1, 1, 3, 2), length).gives(3)


def rewind_behind_a_rewind(impl, rows):
    """What was forgotten cannot be had back."""
    cache = impl.Cache(1, 1, 9, 2)
    cache.append(rows)
    cache.rewind(1)
    cache.rewind(2)


def test_rewind_forwards(impl):
    calling(rewind_behind_a_rewind, impl, counting(1, 1, 3, 2)).raises(ValueError, "2")


def ones(b, heads, length, width):
    return np.ones((b, heads, length, width), np.float32)


def test_causal_attention_of_one_token(impl):
    query, key, value = np.float32([[[[3, -1]]]]), np.float32([[[[5, 2]]]]), np.float32([[[[7, -4]]]])
    calling(impl.causal_attention, query, key, value).gives(value)


def test_causal_attention_of_equal_keys(impl):
    value = np.float32([[[[3], [5], [10]]]])
    calling(impl.causal_attention, ones(1, 1, 1, 1), ones(1, 1, 3, 1), value).gives(
        np.float32([[[[6]]]]), tolerance=1e-6
    )


def test_causal_attention_of_unlike_keys(impl):
    """exp(0), exp(log 2) and exp(log 3) are 1, 2 and 3: the shares are 1/6, 1/3 and 1/2."""
    key = np.float32([0, LOG2, LOG3]).reshape(1, 1, 3, 1)
    value = np.float32([6, 12, 24]).reshape(1, 1, 3, 1)
    calling(impl.causal_attention, ones(1, 1, 1, 1), key, value).gives(np.float32([[[[17]]]]), tolerance=1e-6)


def test_causal_attention_divides_by_the_root_of_the_width(impl):
    """Four numbers: the sum of the products is 2 log 3, divided by 2 it is log 3; the shares are 1/4 and 3/4."""
    query = np.float32([[[[1, 0, 0, 1]]]])
    key = np.float32([[[[0, 5, 7, 0], [LOG3, 5, 7, LOG3]]]])
    value = np.float32([[[[4, 0, 8, 0], [0, 4, 8, -4]]]])
    calling(impl.causal_attention, query, key, value).gives(np.float32([[[[1, 3, 8, -3]]]]), tolerance=1e-6)


def test_causal_attention_sees_nothing_behind(impl):
    value = np.float32([[[[3], [5], [10]]]])
    calling(impl.causal_attention, ones(1, 1, 3, 1), ones(1, 1, 3, 1), value).gives(
        np.float32([[[[3], [4], [6]]]]), tolerance=1e-6
    )


def test_causal_attention_of_the_last_tokens(impl):
    """Two queries in a text of five: the first stands at position 3, and sees four values."""
    value = np.float32([1, 2, 3, 6, 13]).reshape(1, 1, 5, 1)
    calling(impl.causal_attention, ones(1, 1, 2, 1), ones(1, 1, 5, 1), value).gives(
        np.float32([[[[3], [5]]]]), tolerance=1e-6
    )


def test_causal_attention_of_shared_heads(impl):
    """Four heads with queries, two with keys and values: heads 0 and 1 use the first, 2 and 3 the second."""
    value = np.float32([10, 20]).reshape(1, 2, 1, 1)
    calling(impl.causal_attention, ones(1, 4, 1, 1), ones(1, 2, 1, 1), value).gives(
        np.float32([10, 10, 20, 20]).reshape(1, 4, 1, 1)
    )


def test_causal_attention_of_shared_keys(impl):
    """The keys of the two heads differ, and all values are alike but for their sign."""
    key = np.float32([[0, LOG3], [LOG3, 0]]).reshape(1, 2, 2, 1)
    value = np.float32([[4, 8], [4, 8]]).reshape(1, 2, 2, 1)
    calling(impl.causal_attention, ones(1, 6, 1, 1), key, value).gives(
        np.float32([7, 7, 7, 5, 5, 5]).reshape(1, 6, 1, 1), tolerance=1e-6
    )


def test_causal_attention_of_heads_that_share_nothing(impl):
    query = np.float32([1, 2, 0]).reshape(1, 3, 1, 1)
    key = np.tile(np.float32([0, LOG2]).reshape(1, 1, 2, 1), (1, 3, 1, 1))
    value = np.float32([[3, 6], [5, 10], [2, 4]]).reshape(1, 3, 2, 1)
    calling(impl.causal_attention, query, key, value).gives(np.float32([5, 9, 3]).reshape(1, 3, 1, 1), tolerance=1e-6)


def test_causal_attention_of_several_texts(impl):
    key, value = ones(3, 1, 2, 1), np.float32([[1, 3], [10, 30], [100, 300]]).reshape(3, 1, 2, 1)
    calling(impl.causal_attention, ones(3, 1, 2, 1), key, value).gives(
        np.float32([[1, 2], [10, 20], [100, 200]]).reshape(3, 1, 2, 1), tolerance=1e-6
    )


def test_causal_attention_of_large_scores(impl):
    query, key = ones(1, 1, 1, 1) * 100, np.float32([10, 10, 9]).reshape(1, 1, 3, 1)
    value = np.float32([[[[2], [4], [99]]]])
    calling(impl.causal_attention, query, key, value).gives(np.float32([[[[3]]]]), tolerance=1e-6)


def test_causal_attention_of_very_negative_scores(impl):
    """Scores of -1000 at the first query, of 1000 at the second: each query has a largest score of its own."""
    query, key = np.float32([[[[-100], [100]]]]), ones(1, 1, 2, 1) * 10
    value = np.float32([[[[2], [4]]]])
    calling(impl.causal_attention, query, key, value).gives(np.float32([[[[2], [3]]]]), tolerance=1e-6)


def test_causal_attention_hides_what_has_a_far_higher_score(impl):
    """The key behind the first query scores 2000 more than the one it may see, and must not come through."""
    query, key = ones(1, 1, 2, 1) * 100, np.float32([[[[-10], [10]]]])
    value = np.float32([[[[2], [4]]]])
    calling(impl.causal_attention, query, key, value).gives(np.float32([[[[2], [4]]]]), tolerance=1e-6)


def test_causal_attention_of_heads_that_are_views(impl):
    query = counting(1, 3, 4, 2, start=-9).transpose(0, 2, 1, 3) / 8
    key, value = (counting(1, 5, 2, 2, start=n).transpose(0, 2, 1, 3) / 8 for n in (-11, -2))
    calling(impl.causal_attention, query, key, value).gives(engine_attention(query, key, value), tolerance=1e-5)


SIZES = [(1, 4, 2, 1, 6, 3), (2, 6, 2, 3, 3, 4), (3, 2, 2, 2, 5, 5), (2, 6, 3, 1, 1, 2), (1, 5, 1, 4, 9, 8)]


@pytest.mark.parametrize(("b", "h", "g", "s", "t", "d"), SIZES)
def test_causal_attention_as_in_the_engine(impl, b, h, g, s, t, d):
    numbers = np.random.default_rng(11)
    query, key, value = (
        numbers.normal(0, 2, shape).astype(np.float32) for shape in ((b, h, s, d), (b, g, t, d), (b, g, t, d))
    )
    calling(impl.causal_attention, query, key, value).gives(engine_attention(query, key, value), tolerance=1e-5)


def token_by_token(impl, query, key, value):
    """The answers of one call with all tokens, and of a call for each token on two caches."""
    b, g, t, d = key.shape
    keys, values = impl.Cache(b, g, t, d), impl.Cache(b, g, t, d)
    parts = [
        impl.causal_attention(
            query[:, :, i : i + 1], keys.append(key[:, :, i : i + 1]), values.append(value[:, :, i : i + 1])
        )
        for i in range(t)
    ]
    return np.concatenate(parts, axis=2)


def test_causal_attention_token_by_token_on_two_caches(impl):
    numbers = np.random.default_rng(3)
    query, key, value = (
        numbers.normal(0, 1, shape).astype(np.float32) for shape in ((2, 4, 5, 3), *[(2, 2, 5, 3)] * 2)
    )
    calling(token_by_token, impl, query, key, value).gives(engine_attention(query, key, value), tolerance=1e-5)
