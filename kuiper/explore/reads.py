"""What each operator reads of a picture, for receptive fields: its layer says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.reads import pixelwise_reads
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.reads import Reads

Shape = tuple[int, ...]


def pair_of_reads(op: RuntimeOperator, source: Shape, target: Shape) -> tuple[Reads, Reads] | None:
    """What output rows and columns of an operator read of one input's; None if everything may mix.

    Parameters
    ----------
    op : the operator, with its layer
    source : the shape of the input, (n, c, h, w)
    target : the shape of the output, (n, c, h, w)

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> conv = kuiper.load(bundled("cifar_resnet20")).order[1]
    >>> rows, columns = pair_of_reads(conv, (1, 3, 32, 32), (1, 16, 32, 32))
    >>> rows.first[:3].tolist(), rows.low, rows.high
    ([0, 0, 1], -1.0, 1.0)
    """
    reads = getattr(op.layer, "reads", None)  # a layer of one's own need not say
    found = reads(_sizes(source, target)) if reads else None
    return (found[0], found[1]) if found else None


def is_convolution(op: RuntimeOperator) -> bool:
    """Whether the operator lays a kernel of its own on an image."""
    return isinstance(getattr(op.layer, "window", None), Window) and "weight" in op.attrs


def residual_reads(source: Shape, target: Shape) -> tuple[Reads, Reads] | None:
    """What a fused operator reads of what it adds: the same pixel, or the only one of an axis."""
    found = pixelwise_reads(_sizes(source, target))
    return (found[0], found[1]) if found else None


def _sizes(source: Shape, target: Shape) -> list[tuple[int, int]]:
    return list(zip(source[2:], target[2:], strict=True))
