"""What docs/inside/engine.md and docs/inside/add-a-layer.md show of the engine is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import kuiper
from kuiper.engine.lowering import registry as lowerings
from kuiper.layers import registry
from kuiper.models import bundled
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of

if TYPE_CHECKING:
    import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, beginning: str) -> list[str]:
    """The Python examples of a page that begin with one of these words."""
    return re.findall(rf"```python\n((?:{beginning}).*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


def test_lowering_of_add_a_layer_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, lowering, *_ = blocks("inside/add-a-layer.md", "import numpy|from kuiper")
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))
    monkeypatch.setattr(lowerings, "_lowerings", dict(lowerings._lowerings))
    exec(compile(layer + lowering, "add-a-layer.md", "exec"), {})
    fast, plain = both(
        "pnnx.Input in 0 1 x #x=(1,7,5,3)f32",
        "my.Scale scale 1 1 x y factor=2.5 per_channel=True @weight=(7)f32",
        "pnnx.Output out 1 0 y",
    )
    for shape in ((1, 7, 5, 3), (3, 7, 1, 1)):
        assert_close(fast(numbers(*shape)), plain(numbers(*shape)))
    assert algorithms(plan_of(fast, [np.ones((1, 7, 5, 3), np.float32)])) == ["import", "mul", "export"]


def test_plan_has_the_columns_that_the_page_explains() -> None:
    page = (DOCS / "inside" / "engine.md").read_text("utf-8")
    explained = re.findall(r"^\| ([a-zA-Z/µ ,]+) \| \w", page.split("## See it")[1].split("## Memory")[0], re.MULTILINE)
    report = kuiper.load(bundled("cifar_resnet20")).plan(runs=1)
    assert ", ".join(explained).split(", ") == [column.heading for column in report.columns]
    assert "one arena of" in report.footer


def test_a_layer_of_ones_own_is_a_step_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks("inside/engine.md", "import numpy")
    exec(compile(example, "engine.md", "exec"), {})
    assert "the layer, in Python" in capsys.readouterr().out
