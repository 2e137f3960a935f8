"""docs/reference/operators.md is what the layers say today, and every operator has a graph that runs it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from kuiper.layers import layer_types, registry
from tests.layers.test_operators_against_torch import assert_same
from tests.operator_families import FAMILIES
from tests.operator_page import DOORS, PAGE, factories, page, rows
from tests.operator_usage import Usage, recording, run, usage_of_stored_graphs

SPELLED_LIKE = {
    "F.alpha_dropout": "nn.Dropout",
    "F.dropout1d": "nn.Dropout",
    "F.dropout3d": "nn.Dropout",
    "F.feature_alpha_dropout": "nn.Dropout",
    "F.upsample_bilinear": "nn.UpsamplingBilinear2d",
    "Tensor.contiguous": "torch.clone",
    "Tensor.detach": "torch.clone",
    "Tensor.view": "Tensor.reshape",
    "nn.AlphaDropout": "nn.Dropout",
    "nn.Dropout1d": "nn.Dropout",
    "nn.Dropout3d": "nn.Dropout",
    "nn.FeatureAlphaDropout": "nn.Dropout",
    "nn.Identity": "nn.Dropout",
    "torch.clip": "torch.clamp",
    "torch.concat": "torch.cat",
}
"""Types of older files that today's pnnx leaves out or writes as another type: they run the graphs of that one."""

WITHOUT_GRAPH: dict[str, set[str]] = {
    "aten::Float": set(),
    "aten::FloatImplicit": set(),
    "aten::IntImplicit": set(),
    "aten::size": {"dim"},
    "nn.ConstantPad3d": {"padding", "value"},
    "nn.ReplicationPad3d": {"padding"},
    "nn.Unflatten": {"dim", "unflattened_size"},
    "prim::DictConstruct": set(),
    "torch.clamp_max": set(),
    "torch.clamp_min": set(),
}
"""Types that today's pnnx writes as others whose parameters are called otherwise, or not at all, and their parameters.

Tests in tests/layers make them by hand.
"""

OF_ONNX = {
    "kuiper.GRU",
    "kuiper.QuantizedConv",
    "kuiper.QuantizedLinear",
    "kuiper.QuantizedAdd",
    "kuiper.ByteTable",
    "kuiper.FusedConvInteger",
    "kuiper.FusedMatMulInteger",
}
OF_ONNX |= {
    name
    for family in FAMILIES
    if family.title in ("ONNX operators", "Operators of onnxruntime")
    for module in family.modules
    for types in factories(module).values()
    for name in types
}
OF_ONNX |= {"AffineGrid", "EyeLike", "IsInf", "IsNaN", "NonZero", "OneHot", "Trilu"}
"""Types that pnnx need not write: onnx's own tests and onnxruntime's answers check them (tests/onnx)."""


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Usage:
    return usage_of_stored_graphs(tmp_path_factory.mktemp("routes"))


def real_types() -> set[str]:
    """The registered types, without those that doctests make up."""
    return {name for name in layer_types() if not name.startswith("doc.")}


def test_page_is_what_the_layers_say(usage: Usage) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(usage), "run: python -m tests.operator_page"


def test_every_operator_has_one_row(usage: Usage) -> None:
    counts = Counter(name for family in FAMILIES for row in rows(family, usage) for name in row.types)
    assert set(counts) == real_types() | set(DOORS)
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_module_is_in_one_family() -> None:
    modules = Counter(module for family in FAMILIES for module in family.modules)
    assert set(modules) == {registry._factories[name].__module__ for name in real_types()}
    assert max(modules.values()) == 1


def test_every_row_says_what_the_operator_computes(usage: Usage) -> None:
    assert [row.types[0] for family in FAMILIES for row in rows(family, usage) if not row.computes] == []


def test_parameters_have_types_and_defaults_and_required_ones_come_first(usage: Usage) -> None:
    found = {name: row.parameters for row in rows(FAMILIES[1], usage) for name in row.types}["nn.Conv2d"]
    assert found[:2] == ["`in_channels: int`", "`out_channels: int`"]
    assert "`groups: int = 1`" in found
    assert "`padding: ints = ...`" in found  # also a word: "same"
    assert found[-1] == "weights `bias`, `weight`"


def test_parameters_of_a_layer_in_no_graph_are_those_of_its_code(usage: Usage) -> None:
    [contrib] = [family for family in FAMILIES if family.title == "Operators of onnxruntime"]
    found = {name: row for row in rows(contrib, usage) for name in row.types}["QLinearAveragePool"]
    assert "`channels_last: bool = False`" in found.parameters
    assert "`kernel_shape: ints`" in found.parameters  # which another class reads for it


def test_limits_are_those_of_the_errors(usage: Usage) -> None:
    found = {name: row.only for row in rows(FAMILIES[1], usage) for name in row.types}
    assert found["nn.Conv1d"] == ["padding_mode zeros, reflect, replicate or circular"]  # of its base
    assert found["nn.Linear"] == []


def respelled(usage: Usage) -> dict[str, str]:
    """The types in no stored graph, and for each the type whose graphs it can run, or "".

    ``Tensor.amax`` is spelled like ``torch.amax``: one class, one last word. Others are in ``SPELLED_LIKE``.
    """
    factories = registry._factories
    found = {}
    for missing in real_types() - set(usage.files) - usage.built - set(WITHOUT_GRAPH):
        twins = [name for name in sorted(usage.files) if factories.get(name) is factories[missing]]
        same_word = [name for name in twins if last_word(name) == last_word(missing)]
        found[missing] = SPELLED_LIKE.get(missing, same_word[0] if same_word else "")
    return found


def last_word(type_name: str) -> str:
    """``F.channel_shuffle`` and ``nn.ChannelShuffle`` are both channelshuffle."""
    return re.split(r"\.|::", type_name)[-1].replace("_", "").lower()


def test_every_operator_has_an_exported_graph(usage: Usage) -> None:
    missing = sorted(name for name, twin in respelled(usage).items() if not twin and name not in OF_ONNX)
    assert not missing, (
        f"no graph in tests/fixtures/operators has {', '.join(missing)}: add a case in tests/fixtures/cases"
    )


def test_exceptions_are_needed(usage: Usage) -> None:
    exported = set(usage.files) | usage.built
    assert not exported & {*SPELLED_LIKE, *WITHOUT_GRAPH}
    by_hand = "".join(path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "layers").glob("test_*.py"))
    assert [name for name in WITHOUT_GRAPH if f'"{name}"' not in by_hand] == []


def test_other_spellings_compute_the_same(usage: Usage) -> None:
    again = Usage()
    with recording(again):
        for name, twin in sorted((name, twin) for name, twin in respelled(usage).items() if twin):
            for path in usage.files[twin]:
                _, outputs, expected = run(path, {twin: name})
                assert_same(outputs, expected)
            assert name in again.built, f"{name} does not run the graphs of {twin}"
