"""Exercise 6.4."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.operators.causal_attention import causal_attention as engine_attention

LOG3 = float(np.log(3))
LEFT_OVER = 1000  # what stands in memory where nobody may look


def array(numbers):
    return np.array(numbers, np.float32)


def integers(*numbers):
    return np.array(numbers, np.int64)


def test_flatten_one_piece(impl):
    calling(impl.flatten, [(0, 0, [8, 3, 5])]).gives((integers(8, 3, 5), integers(0, 0, 0), integers(0, 1, 2)))


def test_flatten_a_piece_that_goes_on(impl):
    calling(impl.flatten, [(0, 4, [8, 3])]).gives((integers(8, 3), integers(0, 0), integers(4, 5)))


def test_flatten_single_tokens(impl):
    calling(impl.flatten, [(0, 6, [8]), (1, 2, [3]), (2, 0, [5])]).gives(
        (integers(8, 3, 5), integers(0, 1, 2), integers(6, 2, 0))
    )


def test_flatten_in_the_order_of_the_pieces(impl):
    calling(impl.flatten, [(2, 4, [8, 3, 5]), (0, 0, [7]), (3, 9, [6, 6])]).gives(
        (integers(8, 3, 5, 7, 6, 6), integers(2, 2, 2, 0, 3, 3), integers(4, 5, 6, 0, 9, 10))
    )


@pytest.mark.parametrize(
    ("lengths", "rows"), [([1], [0]), ([3], [2]), ([1, 1, 1], [0, 1, 2]), ([3, 1, 2], [2, 3, 5]), ([2, 4], [1, 5])]
)
def test_last_rows(impl, lengths, rows):
    """The numbers of texts and the first positions do not matter."""
    pieces = [(5 - i, 7 * i, [1] * length) for i, length in enumerate(lengths)]
    calling(impl.last_rows, pieces).gives(integers(*rows))


def empty(pages, heads, page_size, d):
    """A memory with -1 everywhere."""
    return np.full((pages, heads, page_size, d), -1, np.float32)


def test_write_rows_of_two_tokens(impl):
    expected = empty(2, 1, 2, 3)
    expected[1, 0, 0], expected[1, 0, 1] = [7, 8, 9], [4, 5, 6]
    memory = empty(2, 1, 2, 3)
    calling(impl.write_rows, memory, [[1]], integers(0, 0), integers(0, 1), array([[[7, 8, 9]], [[4, 5, 6]]])).fills(
        memory, expected
    )


def test_write_rows_behind_the_first_page(impl):
    """Position 3 is in the second page of the text, page 0, at its second place."""
    expected = empty(3, 1, 2, 1)
    expected[0, 0, 1] = 7
    memory = empty(3, 1, 2, 1)
    calling(impl.write_rows, memory, [[2, 0]], integers(0), integers(3), array([[[7]]])).fills(memory, expected)


def test_write_rows_of_several_heads(impl):
    expected = empty(2, 2, 3, 2)
    expected[1, 0, 2], expected[1, 1, 2] = [1, 2], [3, 4]
    memory = empty(2, 2, 3, 2)
    calling(impl.write_rows, memory, [[1]], integers(0), integers(2), array([[[1, 2], [3, 4]]])).fills(memory, expected)


def test_write_rows_over_the_end_of_a_page(impl):
    expected = empty(3, 1, 2, 1)
    expected[2, 0, 1], expected[0, 0, 0], expected[0, 0, 1] = 5, 6, 7
    memory = empty(3, 1, 2, 1)
    calling(
        impl.write_rows, memory, [[2, 0]], integers(0, 0, 0), integers(1, 2, 3), array([[[5]], [[6]], [[7]]])
    ).fills(memory, expected)


def test_write_rows_of_several_texts(impl):
    """Three texts, whose tables have 2, 1 and 3 pages; the last text comes first."""
    expected = empty(7, 2, 2, 2)
    expected[6, :, 0], expected[3, :, 1], expected[1, :, 0] = [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]
    memory = empty(7, 2, 2, 2)
    rows = np.arange(1, 13, dtype=np.float32).reshape(3, 2, 2)
    calling(impl.write_rows, memory, [[5, 1], [3], [2, 0, 6]], integers(2, 1, 0), integers(4, 1, 2), rows).fills(
        memory, expected
    )


def test_write_rows_of_a_table_with_more_pages(impl):
    """The table has pages that are not written to yet."""
    expected = empty(4, 1, 4, 1)
    expected[3, 0, 2] = 7
    memory = empty(4, 1, 4, 1)
    calling(impl.write_rows, memory, [[3, 0, 1]], integers(0), integers(2), array([[[7]]])).fills(memory, expected)


def test_write_rows_of_no_token(impl):
    memory = empty(2, 1, 2, 1)
    calling(impl.write_rows, memory, [[0]], integers(), integers(), array([]).reshape(0, 1, 1)).fills(
        memory, empty(2, 1, 2, 1)
    )


def ones(*shape):
    return np.ones(shape, np.float32)


def pages_of(*pages):
    """Memory of one head with one number at each place."""
    return array(pages)[:, None, :, None]


def test_attend_to_one_token(impl):
    calling(
        impl.attend, array([[[3, -1]]]), array([[[[5, 2]]]]), array([[[[7, -4]]]]), [[0]], integers(0), integers(0)
    ).gives(array([[[7, -4]]]))


def test_attend_to_one_page(impl):
    """Keys are alike: each value has the same share."""
    calling(impl.attend, ones(1, 1, 1), ones(1, 1, 3, 1), pages_of([3, 5, 10]), [[0]], integers(0), integers(2)).gives(
        array([[[6]]]), tolerance=1e-6
    )


def test_attend_up_to_its_own_position(impl):
    """The row stands at position 1 of 4; what lies behind it may be anything."""
    keys, values = pages_of([1, 1, LEFT_OVER, LEFT_OVER]), pages_of([3, 5, LEFT_OVER, -LEFT_OVER])
    calling(impl.attend, ones(1, 1, 1), keys, values, [[0]], integers(0), integers(1)).gives(
        array([[[4]]]), tolerance=1e-6
    )


def test_attend_to_the_pages_of_the_table(impl):
    """Page 2 comes first, then page 0; page 1 is another's."""
    keys = pages_of([1, 1], [LEFT_OVER, LEFT_OVER], [1, 1])
    values = pages_of([9, 2], [LEFT_OVER, LEFT_OVER], [3, 6])
    calling(impl.attend, ones(1, 1, 1), keys, values, [[2, 0]], integers(0), integers(2)).gives(
        array([[[6]]]), tolerance=1e-6
    )


