"""A model with its weights in 8 or 4 bits: smaller files, and faster text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kuiper.errors import ParameterError
from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType
from kuiper.graph.quantized_weight import GROUP, SCALES, has_groups, quantize

_WITH_WEIGHTS = frozenset({
    "nn.Linear", "nn.Embedding", "nn.Conv1d", "nn.Conv2d", "nn.Conv3d",
})  # fmt: skip
"""Operators whose ``weight`` is quantised by its first axis."""

_TABLE_READERS = frozenset({"F.linear", "F.embedding"})
"""Operators whose second input may be a stored table."""

_SCALE_TYPES = {np.dtype(np.float32): DataType.F32, np.dtype(np.float16): DataType.F16}


class Savings(NamedTuple):
    """What a quantisation did: how many weights it changed, and bytes of all weights before and after."""

    weights: int
    before: int
    after: int


def quantize_graph(graph: pnnx.Graph, bits: int, group: int | None = None) -> Savings:
    """Put weights in fewer bits, in place: of linear layers and embeddings in 8 or 4, of convolutions in 8.

    Norms and biases stay as they are. In groups, and so in 4 bits, convolutions do as well, and weights whose rows are
    no multiple of 32.

    Parameters
    ----------
    graph : a graph with its weights, as ``pnnx.load`` reads it
    bits : 8 or 4
    group : how many numbers of a row share a scale: 32, or None for a whole row in 8 bits and for 32 in 4

    Returns
    -------
    What was saved.

    Raises
    ------
    ParameterError
        If there is nothing to quantise, or a weight is not finite.

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> graph = pnnx.load(bundled("cifar_resnet20"))
    >>> savings = quantize_graph(graph, bits=8)
    >>> savings.weights, round(savings.after / savings.before, 2)
    (22, 0.26)
    """
    in_groups = has_groups(bits, group)
    before, count = _bytes(graph), 0
    for op in graph.operators:
        key = "weight" if op.type in _WITH_WEIGHTS else "data" if _is_table(op) else ""
        attr = op.attrs.get(key)
        if attr is None or attr.data is None or not _fits(attr, in_groups):
            continue
        quantized = quantize(np.asarray(attr.data), bits, group)
        kind = DataType.I8 if bits == 8 else DataType.U8
        op.attrs[key] = pnnx.Attribute(kind, quantized.data.shape, quantized.data)
        scales = quantized.scales
        op.attrs[key + SCALES] = pnnx.Attribute(_SCALE_TYPES[scales.dtype], scales.shape, scales)
        count += 1
    if any(key.endswith(SCALES) for op in graph.operators for key in op.attrs) and count == 0:
        raise ParameterError("quantize", "a model that is not quantised yet", "one that is")
    if count == 0:
        raise ParameterError(
            "quantize", f"a model with weights that {bits} bits{' in groups' if group else ''} can hold", "none"
        )
    return Savings(count, before, _bytes(graph))


def _is_table(op: pnnx.Operator) -> bool:
    """Whether it is a constant that all its readers take for a weight matrix."""
    if op.type != "pnnx.Attribute":
        return False
    readers = [reader for operand in op.outputs for reader in operand.consumers]
    return bool(readers) and all(
        reader.type in _TABLE_READERS and [x.producer for x in reader.inputs].index(op) == 1 for reader in readers
    )


def _fits(attr: pnnx.Attribute, in_groups: bool) -> bool:
    """Whether it is a weight of floats, and its rows can be cut into groups if they have to."""
    if attr.type not in (DataType.F32, DataType.F16) or len(attr.shape) < 2 or 0 in attr.shape:
        return False
    return not in_groups or (len(attr.shape) == 2 and attr.shape[1] % GROUP == 0)


def _bytes(graph: pnnx.Graph) -> int:
    return sum(attr.data.nbytes for op in graph.operators for attr in op.attrs.values() if attr.data is not None)
