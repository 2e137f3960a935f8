"""The engine on one page: its answers are PyTorch's, and the page that explains it quotes all of it."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.models import Classifier, bundled, bundled_photo
from kuiper.models.bundle import bundled_names

ROOT = Path(__file__).parents[1]
FILE = ROOT / "examples" / "tiny_engine.py"
PAGE = ROOT / "docs" / "learn" / "tiny-engine.md"
SPECIFICATION = importlib.util.spec_from_file_location("tiny_engine", FILE)
assert SPECIFICATION
assert SPECIFICATION.loader
tiny: Any = importlib.util.module_from_spec(SPECIFICATION)
sys.modules["tiny_engine"] = tiny  # dataclasses look for the module of a class
SPECIFICATION.loader.exec_module(tiny)


def blocks(kind: str) -> list[str]:
    """What stands in the page's fenced blocks of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_file_is_one_page_without_kuiper() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    nodes = list(ast.walk(ast.parse(text)))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"numpy", "PIL"}


@pytest.mark.parametrize("name", ["cifar_resnet20", "shapes_unet"])
def test_run_gives_the_scores_of_pytorch_and_of_kuiper(name: str) -> None:
    with np.load(ROOT / "tests" / "fixtures" / "bundled.npz") as stored:
        x, expected = stored[f"{name} input"], stored[f"{name} output"]
    scores = tiny.run(tiny.topological_order(tiny.read_graph(bundled(name))), x)
    assert scores.dtype == np.float32
    for other in (expected, np.asarray(kuiper.load(bundled(name))(x))):
        np.testing.assert_allclose(scores, other, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_preprocess_makes_the_numbers_that_kuiper_makes() -> None:
    classifier = Classifier(bundled("cifar_resnet20"))
    card = {"size": classifier.card.size, "mean": classifier.card.mean, "std": classifier.card.std}
    np.testing.assert_allclose(
        tiny.preprocess(bundled_photo(), card), classifier.preprocess(bundled_photo()), rtol=1e-5
    )


def answers(text: str) -> dict[str, float]:
    """Names and percentages, as the program prints them."""
    return {name: float(share) for name, share in re.findall(r"^(\w+) +([\d.]+)%$", text, re.MULTILINE)}


def test_program_names_the_cat_as_the_page_says(tmp_path: Path) -> None:
    finished = subprocess.run([sys.executable, str(FILE)], capture_output=True, text=True, check=True, cwd=tmp_path)
    printed = answers(finished.stdout)
    expected = {name: 100 * share for name, share in Classifier(bundled("cifar_resnet20"))(bundled_photo())}
    assert next(iter(printed)) == "cat"
    assert printed == pytest.approx(expected, abs=0.06)
    assert answers(blocks("")[0]) == pytest.approx(expected, abs=0.2)  # another decoder of JPEG may round otherwise


def test_program_says_what_is_wrong_with_a_photo_in_one_line(tmp_path: Path) -> None:
    finished = subprocess.run([sys.executable, str(FILE), str(tmp_path)], capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert re.fullmatch(r"tiny_engine: .*\n", finished.stderr)


@pytest.mark.parametrize("name", sorted({*bundled_names()} - {"cifar_resnet20", "shapes_unet"}))
def test_run_refuses_the_other_models(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected .*, got "):
        tiny.run(tiny.topological_order(tiny.read_graph(bundled(name))), np.zeros((1, 3, 320, 320), np.float32))


def test_topological_order_does_not_depend_on_the_order_of_the_file() -> None:
    operators = tiny.read_graph(bundled("cifar_resnet20"))
    random.Random(3).shuffle(operators)
    computed: set[str] = set()
    for op in tiny.topological_order(operators):
        assert computed.issuperset(op.inputs)
        computed.update(op.outputs)


def test_topological_order_refuses_a_circle() -> None:
    operators = [tiny.Operator("nn.ReLU", "a", ["1"], ["2"], {}), tiny.Operator("nn.ReLU", "b", ["2"], ["1"], {})]
    with pytest.raises(ValueError, match="expected 2 operators that can run, got 0"):
        tiny.topological_order(operators)


def test_expression_computes_a_nested_formula() -> None:
    x, y = np.float32([1, 4]), np.float32([2, 3])
    result = tiny.expression(x, y, expr="div(sub(mul(@1,sqrt(@0)),-5.000000e-1),2)")
    np.testing.assert_array_equal(result, np.float32([1.25, 3.25]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add(@0,@1,@0)", "add: expected 2 arguments"),
        ("add(@0,@1", "add: expected 2 arguments and '\\)', got .* the end"),
        ("add @0", "expected an input, .* got  "),
        ("sin(@0)", "expected an input, a number or one of add, .* got sin"),
        ("@0@1", "@0@1: expected the end, got @1"),
        ("", "got the end"),
    ],
)
def test_expression_refuses_what_it_cannot_read(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny.expression(np.ones(2, np.float32), np.ones(2, np.float32), expr=text)


def test_layers_refuse_settings_that_they_do_not_know() -> None:
    x, weight = np.ones((1, 2, 4, 4), np.float32), np.ones((3, 2, 1, 1), np.float32)
    settings = {"weight": weight, "bias": False, "stride": (1, 1), "padding": (0, 0)}
    assert tiny.conv2d(x, **settings).shape == (1, 3, 4, 4)
    with pytest.raises(ValueError, match=r"conv2d: expected dilation=\(1, 1\), got \(2, 2\)"):
        tiny.conv2d(x, **settings, dilation=(2, 2))
    with pytest.raises(ValueError, match="conv2d: expected rounding=nothing, got up"):
        tiny.conv2d(x, **settings, rounding="up")


def test_read_graph_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.param").write_text("1\n2 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="expected 7767517 on the first line, got 1"):
        tiny.read_graph(tmp_path / "a.param")


def test_page_quotes_the_whole_file_in_its_order() -> None:
    text = FILE.read_text(encoding="utf-8")
    quoted = blocks("python")
    assert [block for block in quoted if block not in text] == []
    assert [line for block in quoted for line in block.splitlines() if line] == [
        line for line in text.splitlines() if line
    ]


def test_page_has_examples_that_give_what_it_says() -> None:
    examples = blocks("pycon")
    assert examples
    runner = doctest.DocTestRunner(verbose=False)
    test = doctest.DocTestParser().get_doctest("\n".join(examples), dict(vars(tiny)), PAGE.name, str(PAGE), 0)
    runner.run(test)
    assert runner.summarize(verbose=False) == (0, len(test.examples))