def test_attend_up_to_the_end_of_a_page(impl):
    """The row stands at the last position of the first page."""
    keys, values = pages_of([LEFT_OVER, LEFT_OVER], [1, 1]), pages_of([LEFT_OVER, LEFT_OVER], [3, 6])
    calling(impl.attend, ones(1, 1, 1), keys, values, [[1, 0]], integers(0), integers(1)).gives(
        array([[[4.5]]]), tolerance=1e-6
    )


def test_attend_from_the_beginning_of_a_page(impl):
    keys, values = pages_of([1, LEFT_OVER], [1, 1]), pages_of([12, LEFT_OVER], [3, 6])
    calling(impl.attend, ones(1, 1, 1), keys, values, [[1, 0]], integers(0), integers(2)).gives(
        array([[[7]]]), tolerance=1e-6
    )


def test_attend_with_several_rows_of_a_text(impl):
    """A piece of a prompt: each row sees one token more."""
    keys, values = pages_of([1, 1], [1, 1]), pages_of([3, 5], [10, 2])
    calling(impl.attend, ones(3, 1, 1), keys, values, [[0, 1]], integers(0, 0, 0), integers(1, 2, 3)).gives(
        array([[[4]], [[6]], [[5]]]), tolerance=1e-6
    )


def test_attend_with_rows_of_two_texts(impl):
    """Text 0 has page 1, and text 1 the pages 2 and 0."""
    keys, values = pages_of([1, 1], [1, 1], [1, 1]), pages_of([9, LEFT_OVER], [2, 4], [1, 8])
    calling(impl.attend, ones(2, 1, 1), keys, values, [[1], [2, 0]], integers(0, 1), integers(1, 2)).gives(
        array([[[3]], [[6]]]), tolerance=1e-6
    )


