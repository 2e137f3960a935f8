"""Where the classroom keeps what shows solutions, and what becomes of it when the class is gone."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from kuiper.course.places import folder_of_answers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUIPER_STATE", raising=False)
    return tmp_path / "cache"


def answers_for(root: Path) -> Path:
    root.mkdir()
    bank = folder_of_answers(root) / "bug-bank"
    bank.mkdir()
    (bank / "bug.py").touch()
    return bank.parent


def test_folder_of_answers_takes_the_place_of_those_for_classes_that_are_gone(tmp_path: Path, cache: Path) -> None:
    gone, kept = answers_for(tmp_path / "gone"), answers_for(tmp_path / "kept")
    assert gone.parent == kept.parent == cache
    shutil.rmtree(tmp_path / "gone")
    assert gone.is_dir()
    answers_for(tmp_path / "new")
    assert not gone.exists()
    assert (kept / "bug-bank" / "bug.py").is_file()


def test_folder_of_answers_removes_those_of_an_older_kuiper_and_nothing_else(tmp_path: Path, cache: Path) -> None:
    unnamed, with_progress = cache / ("0" * 12), cache / ("1" * 12)
    for folder in (unnamed, with_progress, cache / "models"):
        (folder / "bug-bank").mkdir(parents=True)
    (with_progress / "progress.json").touch()
    answers_for(tmp_path / "new")
    assert not unnamed.exists()
    assert [path.name for path in with_progress.iterdir()] == ["progress.json"]
    assert (cache / "models" / "bug-bank").is_dir()


def test_folder_of_answers_is_kept_where_an_older_kuiper_has_made_it(tmp_path: Path, cache: Path) -> None:
    bank = answers_for(tmp_path / "kept") / "bug-bank"
    (bank.parent / "root.txt").unlink()
    folder_of_answers.cache_clear()
    assert folder_of_answers(tmp_path / "kept") / "bug-bank" == bank
    assert (bank / "bug.py").is_file()
