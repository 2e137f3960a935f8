"""Picking by index, and tensors of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.draw import WHOLE
from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw


@family(2)
def embedding(draw: Draw) -> Call:
    """Indices are brought into the table, which has at least nine rows since pnnx tries ONNX graphs with index 7."""
    i = draw.value((1, 2, 3), WHOLE)
    rows = draw.int(9, 14)
    return Call(f"{{m}}({{0}} % {rows})", (i,), f"nn.Embedding({rows}, {draw.int(1, 9)})")


@family()
def gather(draw: Draw) -> Call:
    x = draw.value((2, 3))
    dim = draw.int(0, x.rank - 1)
    return Call(f"torch.gather({{0}}, {dim}, torch.argsort({{0}}, {dim}))", (x,))


@family()
def index_select(draw: Draw) -> Call:
    x, i = draw.value((2, 3, 4)), draw.value(1, WHOLE)
    dim = draw.int(0, x.rank - 1)
    least = min(shape[dim] for shape in x.shapes())
    return Call(f"torch.index_select({{0}}, {dim}, {{1}} % {least})", (x, i))


@family()
def index(draw: Draw) -> Call:
    """Indices along the first or the second axis."""
    x, i = draw.value((2, 3, 4)), draw.value((1, 2), WHOLE)
    dim = draw.int(0, 1)
    least = min(shape[dim] for shape in x.shapes())
    return Call(f"{{0}}[{':, ' * dim}{{1}} % {least}]", (x, i))


@family(0.7)
def one_hot(draw: Draw) -> Call:
    i = draw.value((1, 2), WHOLE)
    return Call("F.one_hot({0} % 9, 9).float()", (i,))


@family(0.7)
def positions(draw: Draw) -> Call:
    """Numbers counted along an axis of a value."""
    x = draw.value((2, 3))
    return Call("{0} + torch.arange({0}.shape[-1]) * 0.1", (x,))
