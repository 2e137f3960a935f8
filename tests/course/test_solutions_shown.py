"""What a student's folder shows of the solutions: nothing that is longer than what they share with skeletons anyway.

A passage is a run of lines that follow each other in a file as they do in a solution. Some stand there by chance:
``try:``, ``return out``. How long chance can be, the skeletons tell: what they share with solutions gives nothing away.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from kuiper.course.contents import contents
from kuiper.course.manifest import read_syllabus
from kuiper.course.markers import regions
from kuiper.course.material import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SYLLABUS = read_syllabus(CHECKOUT)


def code_of(text: str) -> list[str]:
    """Its lines without comments and the space around them."""
    return [code for line in text.splitlines() if (code := line.partition("#")[0].strip())]


class Shown:
    """The passages of solutions in texts."""

    def __init__(self) -> None:
        self.solutions = [
            code_of("\n".join(region.lines))
            for exercise in SYLLABUS
            for region in regions(exercise.solution_file.read_text(encoding="utf-8"), exercise.id, exercise.file)
        ]
        self.lines = {line for solution in self.solutions for line in solution}
        self.whole = {"".join(solution) for solution in self.solutions if len(solution) > 1}
        self.pairs = {pair for solution in self.solutions for pair in pairwise(solution)}

    def passages(self, text: str) -> Iterator[str]:
        """All passages of a text, however short."""
        passage: list[str] = []
        for line in [*code_of(text), ""]:
            if passage and (passage[-1], line) not in self.pairs:
                yield "".join(passage)
                passage = []
            if line in self.lines:
                passage.append(line)

    def longer(self, chance: int, files: Mapping[str, bytes]) -> list[tuple[str, str]]:
        """Those of files that are longer or whole; and longer lines within others, as values in TOML have them."""
        found = []
        for name, data in files.items():
            text = data.decode("utf-8", "ignore").replace('\\"', '"').replace("\\n", "\n")
            passages = [passage for passage in self.passages(text) if len(passage) > chance or passage in self.whole]
            found += [(name, passage) for passage in passages]
            found += [(name, line) for line in self.lines if len(line) > chance and line in text]
        return found


@pytest.fixture(scope="module")
def shown() -> Shown:
    return Shown()


@pytest.fixture(scope="module")
def chance(shown: Shown) -> int:
    """The characters of the longest passage that a skeleton holds."""
    skeletons = [data.decode() for name, data in contents(False).items() if "/exercises/" in name]
    assert len(skeletons) == len(list(SYLLABUS))
    return max(len(passage) for text in skeletons for passage in shown.passages(text))


def test_a_started_folder_shows_no_solution(shown: Shown, chance: int) -> None:
    assert shown.longer(chance, contents(False)) == []


def test_what_shows_solutions_would_be_found(shown: Shown, chance: int) -> None:
    """The known mistakes, which folders had at first, show most solutions; and a solution shows itself."""
    files = contents(True)
    bugs = {name: data for name, data in files.items() if "/bugs/" in name}
    assert len(shown.longer(chance, bugs)) > len(list(SYLLABUS))
    solutions = {name: data for name, data in files.items() if "/solutions/" in name}
    assert {name for name, _ in shown.longer(chance, solutions)} == set(solutions)
