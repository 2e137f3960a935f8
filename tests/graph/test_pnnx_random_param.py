"""Param files with random edits, and of random text: a graph, or one error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kuiper.errors import ModelFormatError
from kuiper.graph import pnnx

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
from tests.graph.test_pnnx_malformed_param import GOOD


def mutated(text: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """The text with pieces cut out and others put in, at positions taken modulo its length."""
    for position, cut, insert in edits:
        start = position % (len(text) + 1)
        text = text[:start] + insert + text[start + cut :]
    return text


PIECES = st.sampled_from(
    [b"", b" ", b"\n", b"=", b"(", b")", b",", b"@", b"$", b"#", b"?", b"%", b"-", b"9" * 30, b"1e999", b"\0", b"\xff"]
)


def graph_or_none(load: Callable[[], pnnx.Graph]) -> pnnx.Graph | None:
    """The graph, or None for a ModelFormatError; any other error is a failure."""
    try:
        return load()
    except ModelFormatError:
        return None


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 12), PIECES | st.binary(max_size=6)), max_size=4))
@example([])
def test_random_edits_raise_nothing_but_model_format_errors(
    tmp_path: Path, edits: list[tuple[int, int, bytes]]
) -> None:
    path = tmp_path / "fuzz.pnnx.param"
    path.write_bytes(mutated(GOOD.encode(), edits))
    graph = graph_or_none(lambda: pnnx.load(path, weights=False))
    if graph:
        text = pnnx.format_param(graph)
        assert pnnx.format_param(pnnx.parse_param(text, "again")) == text


@settings(max_examples=200)
@given(st.text(max_size=80))
def test_random_text_raises_nothing_but_model_format_errors(text: str) -> None:
    graph_or_none(lambda: pnnx.parse_param(text, "fuzz"))
    graph_or_none(lambda: pnnx.parse_param(f"7767517\n1 1\n{text}", "fuzz"))
    graph_or_none(lambda: pnnx.parse_param(f"7767517\n2 1\nA a 0 1 0 {text}\npnnx.Output o 1 0 0", "fuzz"))
