"""What is said of outputs whose size depends on the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType
from kuiper.models.conversion.data_sizes import note_sizes_of_data
from kuiper.models.text.graph_writer import GraphWriter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", ["aten::nonzero", "torch.masked_select", "F.relu"])
def test_note_sizes_of_data_names_operators_that_find_as_many_as_there_are(kind: str, tmp_path: Path) -> None:
    writer = GraphWriter()
    x = writer.add("pnnx.Input", "x", shape=(4,))
    found = writer.add(kind, "found", x, shape=(3, 1), dtype=DataType.I64)
    writer.finish(writer.add("torch.t", "turned", found, shape=(1, 3)))
    pnnx.save(writer.graph, tmp_path / "m.pnnx.param", tmp_path / "m.pnnx.bin")
    notes: list[str] = []
    note_sizes_of_data(tmp_path / "m.pnnx.param", notes.append)
    assert [f"how much {kind} 'found' finds" in note for note in notes] == [True] * (kind != "F.relu")
