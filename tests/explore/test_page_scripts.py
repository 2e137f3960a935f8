"""The page's scripts have tests of their own, in JavaScript: ``node --test tests/explore/page/``."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kuiper.explore import families

ROOT = Path(__file__).parents[2]
TESTS = sorted((Path(__file__).parent / "page").glob("*.test.js"))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_page_scripts_pass_their_own_tests() -> None:
    assert TESTS
    done = subprocess.run(["node", "--test", *map(str, TESTS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


def test_the_page_has_a_word_for_every_family() -> None:
    script = (ROOT / "kuiper" / "explore" / "page" / "format.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"const FAMILIES = \{(.*?)\n  \};", script, re.DOTALL)
    words = re.findall(r"(\w+): _\('(\w+)'\)", table)
    assert {name for name, _ in words} == {name for name, _ in families._FAMILIES} | {"input", "output", "other"}
    assert all(name == word for name, word in words)
