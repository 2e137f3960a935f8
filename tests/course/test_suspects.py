from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.course import suspects
from kuiper.course.suspects import Suspect, are_telling, known_mistakes
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.bugs import Bug
    from kuiper.course.manifest import Exercise


def test_known_mistakes_are_kept_until_the_bank_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = made_up(tmp_path).exercise("1.1")
    found = known_mistakes(exercise, "double")
    assert "three is taken for two" in [suspect.when for suspect in found]
    asked: list[str] = []

    def may_show_in(exercise: Exercise, bug: Bug, function: str) -> bool:
        asked.append(bug.name)
        return True

    monkeypatch.setattr(suspects, "may_show_in", may_show_in)
    assert known_mistakes(exercise, "double") == found
    assert not asked
    text = exercise.bugs_file.read_text()
    exercise.bugs_file.write_text(text.replace("three is taken for two", "x is taken three times"))
    assert "x is taken three times" in [suspect.when for suspect in known_mistakes(exercise, "double")]
    assert asked


def test_known_mistakes_are_none_where_a_patch_does_not_fit(tmp_path: Path) -> None:
    exercise = made_up(tmp_path).exercise("1.1")
    exercise.bugs_file.write_text(exercise.bugs_file.read_text().replace("x * 2", "x * 7"))
    assert known_mistakes(exercise, "double") == []


@pytest.mark.parametrize(("lines", "is_so"), [((7,), True), ((7, 7, 8, 8, 9), True), ((5, 6, 7, 8), False)])
def test_are_telling_slips_of_few_lines(lines: tuple[int, ...], is_so: bool) -> None:
    assert are_telling([Suspect(f"slip {number}", "", line) for number, line in enumerate(lines)]) == is_so
