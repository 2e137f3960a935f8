"""docs/reference/operators.md must be true: which operators there are, their parameters, and the defaults of these."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kuiper.graph import pnnx
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.graph.runtime_operator import REQUIRED
from kuiper.layers import layer_types, registry
from tests.layers.test_operators_against_torch import assert_same
from tests.operator_page import PAGE, read_page
from tests.operator_usage import Usage, graphs_of_other_routes, recording, run, stored_paths

DOORS = {"pnnx.Input", "pnnx.Output"}
"""Types that the graph itself takes care of: they have no layer, but a section."""

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

FAMILIES, SECTIONS = read_page()
SECTION_OF = {type_name: section for section in SECTIONS for type_name in section.types}
OF_ONNX = {
    "kuiper.GRU",
    "kuiper.QuantizedConv",
    "kuiper.QuantizedLinear",
    "kuiper.QuantizedAdd",
    "kuiper.ByteTable",
}
OF_ONNX |= {"kuiper.FusedConvInteger", "kuiper.FusedMatMulInteger"}
OF_ONNX |= {
    type_name
    for section in SECTIONS
    if section.family in ("ONNX operators", "Operators of onnxruntime")
    for type_name in section.types
}
"""Types that pnnx need not write: onnx's own tests and onnxruntime's answers check them (tests/onnx)."""


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Usage:
    """What happens when all stored graphs are built and run, as they are and with the operators that passes make.

    Of the graphs of other routes those take part that have an operator which no case's own graph has.
    """
    usage = Usage()
    own = {op.type for path in stored_paths() for op in pnnx.load(path, weights=False).operators}
    with recording(usage):
        for path in [*stored_paths(), *graphs_of_other_routes(tmp_path_factory.mktemp("routes"), own)]:
            usage.add_file(path, run(path, {})[0])
            run(path, {}, DEFAULT_PASSES)
    return usage


def real_types() -> set[str]:
    """The registered types, without those that doctests make up."""
    return {name for name in layer_types() if not name.startswith("doc.")}


def listed(findings: list[str]) -> str:
    return f"docs/reference/{PAGE.name}:\n  " + "\n  ".join(findings)


def test_every_operator_has_one_section() -> None:
    counts = Counter(name for section in SECTIONS for name in section.types)
    expected = real_types() | DOORS
    findings = [f"no section for {name}" for name in sorted(expected - set(counts))]
    findings += [f"a section for {name}, which is not registered" for name in sorted(set(counts) - expected)]
    findings += [f"{count} sections for {name}" for name, count in sorted(counts.items()) if count > 1]
    assert not findings, listed(findings)


def test_index_links_to_every_family() -> None:
    index = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
    links = re.findall(r"^\| \[([^]]+)\]\(#([^)]+)\)", index, re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", family).lower().replace(" ", "-") for family in FAMILIES]
    assert links == list(zip(FAMILIES, anchors, strict=True))


def test_sections_have_a_table_or_say_that_there_are_no_parameters() -> None:
    findings = [
        f"{section.types[0]}: a table, or 'No parameters'"
        for section in SECTIONS
        if bool(section.rows) == ("No parameters" in section.text)
    ]
    assert not findings, listed(findings)


def test_every_parameter_is_in_its_table(usage: Usage) -> None:
    assert not (findings := missing_rows(usage)), listed(findings)


def missing_rows(usage: Usage) -> list[str]:
    """Parameters that a layer reads or a file has, and no table."""
    return [
        f"`{key}` of {name} is missing"
        for name in sorted({*usage.reads, *usage.params})
        for key in sorted((usage.reads[name] | usage.params[name]) - set(SECTION_OF[name].rows))
    ]


def test_every_row_is_about_a_parameter_that_exists(usage: Usage) -> None:
    findings = []
    for section in SECTIONS:
        if {*section.types} & OF_ONNX:
            continue
        known = {key for name in section.types for key in known_parameters(usage, name)}
        findings += [f"`{key}` of {section.types[0]} does not exist" for key in section.rows if key not in known]
    assert not findings, listed(findings)


def known_parameters(usage: Usage, name: str) -> set[str]:
    return usage.reads[name] | usage.params[name] | usage.operands[name] | WITHOUT_GRAPH.get(name, set())


def test_inputs_and_weights_are_named(usage: Usage) -> None:
    findings = []
    for name, section in SECTION_OF.items():
        weights = {re.sub(r"\d+", "N", word) for word in usage.weights[name]}
        inputs = usage.operands[name] - {"input", "tensor"}
        if name != "pnnx.Expression":  # it keeps the names of the inputs of what it replaced
            findings += [f"{name}: `{word}`" for word in sorted(inputs | weights) if not section.names(word)]
    assert not findings, listed(findings)


def test_defaults_are_those_of_the_layers(usage: Usage) -> None:
    assert not (findings := wrong_defaults(usage)), listed(findings)


def wrong_defaults(usage: Usage) -> list[str]:
    """Rows whose default is not what the layer falls back on; of a fallback None or () they may say what they like."""
    findings = []
    for (name, key), default in sorted(usage.defaults.items()):
        row = SECTION_OF[name].rows[key]
        if default is REQUIRED:
            agrees, expected = row.default.startswith("required"), "required"
        else:
            ignored = default is None or default == () or row.default == "ignored"
            agrees, expected = ignored or any(equal(default, literal) for literal in row.literals()), repr(default)
        if not agrees:
            findings.append(f"default of `{key}` of {name}: {expected}, not {row.default}")
    return findings


def equal(default: Any, literal: Any) -> bool:
    """Equal values of one type; equal numbers for all axes are written as one."""
    if isinstance(default, tuple) and len(set(default)) == 1:
        default = default[0]
    if isinstance(default, float) and isinstance(literal, float):
        return math.isclose(default, literal, rel_tol=1e-6)
    return type(default) is type(literal) and bool(default == literal)


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
    findings = missing_rows(again) + wrong_defaults(again)
    assert not findings, listed(findings)
