"""The documents must be true: code blocks run, the map of the tree is the tree."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import kuiper
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry

ROOT = Path(__file__).parents[1]


def test_map_of_the_tree_is_the_tree() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.split("## The map of the tree")[1].split("```")[1]
    mapped = set(re.findall(r"^ +([a-z_]+)/", block, re.MULTILINE))
    inside = {path.name for path in (ROOT / "kuiper").iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert inside <= mapped


def test_add_a_layer_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "add-a-layer.md").read_text(encoding="utf-8")
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
