"""A fact about an operator stands once: a made-up operator, registered in one place, works everywhere.

The classes pretend to be kuiper's own, whose facts passes and engine rely on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.engine.expression_code import code_of
from kuiper.engine.functions import CODES as ENGINE_CODES
from kuiper.engine.functions import cost_of
from kuiper.explore.families import family_of
from kuiper.explore.reads import pair_of_reads
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.passes import fuse_activation_into_conv, hoist_activation_above_views
from kuiper.layers import Layer, registry
from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.factories import FACTORIES
from kuiper.layers.kernels.activations import CODES, COSTS, FUSED
from kuiper.layers.reference.activations import FUNCTIONS
from tests.engine.models import both
from tests.engine.test_activation import applied
from tests.graph.pass_graphs import IMAGE, INPUT, OUTPUT, conv, rewritten, types
from tests.layers.one_operator import layer
from tests.layers.test_activations import BY_HAND, SETTINGS
from tests.operator_page import PAGE
from tests.size import ROOT

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph as Graph

ROWS = sorted(CODES.keys() - {"none"})


class Doubled(Layer):
    """A made-up view: another axis at the end."""

    is_view = True
    keeps_order = True

    def forward(self, x: np.ndarray) -> np.ndarray:
        return x[..., None]


class Rank(Layer):
    """A made-up function of shapes: the number of axes."""

    of_shapes = True

    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.array(x.ndim, np.int64)


class Swish(Elementwise):
    """A made-up activation: another name for a row of the table."""

    function = Activation("silu")


class Sharpened(Layer):
    """A made-up operator that leaves pixels in place."""

    is_pixelwise = True

    def forward(self, x: np.ndarray) -> np.ndarray:
        return x * 3


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in (Doubled, Rank, Swish, Sharpened):
        monkeypatch.setattr(cls, "__module__", "kuiper.layers.operators.made_up")
        monkeypatch.setitem(FACTORIES, f"made.{cls.__name__}", cls)


def left_to_python(model: Graph) -> list[str]:
    """The operators that the engine leaves to their layers."""
    return re.findall(r"made\.\w+", str(model.plan()))


VIEW = f"made.Doubled v 1 1 1 2 #1={IMAGE} #2=(2,4,6,5,1)f32"
SWISH = "made.Swish s 1 1 {0} {1} #{1}=" + IMAGE


def test_a_made_up_view_lets_an_activation_rise() -> None:
    lines = (INPUT, conv("x 1"), VIEW, "F.sigmoid s 1 1 2 y", OUTPUT)
    model = rewritten([hoist_activation_above_views, fuse_activation_into_conv], *lines)
    assert types(model) == ["kuiper.FusedConv2d", "made.Doubled"]


def test_a_made_up_view_is_undone_by_assignments() -> None:
    lines = [
        "pnnx.Input in0 0 1 x #x=(2,6)f32",
        "pnnx.Input in1 0 1 y #y=(2,2,1)f32",
        "made.Doubled v 1 1 x column #x=(2,6)f32 #column=(2,6,1)f32",
        "Tensor.slice s 1 1 column part dim=1 start=1 end=3 step=1 #column=(2,6,1)f32 #part=(2,2,1)f32",
        "Tensor.copy c 2 1 part y whole $self=part $src=y #part=(2,2,1)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
    ]
    graph = RuntimeGraph(pnnx.parse_param("\n".join(["7767517", f"{len(lines)} 5", *lines, ""]), "test.param"))
    graph.build(registry)
    out = graph.forward(np.arange(12, dtype=np.float32).reshape(2, 6), -np.ones((2, 2, 1), np.float32))
    assert out.tolist() == [[0, -1, -1, 3, 4, 5], [6, -1, -1, 9, 10, 11]]


def test_a_made_up_view_costs_the_engine_nothing() -> None:
    fast, plain = both(INPUT, conv("x 1"), VIEW, "F.relu r 1 1 2 y", OUTPUT)
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 5)).astype(np.float32)
    np.testing.assert_allclose(fast(x), plain(x), rtol=1e-5, atol=1e-6)
    assert left_to_python(fast) == []


def test_a_made_up_function_of_shapes_is_known_when_a_plan_is_made() -> None:
    fast, _ = both(INPUT, conv("x 1"), "made.Rank r 1 1 1 2", "pnnx.Expression e 2 1 1 2 y expr=add(@0,@1)", OUTPUT)
    fast(np.ones((2, 4, 6, 5), np.float32))
    assert left_to_python(fast) == []


def test_a_made_up_activation_goes_into_the_convolution() -> None:
    fast, plain = both(INPUT, conv("x 1"), SWISH.format("1", "y"), OUTPUT)
    assert types(fast) == ["kuiper.FusedConv2d"]
    assert fast.order[1].str_param("activation") == "silu"
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 5)).astype(np.float32)
    np.testing.assert_allclose(fast(x), plain(x), rtol=1e-5, atol=1e-6)


def test_a_made_up_activation_alone_is_a_step_of_the_engine() -> None:
    fast, plain = both(INPUT, SWISH.format("x", "y"), OUTPUT)
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 5)).astype(np.float32)
    np.testing.assert_allclose(fast(x), plain(x), rtol=1e-6, atol=1e-6)
    assert "silu" in str(fast.plan())
    assert "in Python" not in str(fast.plan())


@pytest.mark.parametrize(("name", "family"), [("Doubled", "shape"), ("Rank", "shape"), ("Swish", "activation")])
def test_a_made_up_operator_has_its_colour_on_the_page(name: str, family: str) -> None:
    assert family_of(f"made.{name}") == family


@pytest.mark.parametrize("name", ["Swish", "Sharpened"])
def test_a_made_up_operator_keeps_pixels_in_place_for_receptive_fields(name: str) -> None:
    model = rewritten([], INPUT, f"made.{name} m 1 1 x y", OUTPUT)
    reads = pair_of_reads(model.order[1], (2, 4, 6, 5), (2, 4, 6, 5))
    assert reads is not None
    assert reads[0].last.tolist() == [0, 1, 2, 3, 4, 5]


def test_facts_of_a_type_are_those_of_its_class_whatever_runs_it() -> None:
    with registry.override("Tensor.reshape", Layer):
        assert registry.facts("Tensor.reshape").is_view
        assert registry.snapshot(["Tensor.reshape"]).facts("Tensor.reshape").is_view
    assert registry.facts("aten::size") is registry.facts("no.such") is Layer


def test_every_activation_of_the_table_has_an_operator() -> None:
    functions = [layer(type_name, **params).function for type_name, params, _ in BY_HAND]
    assert {function.name for function in functions if function is not None} == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_engine_computes_every_activation_of_the_table(name: str) -> None:
    settings = (*SETTINGS[name], 0.0, 0.0)[:2]
    x = np.linspace(-6, 6, 999, dtype=np.float32)
    expected = FUNCTIONS[name](x.astype(np.float64), *SETTINGS[name])
    np.testing.assert_allclose(applied(name, x, *settings), expected, rtol=1e-6, atol=1e-6)
    assert cost_of(ENGINE_CODES[name]) == COSTS[name] > 0


def test_engine_and_reference_have_no_activation_that_is_not_in_the_table() -> None:
    assert FUNCTIONS.keys() == SETTINGS.keys() == set(ROWS)


@pytest.mark.parametrize(("type_name", "params", "pairs"), BY_HAND)
def test_engine_has_one_instruction_for_every_activation(type_name: str, params: dict, pairs: object) -> None:
    made = layer(type_name, **params)
    code = code_of(made, [np.zeros(3, np.float32)])
    assert code is not None
    assert len(code.instructions) == 2


def test_page_and_documents_know_every_activation_that_is_fused() -> None:
    script = (ROOT / "kuiper" / "explore" / "page" / "windows.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"const ACTIVATIONS = \{(.*?)\n  \};", script, re.DOTALL)
    known = set(re.findall(r"(\w+): ", table)) | set(re.findall(r"^    (\w+),", table, re.MULTILINE))
    assert known == set(FUSED) - {"none"}
    text = PAGE.read_text(encoding="utf-8")
    assert f"`activation` is {', '.join(f'`{name}`' for name in FUSED)}:" in text
