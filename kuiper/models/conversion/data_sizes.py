"""Operators whose outputs have as many entries as the numbers say: for pnnx, as many as in the example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph import pnnx

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.models.conversion.traps import Note

KINDS = ("aten::nonzero", "torch.nonzero", "torch.masked_select", "aten::argwhere", "aten::_unique2")


def note_sizes_of_data(param: Path, note: Note) -> None:
    """Say which operators they are, and that what comes after them may hold a size of the example."""
    for op in pnnx.load(param, weights=False).operators:
        if op.type in KINDS and any(operand.consumers for operand in op.outputs):
            note(
                f"how much {op.type} '{op.name}' finds depends on the numbers; pnnx writes what it finds in the "
                "example into the shapes behind it; torch.topk, for example, finds as many for all inputs"
            )
