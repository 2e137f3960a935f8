"""Tang verse as a language model sees it: its forms, and the rhymes that the poems themselves reveal.

A poem becomes a form, a rhyme group and its characters, ended by ``<end>``:

    <5x4> <rhyme 7> 春 眠 不 覺 曉 ， ... 少 。 <end>

Rhyme groups come from no book: characters that end the even lines of the same poems belong together, so the groups are
the communities of the graph whose edges count how often two characters rhyme (Blondel et al., 2008, "Fast unfolding of
communities in large networks").
"""

from __future__ import annotations

import lzma
import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

FORMS = {"5x4": (5, 4), "5x8": (5, 8), "7x4": (7, 4), "7x8": (7, 8)}
"""Characters of a line, and lines."""
MARKS = "，。？！；"
LINE = re.compile(f"([^{MARKS}]+)([{MARKS}])")
MIN_POEMS = 30
"""A rhyme group of fewer poems is none."""


class Poem(NamedTuple):
    """A poem, and the name of its form in ``FORMS``."""

    form: str
    text: str


def form_of(text: str) -> str | None:
    """The form of a poem whose every line ends with one mark, or None if it has none of the four.

    >>> form_of("春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。")
    '5x4'
    >>> form_of("春眠不覺，處處聞啼鳥。") is None
    True
    """
    lines = LINE.findall(text)
    if "".join(line + mark for line, mark in lines) != text:
        return None
    lengths = {len(line) for line, _ in lines}
    return next((name for name, (width, count) in FORMS.items() if lengths == {width} and len(lines) == count), None)


def rhyming(text: str) -> str:
    """The last characters of a poem's even lines, which rhyme.

    >>> rhyming("春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。")
    '鳥少'
    """
    return "".join(line[-1] for line, _ in LINE.findall(text)[1::2])


def read(path: Path, least: int) -> list[Poem]:
    """The poems of a file, one a line, that have a form, and of whose characters the file has ``least`` each."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        lines = file.read().split()
    counts = Counter("".join(lines))
    formed = ((form_of(line), line) for line in lines if min(counts[character] for character in line) >= least)
    return [Poem(form, line) for form, line in formed if form]


def rhyme_groups(poems: list[Poem]) -> list[str]:
    """Characters that rhyme with each other, most frequent first; so are the groups."""
    counts = Counter(character for poem in poems for character in rhyming(poem.text))
    characters = [character for character, _ in counts.most_common()]
    index = {character: i for i, character in enumerate(characters)}
    links = np.zeros((len(characters), len(characters)))
    for poem in poems:
        for first, second in combinations(rhyming(poem.text), 2):
            if first != second:
                links[index[first], index[second]] += 1
                links[index[second], index[first]] += 1
    groups = communities(links)
    words = ["".join(characters[i] for i in np.flatnonzero(groups == group)) for group in np.unique(groups)]
    words.sort(key=lambda word: -sum(counts[character] for character in word))
    return [word for word in words if sum(counts[character] for character in word) >= 2 * MIN_POEMS]


def communities(links: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """A group (n,) for each of n nodes, by Louvain's method on their symmetric ``links`` (n, n).

    Each node moves to the group that raises the modularity most, until none moves; then groups become the nodes.

    >>> communities(np.array([[0, 9, 1, 0], [9, 0, 0, 0], [1, 0, 0, 9], [0, 0, 9, 0]], float)).tolist()
    [0, 0, 1, 1]
    """
    groups = np.arange(len(links))
    while True:
        moved = moves(links)
        names, moved = np.unique(moved, return_inverse=True)
        groups = moved[groups]
        if len(names) == len(links):
            return groups
        member = np.eye(len(names))[moved]
        links = member.T @ links @ member


def moves(links: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The group (n,) of each node after single nodes have moved until none gains by it."""
    n, total, degree = len(links), links.sum(), links.sum(1)
    groups, weight, inside = np.arange(n), degree.copy(), links.copy()  # inside[i, g]: links from node i into group g
    for _ in range(50):
        changed = 0
        for i in range(n):
            old = groups[i]
            weight[old] -= degree[i]
            inside[:, old] -= links[:, i]
            gain = inside[i] - degree[i] * weight / total
            new = int(gain.argmax())
            new = new if gain[new] > gain[old] + 1e-9 else old
            groups[i] = new
            weight[new] += degree[i]
            inside[:, new] += links[:, i]
            changed += new != old
        if not changed:
            break
    return groups


class Rhymes:
    """Which group each character rhymes in."""

    def __init__(self, groups: list[str]) -> None:
        self.groups = groups
        self.group_of = {character: i for i, group in enumerate(groups) for character in group}

    def of(self, text: str) -> int | None:
        """The group in which all even lines of a poem end, or None."""
        found = {self.group_of.get(character) for character in rhyming(text)}
        return found.pop() if len(found) == 1 else None

    def share(self, texts: list[str]) -> float:
        """The part of the poems whose even lines all end in one group."""
        return sum(self.of(text) is not None for text in texts) / len(texts)
