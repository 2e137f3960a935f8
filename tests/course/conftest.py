from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.cli import main
from kuiper.cli import race as race_command
from kuiper.course import contents, handout
from tests.course.handouts import course_to_hand_out, names_below
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus


@pytest.fixture
def syllabus(tmp_path: Path) -> Syllabus:
    """The made-up course, nothing of it solved."""
    return made_up(tmp_path)


@pytest.fixture
def race_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """``kuiper race`` runs in this process: where a test makes the seconds of a measurement short, they are."""

    def result_here(name: str, arguments: list[str], path: Path, seconds: float, variables: object) -> Path:
        assert main([name, *arguments, "--result", str(path)]) == 0
        return path

    monkeypatch.setattr(race_command, "result_apart", result_here)


@pytest.fixture
def author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    """A small course of which every folder is handed out; what is changed in it is a newer version."""
    root = tmp_path / "author"
    monkeypatch.setattr(contents, "material_root", lambda: root)
    for module in (contents, handout):
        monkeypatch.setattr(module, "material_files", lambda: names_below(root))
    return course_to_hand_out(root)


@pytest.fixture
def mine(author: Syllabus, tmp_path: Path) -> Path:
    """The small course, handed out."""
    handout.start(tmp_path / "mine")
    return tmp_path / "mine"
