"""Exercise 6.1: softmax in one pass.

Softmax needs the largest score before it can begin, and the sum of all exponentials before it can end. So exercise 5.12 made
the table of all scores first: for a prompt of 4000 tokens 16 million numbers for each head. But keys and values will lie in
blocks here and there (exercise 6.2). Nobody wants to collect them, and nobody has to: what is known after some blocks is
three things for each query, and a further block brings them up to date.

    maximum    the largest score so far                                       of 3 queries:  shape (3,)
    total      the sum of exp(score - maximum)                                               (3,)
    mixed      the sum of exp(score - maximum) * value, for the d numbers of a value         (3, d)

    block            | 1  2 |     | 0  3 |     | 2 |
    maximum    -inf       2            3          3           When the maximum grows by 1, everything that was summed up
                                                              before is too large by a factor of exp(1).

In the end each mixed is divided by its total, and that is attention, as if all scores had been there at once.

All arrays are float32. A row is one query; n is the number of keys in a block, width the numbers of a value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Partial:
    """Attention on its way: what is known of some queries after some of the keys. No function changes one."""

    maximum: np.ndarray
    """(rows,): the largest score so far; -inf for a query that has seen no key."""
    total: np.ndarray
    """(rows,): the sum of exp(score - maximum)."""
    mixed: np.ndarray
    """(rows, width): the sum of exp(score - maximum) * value."""


def begin(rows: int, width: int) -> Partial:
    """What is known of ``rows`` queries before the first key.

    >>> started = begin(2, 3)
    >>> started.maximum.tolist(), started.total.tolist(), started.mixed.shape
    ([-inf, -inf], [0.0, 0.0], (2, 3))
    """
    # BEGIN SOLUTION
    return Partial(np.full(rows, -np.inf, np.float32), np.zeros(rows, np.float32), np.zeros((rows, width), np.float32))
    # END SOLUTION


def add_block(partial: Partial, scores: np.ndarray, values: np.ndarray) -> Partial:
    """What is known after one more block: scores (rows, n), values (n, width), n >= 1.

    A score of -inf means that this query must not see this key, which has no share then. A query may see no key of a
    block, and of no block before it either: its maximum stays -inf, its total and mixed stay 0. Mind that -inf - -inf is
    not a number.

    Scores may be as large as 1000, or as small as -1000: no exponential may overflow, and those of a query must not all
    become 0.

    >>> after = add_block(begin(1, 1), np.float32([[5, 5]]), np.float32([[6], [1]]))
    >>> after.maximum.tolist(), after.total.tolist(), after.mixed.tolist()
    ([5.0], [2.0], [[7.0]])
    """
    # BEGIN SOLUTION
    maximum = np.maximum(partial.maximum, scores.max(axis=1))
    level = np.where(maximum == -np.inf, np.float32(0), maximum)
    shrunk = np.exp(partial.maximum - level)
    powers = np.exp(scores - level[:, None])
    total = partial.total * shrunk + powers.sum(axis=1)
    mixed = partial.mixed * shrunk[:, None] + powers @ values
    return Partial(maximum, total, mixed)
    # END SOLUTION


def merge(one: Partial, other: Partial) -> Partial:
    """What is known of the same queries after the keys of both: two cores, or two machines, had half of the keys each.

    A query may have seen no key in one of them, or in both.

    >>> left = Partial(np.float32([0]), np.float32([2]), np.float32([[10]]))
    >>> right = Partial(np.log(np.float32([4])), np.float32([1]), np.float32([[3]]))
    >>> both = merge(left, right)
    >>> both.total.round(3).tolist(), both.mixed.round(3).tolist()
    ([1.5], [[5.5]])
    """
    # BEGIN SOLUTION
    largest = np.maximum(one.maximum, other.maximum)
    base = np.where(largest == -np.inf, np.float32(0), largest)
    left, right = np.exp(one.maximum - base), np.exp(other.maximum - base)
    total = one.total * left + other.total * right
    mixed = one.mixed * left[:, None] + other.mixed * right[:, None]
    return Partial(largest, total, mixed)
    # END SOLUTION


def finish(partial: Partial) -> np.ndarray:
    """The result (rows, width): the values, each times its share. A query that has seen no key gets zeros.

    >>> finish(Partial(np.float32([1, -np.inf]), np.float32([4, 0]), np.float32([[2, 8], [0, 0]]))).tolist()
    [[0.5, 2.0], [0.0, 0.0]]
    """
    # BEGIN SOLUTION
    seen = partial.total > 0
    return partial.mixed / np.where(seen, partial.total, np.float32(1))[:, None]
    # END SOLUTION


def blocked_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, block: int) -> np.ndarray:
    """Attention of exercise 5.12 for one text: query (h, s, d), key and value (g, t, d) -> (h, s, d), float32.

    It never has more than ``block`` scores of a query at a time: keys and values go to ``add_block`` in blocks of this
    many positions, the last of which may be shorter. All else is as in 5.12:

        score of a query and a key     the sum of the products of their d numbers, divided by sqrt(d)
        what a query may see           its own position and all before; the queries are the last s of t positions, s <= t
        heads                          h is a multiple of g: with h = 6 and g = 2, the query heads 0, 1, 2 use head 0 of
                                       key and value, and 3, 4, 5 use head 1

    >>> query, key = np.ones((1, 2, 1), np.float32), np.ones((1, 3, 1), np.float32)
    >>> blocked_attention(query, key, np.float32([1, 2, 6]).reshape(1, 3, 1), block=2).ravel().tolist()
    [1.5, 3.0]
    """
    # BEGIN SOLUTION
    (h, s, d), (g, t) = query.shape, key.shape[:2]
    rows = query.reshape(g, h // g * s, d) / np.float32(np.sqrt(d))
    places = np.tile(np.arange(t - s, t), h // g)[:, None]
    out = np.empty((g, h // g * s, d), np.float32)
    for head in range(g):
        partial = begin(len(places), d)
        for first in range(0, t, block):
            scores = rows[head] @ key[head, first : first + block].T
            positions = np.arange(first, first + scores.shape[1])
            scores = np.where(positions <= places, scores, np.float32(-np.inf))
            partial = add_block(partial, scores, value[head, first : first + block])
        out[head] = finish(partial)
    return out.reshape(h, s, d)
    # END SOLUTION
