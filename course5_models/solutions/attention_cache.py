"""Exercise 5.12: attention with a key/value cache.

In attention, each new token has a query, and every token of the text so far has a key and a value. The query is compared
with all keys; the values are mixed, the ones with fitting keys most. The text grows by one token at a time, and the keys and
values of the tokens before do not change. So nobody computes them twice: they are kept in a cache.

    position     0   1   2   3   4   5   6   7
    cache      | a | b | c | d | . | . | . | . |      length 4, max_length 8
                                 ^
                 append writes the next rows here; nothing that is there already is moved or copied

Causal means: a token looks at itself and at the tokens before it, never at those behind it. The queries of a call are those
of its new tokens, which are the last s of t positions. For s = 3 and t = 5:

    key          0  1  2  3  4
    query 2      x  x  x
    query 3      x  x  x  x
    query 4      x  x  x  x  x

All arrays are float32. b is the number of texts, h the number of heads with queries, g the number of heads with keys and
values, d the numbers of a head.
"""

from __future__ import annotations

import numpy as np


class Cache:
    """Memory for the keys (or for the values) of ``b`` texts that grow side by side, for ``heads`` heads.

    It has room for ``max_length`` positions with ``width`` numbers each; ``length`` says how many of them are filled.

    >>> cache = Cache(b=1, heads=1, max_length=4, width=2)
    >>> cache.append(np.float32([[[[1, 2], [3, 4]]]])).tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
    >>> cache.append(np.float32([[[[5, 6]]]])).tolist(), cache.length
    ([[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]], 3)
    >>> cache.rewind(1)
    >>> cache.append(np.float32([[[[7, 8]]]])).tolist(), cache.length
    ([[[[1.0, 2.0], [7.0, 8.0]]]], 2)
    """

    def __init__(self, b: int, heads: int, max_length: int, width: int) -> None:
        """Make all the memory at once, float32, and set ``length`` to 0. No other method makes an array."""
        # BEGIN SOLUTION
        self.memory = np.zeros((b, heads, max_length, width), np.float32)
        self.length = 0
        # END SOLUTION

    def append(self, rows: np.ndarray) -> np.ndarray:
        """Write ``rows`` (b, heads, s, width) behind what is filled, and return all that is filled then.

        The result is (b, heads, length, width), a view of the memory and no copy: a text of a thousand tokens would
        otherwise be copied a thousand times.

        Raises
        ------
        ValueError
            If there is no room for all rows; the message has the word "max_length". Nothing has changed then.
        """
        # BEGIN SOLUTION
        end, room = self.length + rows.shape[2], self.memory.shape[2]
        if end > room:
            raise ValueError(f"append: expected at most max_length {room} positions, got {end}")
        self.memory[:, :, self.length : end] = rows
        self.length = end
        return self.memory[:, :, :end]
        # END SOLUTION

    def rewind(self, length: int) -> None:
        """Forget all positions from ``length`` on; the next rows are written there. Nothing has to be erased.

        Raises
        ------
        ValueError
            Unless 0 <= length <= the present length; the message has the number that was given. Nothing has changed
            then.
        """
        # BEGIN SOLUTION
        if not 0 <= length <= self.length:
            raise ValueError(f"rewind: expected a length of 0 to {self.length}, got {length}")
        self.length = length
        # END SOLUTION


def causal_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Attention of the newest s tokens to the whole text: query (b, h, s, d), key and value (b, g, t, d) -> (b, h, s, d).

    For each text and each head:

        score of a query and a key     the sum of the products of their d numbers, divided by sqrt(d)
        what a query may see           its own position and all before; the queries are the last s of t positions, s <= t
        share of each key it sees      softmax of the scores: exp(score) over the sum of exp(score) of all keys it sees
        result                         the sum of the values, each times the share of its key

    h is a multiple of g, and the heads share keys in order: with h = 6 and g = 2, the query heads 0, 1, 2 use head 0 of
    key and value, and 3, 4, 5 use head 1. Scores may be as large as 1000, or as small as -1000: no exponential may
    overflow, and those of a query must not all become 0 (exercise 5.2 has the way out). The result is float32. Mind that
    np.sqrt(d) of an integer is a float64, and that an array divided by it is one, too.

    All keys are alike here, so every value that a query sees has the same share. The text has 3 positions. The two
    queries stand at the positions 1 and 2: the first one sees the values 1 and 2, the second one 1, 2 and 6.

    >>> query, key = np.ones((1, 1, 2, 1), np.float32), np.ones((1, 1, 3, 1), np.float32)
    >>> causal_attention(query, key, np.float32([1, 2, 6]).reshape(1, 1, 3, 1)).ravel().tolist()
    [1.5, 3.0]
    """
    # BEGIN SOLUTION
    (b, h, s, d), (g, t) = query.shape, key.shape[1:3]
    grouped = query.reshape(b, g, h // g, s, d)
    scores = grouped @ key[:, :, None].swapaxes(-1, -2) / np.float32(np.sqrt(d))
    last_seen = np.arange(t - s, t)[:, None]
    scores = np.where(np.arange(t) <= last_seen, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    return (shares @ value[:, :, None]).reshape(b, h, s, d).astype(np.float32)
    # END SOLUTION
