"""The page's scripts have tests of their own, in JavaScript: ``node --test tests/explore/page/``."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "page").glob("*.test.js"))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_page_scripts_pass_their_own_tests() -> None:
    assert TESTS
    done = subprocess.run(["node", "--test", *map(str, TESTS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
