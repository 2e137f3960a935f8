"""What git hands out ends its lines in LF on every system: .gitattributes says so for all that is text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORPUS = "tests/fuzz/corpus/"


def told_by_git() -> dict[str, list[str]]:
    """For each file that git has: how lines end in the index and in the folder, and what the attributes say."""
    try:
        words = ["git", "ls-files", "--eol"]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not in a checkout with git")
    return {name: facts.split() for facts, _, name in (line.partition("\t") for line in done.stdout.splitlines())}


def test_every_text_has_line_ends_that_are_the_same_on_every_system() -> None:
    found = told_by_git()
    assert found
    texts = {name: facts for name, facts in found.items() if not name.startswith(CORPUS)}
    assert {name: facts[0] for name, facts in texts.items() if facts[0] not in ("i/lf", "i/none", "i/-text")} == {}
    assert {name for name, facts in texts.items() if facts[2:] != ["attr/text=auto", "eol=lf"]} == set()


def test_bytes_of_the_corpus_are_left_alone() -> None:
    found = {name: facts for name, facts in told_by_git().items() if name.startswith(CORPUS)}
    assert {facts[2] for facts in found.values()} <= {"attr/-text"}