def test_attend_with_texts_in_any_order(impl):
    keys, values = ones(3, 1, 2, 1), pages_of([9, LEFT_OVER], [2, 4], [1, 8])
    calling(
        impl.attend, ones(4, 1, 1), keys, values, [[1], [], [2, 0]], integers(2, 2, 0, 0), integers(1, 2, 0, 1)
    ).gives(array([[[4.5]], [[6]], [[2]], [[3]]]), tolerance=1e-6)


def test_attend_to_a_page_that_two_texts_share(impl):
    """Both begin with page 0, and each goes on in a page of its own."""
    keys, values = ones(3, 1, 2, 1), pages_of([3, 5], [10, LEFT_OVER], [1, LEFT_OVER])
    calling(impl.attend, ones(2, 1, 1), keys, values, [[0, 1], [0, 2]], integers(0, 1), integers(2, 2)).gives(
        array([[[6]], [[3]]]), tolerance=1e-6
    )


def test_attend_to_a_table_with_more_pages(impl):
    """The table has a page for what comes later: it is not read yet."""
    keys, values = pages_of([LEFT_OVER, LEFT_OVER], [1, 1]), pages_of([LEFT_OVER, LEFT_OVER], [3, 6])
    calling(impl.attend, ones(2, 1, 1), keys, values, [[1, 0]], integers(0, 0), integers(0, 1)).gives(
        array([[[3]], [[4.5]]]), tolerance=1e-6
    )


def test_attend_to_unlike_keys(impl):
    """exp(0) and exp(log 3): the shares are 1/4 and 3/4."""
    calling(
        impl.attend, ones(1, 1, 1), pages_of([0], [LOG3]), pages_of([4], [8]), [[0, 1]], integers(0), integers(1)
    ).gives(array([[[7]]]), tolerance=1e-6)


def test_attend_with_unlike_queries(impl):
    """The second row asks for the opposite."""
    keys, values = pages_of([0, LOG3], [0, LOG3]), pages_of([4, 8], [4, 8])
    calling(impl.attend, array([[[1]], [[-1]]]), keys, values, [[0], [1]], integers(0, 1), integers(1, 1)).gives(
        array([[[7]], [[5]]]), tolerance=1e-6
    )


def test_attend_divides_by_the_root_of_the_width(impl):
    """Four numbers: the sum of the products is 2 log 3, divided by 2 it is log 3."""
    keys, values = array([[[[0, 5, 7, 0], [LOG3, 5, 7, LOG3]]]]), array([[[[4, 0, 8, 0], [0, 4, 8, -4]]]])
    calling(impl.attend, array([[[1, 0, 0, 1]]]), keys, values, [[0]], integers(0), integers(1)).gives(
        array([[[1, 3, 8, -3]]]), tolerance=1e-6
    )


def test_attend_with_shared_heads(impl):
    """Heads 0 and 1 use the first head of the keys and values, 2 and 3 the second one."""
    keys, values = array([[[[0], [LOG3]], [[LOG3], [0]]]]), array([[[[4], [8]], [[4], [8]]]])
    calling(impl.attend, ones(1, 4, 1), keys, values, [[0]], integers(0), integers(1)).gives(
        array([[[7], [7], [5], [5]]]), tolerance=1e-6
    )


def test_attend_with_shared_heads_and_several_rows(impl):
    values = array([[[[2], [4]], [[10], [20]]], [[[9], [3]], [[60], [50]]]])
    calling(impl.attend, ones(2, 4, 1), ones(2, 2, 2, 1), values, [[0, 1]], integers(0, 0), integers(1, 2)).gives(
        array([[[3], [3], [15], [15]], [[5], [5], [30], [30]]]), tolerance=1e-6
    )


