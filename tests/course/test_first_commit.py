"""git around a student's folder: one commit where it can be made, words where it cannot, never a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from kuiper.course.first_commit import first_commit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, and a user who has never configured git."""
    for name in os.environ:
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "exercise.py").write_text("hole")
    (mine / ".gitignore").write_text(".venv/\n")
    (mine / ".venv").mkdir()
    (mine / ".venv" / "python").touch()
    return mine


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_first_commit_needs_no_identity_and_leaves_a_clean_tree(folder: Path) -> None:
    assert first_commit(folder, "The course") == "under git, with the course as the first commit"
    assert git(folder, "log", "--format=%s") == "The course"
    assert git(folder, "ls-files").splitlines() == [".gitignore", "exercise.py"]
    assert git(folder, "status", "--short") == ""


def test_first_commit_is_not_stopped_by_the_users_hooks_and_signatures(folder: Path, tmp_path: Path) -> None:
    hook = tmp_path / "hooks" / "pre-commit"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    lines = f"[core]\nhooksPath = {hook.parent.as_posix()}\n[commit]\ngpgsign = true\n[user]\nsigningkey = nobody\n"
    (tmp_path / "home" / ".gitconfig").write_text(lines)
    assert first_commit(folder, "The course") == "under git, with the course as the first commit"


def test_first_commit_ignores_the_repository_that_the_environment_names(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "another")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another" / ".git"))
    assert first_commit(folder, "The course") == "under git, with the course as the first commit"
    monkeypatch.delenv("GIT_DIR")
    assert git(folder, "log", "--format=%s") == "The course"


def test_first_commit_makes_no_repository_inside_another(folder: Path) -> None:
    git(folder.parent, "init", "-q")
    assert "lies in a git repository already" in first_commit(folder, "The course")
    assert not (folder / ".git").exists()


def test_first_commit_without_git_is_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "git is not there" in first_commit(folder, "The course")


def test_first_commit_that_fails_is_words(folder: Path) -> None:
    (folder / ".git").write_text("gitdir: nowhere")  # a file that leads astray
    words = first_commit(folder, "The course")
    assert words.startswith("git init failed, so the folder is not under version control: ")
    assert "\n" not in words
