"""The check of lectures in JupyterLab knows what is to be seen, and says what is not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "site"
SPECIFICATION = importlib.util.spec_from_file_location("check_lab", FOLDER / "check_lab.py")
assert SPECIFICATION
assert SPECIFICATION.loader
check_lab: Any = importlib.util.module_from_spec(SPECIFICATION)
if sys.platform == "win32":
    pytest.skip("it talks to the browser through files 3 and 4", allow_module_level=True)
SPECIFICATION.loader.exec_module(check_lab)

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["[a](../README.md#x), [b](data/x.csv), [c](https://x.org), [d](#here)"]},
        {
            "cell_type": "code",
            "metadata": {"jupyter": {"source_hidden": True}},
            "outputs": [{"data": {"image/png": ""}}],
        },
        {"cell_type": "code", "metadata": {}, "outputs": [{"text": "4"}, {"data": {"text/markdown": "[e](../../f)"}}]},
    ]
}
SEEN = {"cells": 3, "texts": 1, "seen": 1, "folded": 1, "unseen": [], "trust": "Notebook is not trusted"}


def test_expected_counts_what_is_to_be_seen() -> None:
    assert check_lab.expected(NOTEBOOK) == {"cells": 3, "texts": 1, "seen": 1, "folded": 1}


def test_links_are_paths_from_the_root() -> None:
    assert check_lab.links(NOTEBOOK) == [
        ("../README.md#x", "README.md"),
        ("data/x.csv", "notebooks/data/x.csv"),
        ("../../f", "../f"),
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, ""),
        ({"seen": 0}, "expected 1 pictures, got 0"),
        ({"folded": 0}, "expected 1 inputs that are folded, got 0"),
        ({"unseen": ["<picture 283 x 142>"]}, "words instead of a picture: <picture 283 x 142>"),
        ({"trust": "Notebook is trusted"}, "expected a notebook that is not trusted"),
    ],
)
def test_problems_of_finds_what_differs(change: dict[str, Any], problem: str) -> None:
    found = "\n".join(check_lab.problems_of(SEEN | change, check_lab.expected(NOTEBOOK)))
    assert (problem in found) if problem else not found


def test_main_without_jupyterlab_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_lab.main(str(tmp_path / "missing"), ["00"]) == 2
    assert "no " in capsys.readouterr().err
