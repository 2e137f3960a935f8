"""The documents must be true: code blocks run, the map of the tree is the tree."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import textwrap
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry

ROOT = Path(__file__).parents[1]


def without_spaces(text: str) -> str:
    return "".join(text.split())


def test_picture_of_a_failing_test_shows_what_pytest_prints() -> None:
    script = ROOT / "docs" / "pictures" / "failing_test.py"
    specification = importlib.util.spec_from_file_location("failing_test", script)
    assert specification
    assert specification.loader
    module: Any = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for language, file in module.files().items():
        shown = re.findall(r"<text[^>]*>([^<]*)</text>", file.read_text(encoding="utf-8"))
        text = without_spaces(unescape("".join(shown)))
        assert text == without_spaces(f"A failing test $ {module.COMMAND} {module.report(language)}"), f"run: {script}"


def test_map_of_the_tree_names_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {
        name.split("/")[0] for name in tracked.splitlines() if "/" in name and not name.startswith((".", "course"))
    }
    assert [folder for folder in sorted(folders) if not re.search(rf"\b{folder}/", text)] == []


def test_nothing_is_installed_by_a_name_that_an_index_may_have_given_away() -> None:
    """``pip install kuiper`` fetches whatever project has this name there; the checkout or a file is meant."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("kuiper/**/*.py")]
    bare = re.compile(r"pip install (?:--?[\w-]+ )*'?kuiper\b")
    assert [str(page) for page in pages if bare.search(page.read_text(encoding="utf-8"))] == []


def test_add_a_layer_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "inside" / "add-a-layer.md").read_text(encoding="utf-8")
    line = re.search(r"```\n(my\.Scale.*)\n```", page)
    code = re.search(r"```python\n(import numpy.*?)```", page, re.DOTALL)
    assert line
    assert code
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))
    exec(compile(textwrap.dedent(code[1]), "add-a-layer.md", "exec"), {})
    text = f"7767517\n3 2\npnnx.Input in 0 1 4\n{line[1]}\npnnx.Output out 1 0 5\n"
    file_graph = pnnx.parse_param(text, "example.param")
    file_graph.operator("scale_1").attrs["weight"].data = np.arange(8, dtype=np.float32)
    graph = RuntimeGraph(file_graph)
    graph.build(registry)
    x = np.ones((2, 8, 3, 5), np.float32)
    np.testing.assert_array_equal(graph.forward(x)[1, :, 2, 4], 2.5 * np.arange(8))
    with pytest.raises(
        kuiper.ShapeError, match=r"my.Scale 'scale_1': expected input \(n, 8, \.\.\.\), got \(1, 3, 4, 4\)"
    ):
        graph.forward(np.ones((1, 3, 4, 4), np.float32))
