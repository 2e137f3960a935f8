"""Exercise 6.4: the ragged step.

One call of the network goes on with many texts: some read a piece of their prompt, others write one token. Texts of unequal
lengths make no array with an axis for the texts, unless the short ones are padded. So the tokens of all texts lie flat, one row
for each token, and two arrays say of each row whose it is:

    pieces       text 0 goes on at position 4 with the tokens 8 3 5,  text 2 at position 0 with 7,  text 1 at 9 with 6

    row          0   1   2   3   4
    tokens       8   3   5   7   6
    texts        0   0   0   2   1         which table of pages is the row's
    positions    4   5   6   0   9         where the token stands in its text
    last rows            2   3   4         whose scores say what comes next

Norms and products see rows, and do not care whose they are. Only attention does: a row sees its own text and nothing else, up to
its own position. And it finds keys and values where exercise 6.2 has put them, in pages of one memory for all texts:

    memory (pages, heads, page_size, d)        tables[0] = [5, 2]: positions 0 to page_size - 1 of text 0 lie in page 5

Each page is a block of exercise 6.1: so nobody collects the keys of a text in one array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kuiper.course import load_exercise

blocks = load_exercise("6.1")  # begin, add_block, finish


def flatten(pieces: Sequence[tuple[int, int, Sequence[int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of a step, in the order of the pieces: tokens, texts, positions, each (n,) of int64.

    Parameters
    ----------
    pieces : for each text that goes on, its number, the position of the first of these tokens, and the tokens: one or more

    >>> tokens, texts, positions = flatten([(0, 4, [8, 3, 5]), (2, 0, [7])])
    >>> tokens.tolist(), texts.tolist(), positions.tolist()
    ([8, 3, 5, 7], [0, 0, 0, 2], [4, 5, 6, 0])
    """
    # BEGIN SOLUTION
    tokens = [token for _, _, piece in pieces for token in piece]
    texts = [text for text, _, piece in pieces for _ in piece]
    positions = [first + i for _, first, piece in pieces for i in range(len(piece))]
    return np.array(tokens, np.int64), np.array(texts, np.int64), np.array(positions, np.int64)
    # END SOLUTION


def last_rows(pieces: Sequence[tuple[int, int, Sequence[int]]]) -> np.ndarray:
    """The row of the last token of each piece: (number of pieces,) of int64.

    >>> last_rows([(0, 4, [8, 3, 5]), (2, 0, [7]), (1, 9, [6])]).tolist()
    [2, 3, 4]
    """
    # BEGIN SOLUTION
    return np.cumsum([len(piece) for _, _, piece in pieces], dtype=np.int64) - 1
    # END SOLUTION


def write_rows(
    memory: np.ndarray, tables: Sequence[Sequence[int]], texts: np.ndarray, positions: np.ndarray, rows: np.ndarray
) -> None:
    """Write the keys (or the values) of a step, rows (n, heads, d), to their places in memory; change nothing else there.

    Parameters
    ----------
    memory : (pages, heads, page_size, d)
    tables : for each text the numbers of its pages, in the order of the positions; some texts have more than others
    texts, positions : (n,), of each row; no place is written twice

    >>> memory = np.zeros((3, 1, 2, 1), np.float32)
    >>> write_rows(memory, [[2, 0]], np.array([0, 0]), np.array([1, 2]), np.float32([[[7]], [[8]]]))
    >>> memory[2].ravel().tolist(), memory[0].ravel().tolist()
    ([0.0, 7.0], [8.0, 0.0])
    """
    # BEGIN SOLUTION
    size = memory.shape[2]
    pages = np.array(
        [tables[text][position // size] for text, position in zip(texts, positions, strict=True)], np.int64
    )
    memory[pages, :, positions % size] = rows
    # END SOLUTION


def attend(
    query: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    tables: Sequence[Sequence[int]],
    texts: np.ndarray,
    positions: np.ndarray,
) -> np.ndarray:
    """Attention of each row to its own text, up to its own position: query (n, h, d) -> (n, h, d), float32.

    The keys and values of this step's rows have been written already. What lies behind a row's position is the future,
    another text's, or what a text has left there that has ended: any numbers. Scores, shares and the heads that share
    keys (h is a multiple of g) are those of exercises 5.12 and 6.1. A page is a block of 6.1: ``blocks`` has your begin,
    add_block and finish.

    Parameters
    ----------
    keys, values : (pages, g, page_size, d), the memory of all texts
    tables, texts, positions : as in ``write_rows``

    >>> keys, values = np.ones((2, 1, 2, 1), np.float32), np.float32([[[[6], [90]]], [[[1], [2]]]])
    >>> query, texts, positions = np.ones((2, 1, 1), np.float32), np.array([0, 0]), np.array([1, 2])
    >>> attend(query, keys, values, [[1, 0]], texts, positions).ravel().tolist()
    [1.5, 3.0]
    """
    # BEGIN SOLUTION
    (n, h, d), (g, size) = query.shape, keys.shape[1:3]
    out = np.empty((n, h, d), np.float32)
    for text in dict.fromkeys(texts.tolist()):
        (own,) = np.nonzero(texts == text)
        places = positions[own].repeat(h // g)[:, None]
        rows = query[own].reshape(len(own), g, h // g, d) / np.float32(np.sqrt(d))
        used = tables[text][: int(positions[own].max()) // size + 1]
        for head in range(g):
            grouped = rows[:, head].reshape(-1, d)
            partial = blocks.begin(len(grouped), d)
            for number, page in enumerate(used):
                seen = number * size + np.arange(size) <= places
                scores = np.where(seen, grouped @ keys[page, head].T, np.float32(-np.inf))
                partial = blocks.add_block(partial, scores, values[page, head])
            out[own, head * (h // g) : (head + 1) * (h // g)] = blocks.finish(partial).reshape(len(own), h // g, d)
    return out
    # END SOLUTION
