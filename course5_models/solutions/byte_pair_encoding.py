"""Exercise 5.10: byte-pair encoding, the tokens of a language model.

A language model reads integers, called tokens, and not letters. Every text can be written with 256 tokens: take
its bytes in UTF-8, and let each byte be a token, 0 to 255. But then a text has many tokens, and a model needs time for
each of them. Byte-pair encoding makes the text shorter: it looks for the pair of neighbours that is most frequent, and
gives this pair a new token, 256. Then it does the same again, with token 257, and so on. Such a step is called a merge.
A new token may be half of a later pair, so tokens grow from letters to syllables and to words.

    text               a    a    a    b    d    a    a    a    b    a    c
    bytes             97   97   97   98  100   97   97   97   98   97   99
    (97, 97) -> 256        256   97   98  100       256   97   98   97   99         11 tokens become 9
    (97, 98) -> 257        256       257  100       256       257   97   99         9 become 7
    (256, 257) -> 258                258  100                 258   97   99         7 become 5

The list of merges, in the order in which they were learned, is all that has to be kept: merge number i (counted from 0)
makes token 256 + i. ``train`` learns this list from a text. ``encode`` and ``decode`` use it for other texts.

A plain solution goes through all tokens once for each merge. That is fast enough here, and the tests do not measure the
time. Real tokenizers learn 30,000 merges and more from gigabytes of text. They split the text into words first and
count equal words only once; after a merge they count again only the pairs that stood beside it.
"""

from __future__ import annotations


def pair_counts(tokens: list[int]) -> dict[tuple[int, int], int]:
    """How often each pair of neighbours occurs in ``tokens``; pairs that do not occur are not in the dict.

    Every place counts where two tokens are neighbours, even if two such places share a token: 7, 7, 7 has the pair
    (7, 7) twice. A pair has an order: (1, 2) and (2, 1) are two pairs.

    >>> pair_counts([1, 2, 1, 2])
    {(1, 2): 2, (2, 1): 1}
    >>> pair_counts([7, 7, 7])
    {(7, 7): 2}
    """
    # BEGIN SOLUTION
    counts: dict[tuple[int, int], int] = {}
    for place in range(len(tokens) - 1):
        pair = tokens[place], tokens[place + 1]
        counts[pair] = counts.get(pair, 0) + 1
    return counts
    # END SOLUTION


def merge(tokens: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """A new list in which the token ``new`` stands wherever ``pair`` stood in ``tokens``.

    It goes from the left to the right. A token can be part of one pair only: after a merge it goes on behind the two
    tokens that it has used.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 9)
    [9, 3, 9]
    >>> merge([7, 7, 7], (7, 7), 9)
    [9, 7]
    """
    # BEGIN SOLUTION
    merged: list[int] = []
    place, last = 0, len(tokens) - 1
    while place <= last:
        if place < last and tokens[place] == pair[0] and tokens[place + 1] == pair[1]:
            merged.append(new)
            place += 2
        else:
            merged.append(tokens[place])
            place += 1
    return merged
    # END SOLUTION


def train(text: str, count: int) -> list[tuple[int, int]]:
    """The first ``count`` merges that are learned from a text.

    The tokens are the bytes of ``text`` in UTF-8 at first. Each step counts the pairs of the tokens as they are then,
    with ``pair_counts``, and merges the most frequent pair everywhere. Of several pairs that are equally frequent it
    takes the smallest, as Python compares tuples: (97, 99) is smaller than (98, 97). It stops early when no pair has a
    count of 2 or more: a token that makes only one place shorter is not worth its number.

    >>> train("aaabdaaabac", 2)
    [(97, 97), (97, 98)]
    >>> train("aaabdaaabac", 100)
    [(97, 97), (97, 98), (256, 257)]
    """
    # BEGIN SOLUTION
    tokens = list(text.encode("utf-8"))
    merges: list[tuple[int, int]] = []
    while len(merges) < count:
        counts = pair_counts(tokens)
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        tokens = merge(tokens, best, 256 + len(merges))
        merges.append(best)
    return merges
    # END SOLUTION


def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """The tokens of a text, by merges that ``train`` has learned, perhaps from another text.

    Begin with the bytes in UTF-8. As long as some pair of neighbours is one of the merges, take of all these pairs the
    one that was learned first, and merge it everywhere. How often a pair occurs in this text does not matter here, and
    neither does where it stands: what was learned first is merged first.

    >>> encode("aab", [(97, 97), (97, 98)])
    [256, 98]
    >>> encode("aab", [(97, 98), (97, 97)])
    [97, 256]
    """
    # BEGIN SOLUTION
    tokens = list(text.encode("utf-8"))
    for number, pair in enumerate(merges):
        tokens = merge(tokens, pair, 256 + number)
    return tokens
    # END SOLUTION


def decode(tokens: list[int], merges: list[tuple[int, int]]) -> str:
    """The text that tokens stand for.

    A token below 256 is a byte; each other one is the bytes of the two tokens that were merged, the left one first. The
    bytes of all tokens together are the text in UTF-8. A character may be several bytes, and these may be spread over
    several tokens, so put all bytes together before you make characters of them. A model may write tokens whose bytes
    are no valid UTF-8: what cannot be read becomes the character U+FFFD (``errors="replace"`` of ``bytes.decode``).

    >>> decode([256, 257, 100], [(97, 97), (97, 98)])
    'aaabd'
    >>> decode([195, 169], [])    # the two bytes of one letter
    'é'

    Raises
    ------
    ValueError
        If there is no such token: it is negative, or 256 + len(merges) or more. The message names the token.
    """
    # BEGIN SOLUTION
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    for token in tokens:
        if not 0 <= token < len(pieces):
            raise ValueError(f"token: expected 0 to {len(pieces) - 1}, got {token}")
    return b"".join(pieces[token] for token in tokens).decode("utf-8", errors="replace")
    # END SOLUTION
