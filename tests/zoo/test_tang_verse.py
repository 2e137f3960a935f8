"""Tang verse: its forms, and rhymes that are found in the poems."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")  # the zoo is not imported without it

from zoo.tang_verse import Poem, Rhymes, communities, form_of, read, rhyme_groups, rhyming

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

SHORT = "春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。"
LONG = "朝辭白帝彩雲間，千里江陵一日還。兩岸猿聲啼不住，輕舟已過萬重山。"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (SHORT, "5x4"),
        (SHORT * 2, "5x8"),
        (LONG, "7x4"),
        (LONG * 2, "7x8"),
        (SHORT.replace("。", "？"), "5x4"),
        (SHORT + "。", None),
        (SHORT[:-1], None),
        (SHORT + LONG, None),
        (SHORT * 3, None),
        ("", None),
    ],
)
def test_form_of_knows_four_forms(text: str, form: str | None) -> None:
    assert form_of(text) == form


def test_rhyming_takes_the_ends_of_even_lines() -> None:
    assert rhyming(LONG) == "還山"
    assert rhyming(SHORT * 2) == "鳥少鳥少"


def test_read_leaves_out_rare_characters_and_other_forms(tmp_path: Path) -> None:
    lines = "\n".join([SHORT, SHORT, LONG, SHORT * 3])
    with lzma.open(tmp_path / "poems.xz", "wt", encoding="utf-8") as file:
        file.write(lines)
    assert read(tmp_path / "poems.xz", 2) == [Poem("5x4", SHORT)] * 2
    (tmp_path / "poems.txt").write_text(lines, encoding="utf-8")
    assert read(tmp_path / "poems.txt", 1) == [Poem("5x4", SHORT), Poem("5x4", SHORT), Poem("7x4", LONG)]


def verse(first: str, second: str) -> Poem:
    return Poem("5x4", f"一二三四五，一二三四{first}。一二三四五，一二三四{second}。")


def test_rhyme_groups_are_what_rhymes_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoo.tang_verse.MIN_POEMS", 10)
    pairs = {"東風": 30, "風空": 20, "空東": 15, "春人": 12, "人身": 11, "風春": 1, "山關": 2}
    groups = rhyme_groups([verse(*pair) for pair, count in pairs.items() for _ in range(count)])
    assert groups == ["風東空", "人春身"]


def test_communities_are_found_in_noise() -> None:
    generator = np.random.default_rng(5)
    truth = generator.integers(0, 6, 90)
    links = generator.poisson(np.where(truth[:, None] == truth, 3.0, 0.3)).astype(float)
    links = np.triu(links, 1) + np.triu(links, 1).T
    found = communities(links)
    pairs = {(int(group), int(other)) for group, other in zip(truth, found, strict=True)}
    assert len(pairs) == 6


def test_rhymes_tell_the_group_of_a_poem() -> None:
    rhymes = Rhymes(["風東空", "人春身"])
    assert [rhymes.of(verse(*pair).text) for pair in ("風東", "春人", "風人", "山關")] == [0, 1, None, None]
    assert rhymes.share([verse(*pair).text for pair in ("風東", "春人", "風人", "人人")]) == 0.75