def test_attend_with_large_scores(impl):
    keys, values = pages_of([1000, -1000], [1000, 1000]), pages_of([3, 5], [7, 2])
    calling(impl.attend, ones(3, 1, 1), keys, values, [[0, 1]], integers(0, 0, 0), integers(0, 1, 2)).gives(
        array([[[3]], [[3]], [[5]]]), tolerance=1e-6
    )


def some_step(seed):
    """Texts of unequal lengths in a shuffled memory, a piece of some of them as rows; the arguments, and the answer."""
    random = np.random.default_rng(seed)
    g, shared, d, size = (int(random.integers(1, top)) for top in (3, 4, 5, 5))
    lengths = random.integers(1, 10, int(random.integers(1, 5)))
    counts = [-(-int(length) // size) for length in lengths]
    order = iter(random.permutation(sum(counts) + 2).tolist())
    tables = [[next(order) for _ in range(count)] for count in counts]
    shape = (sum(counts) + 2, g, size, d)
    keys, values = (random.normal(0, 2, shape).astype(np.float32) for _ in range(2))
    texts, positions = [], []
    for text in random.permutation(len(lengths)):
        rows = int(random.integers(1, lengths[text] + 1))
        texts += [int(text)] * rows
        positions += range(int(lengths[text]) - rows, int(lengths[text]))
    query = random.normal(0, 2, (len(texts), g * shared, d)).astype(np.float32)
    answers = []
    for row, text, position in zip(query, texts, positions):
        own = [np.concatenate(list(memory[tables[text]]), axis=1)[:, : position + 1] for memory in (keys, values)]
        answers.append(engine_attention(row[None, :, None], own[0][None], own[1][None])[0, :, 0])
    return (query, keys, values, tables, integers(*texts), integers(*positions)), np.array(answers)


@pytest.mark.parametrize("seed", range(12))
def test_attend_in_a_step(impl, seed):
    arguments, answer = some_step(seed)
    calling(impl.attend, *arguments).gives(answer, tolerance=1e-5)


def text_in_pieces(impl, tables, ends, page_size, query, key, value):
    """Attention of texts that go on in several steps: write_rows for keys and values, and attend, for each step.

    query (texts, t, h, d), key and value (texts, t, g, d); a text's token at a position is that position.
    """
    keys, values = (np.zeros((9, rows.shape[2], page_size, rows.shape[3]), np.float32) for rows in (key, value))
    out = np.zeros_like(query)
    for before, behind in zip([[0] * len(query), *ends], ends):
        pieces = [(i, a, list(range(a, b))) for i, (a, b) in enumerate(zip(before, behind)) if b > a]
        tokens, texts, positions = impl.flatten(pieces)
        impl.write_rows(keys, tables, texts, positions, key[texts, tokens])
        impl.write_rows(values, tables, texts, positions, value[texts, tokens])
        out[texts, tokens] = impl.attend(query[texts, tokens], keys, values, tables, texts, positions)
    return out


@pytest.mark.parametrize("ends", [[[5, 5]], [[2, 3], [3, 5], [5, 5]], [[0, 4], [4, 5], [5, 5]]])
def test_attend_step_after_step(impl, ends):
    numbers = np.random.default_rng(3)
    query, key, value = (
        numbers.normal(0, 1, shape).astype(np.float32) for shape in ((2, 5, 4, 3), *[(2, 5, 2, 3)] * 2)
    )
    expected = engine_attention(*(rows.swapaxes(1, 2) for rows in (query, key, value))).swapaxes(1, 2)
    calling(text_in_pieces, impl, [[3, 8, 0], [1, 7, 2]], ends, 2, query, key, value).gives(expected, tolerance=1e-5)


@given(seed=st.integers(100, 10_000))
def test_attend_in_any_step(impl, seed):
    arguments, answer = some_step(seed)
    calling(impl.attend, *arguments).gives(answer, tolerance=1e-5)
