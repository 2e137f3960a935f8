"""Errors of the course: those that students meet are said in their language, all others stay English."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper import compiler
from kuiper.course.c_modules import missing
from kuiper.course.classroom import _lines
from kuiper.course.errors import BuildError, CommandError, CourseError
from kuiper.course.observation import Raised
from kuiper.course.phrases import phrase
from kuiper.course.unknown import in_short
from kuiper.language import ENGLISH, speaking
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said stands in one line, and can be looked for as a whole."""
    monkeypatch.setenv("COLUMNS", "400")


def test_a_command_error_is_said_and_any_other_is_not(pseudo_language: Path) -> None:
    error = CommandError("1.1 a", phrase("a .pyx exercise"), "a.py", phrase("use {command}", command="git"))
    assert str(error) == "1.1 a⟦: expected ⟧⟦a .pyx exercise⟧⟦, got ⟧a.py⟦; ⟧⟦use ⟧git"
    with speaking(ENGLISH):
        assert str(error) == "1.1 a: expected a .pyx exercise, got a.py; use git"
    assert str(CourseError("1.1 a", phrase("a .pyx exercise"), "a.py")) == "1.1 a: expected a .pyx exercise, got a.py"


def test_a_command_error_is_safe_for_a_terminal_and_bounded() -> None:
    text = str(CommandError("\x1b[31m" + 9000 * "x", phrase("a file"), "\u202e"))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 5000


def test_in_short_makes_ranges_of_three_and_more() -> None:
    assert in_short(["1.1", "1.2", "2.1", "2.2", "2.3", "3.9", "3.10", "3.11"]) == "1.1, 1.2, 2.1 to 2.3, 3.9 to 3.11"


@pytest.mark.parametrize("asked", ["", "gcc-99"])
def test_what_a_machine_lacks_is_said(asked: str, pseudo_language: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", asked)
    for expected, got, hint in (missing(), ("Cython", "none", "pip"), ("a C compiler", "none", "the page loads one")):
        error = BuildError("exercise", expected, got, hint=hint)
        assert escaped(str(error).replace(compiler.INSTALL, ""), {"gcc", "Cython", "pip"}) == []
        with speaking(ENGLISH):
            english = str(error)
        assert english == f"exercise: expected {expected}, got {got}; {hint}"
        far = Raised("BuildError", (), english)  # what a student's worker has sent
        assert _lines(error, far) == [str(error)]
