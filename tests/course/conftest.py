from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.cli import main
from kuiper.cli import race as race_command
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
