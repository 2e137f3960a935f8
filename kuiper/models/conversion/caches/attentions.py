"""Which operators attend to caches: told by what they compute, whatever they are written with.

Attention may be one operator of the file or ten, with heads shared by ``expand`` or by ``repeat``, with a scale in the
queries or in the scores, with a mask of any form. What counts is its output: it is causal attention of a tensor that is
there before, to the rows of two caches, or the graph is left alone.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.errors import ExportError, ShapeError
from kuiper.layers.operators.causal_attention import causal_attention
from kuiper.models.conversion.repairs.calls import relative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.graph import pnnx

    Values = dict[str, Any]

ACCEPTED = 1e-5
"""So far, as a fraction of its largest number, may the output of attention be from causal attention."""

_STRUCTURE = ("prim::TupleConstruct", "prim::ListConstruct", "pnnx.Output")


class Attention(NamedTuple):
    """``output`` is causal attention of ``query`` to the rows in the caches ``keys`` and ``values``."""

    query: pnnx.Operand
    keys: pnnx.Operand
    values: pnnx.Operand
    output: pnnx.Operand
    scale: float | None


def find_attentions(graph: pnnx.Graph, caches: Sequence[pnnx.Operand], runs: Sequence[Values]) -> list[Attention]:
    """The attention to each pair of caches.

    Parameters
    ----------
    graph : of a decoder
    caches : the operands that hold the rows of the past and of the call
    runs : the values of all operands, for calls of different lengths

    Raises
    ------
    ExportError
        If rows of two caches meet in an operator whose output is not causal attention to them.
    """
    found: list[Attention] = []
    holds: dict[pnnx.Operand, frozenset[pnnx.Operand]] = {cache: frozenset([cache]) for cache in caches}
    before: list[pnnx.Operand] = []
    for op in graph.operators:
        joined = frozenset[Any]().union(*(holds.get(operand, frozenset()) for operand in op.inputs))
        if len(joined) > 1 and op.type not in _STRUCTURE:
            found.append(_attention(op, sorted(joined, key=caches.index), before, runs))
            joined = frozenset()
        for operand in op.outputs:
            if isinstance(runs[0].get(operand.name), np.ndarray):  # of a size, nobody reads rows
                holds.setdefault(operand, joined)
                before.append(operand)
    return found


def _attention(
    op: pnnx.Operator, caches: list[pnnx.Operand], before: list[pnnx.Operand], runs: Sequence[Values]
) -> Attention:
    """The attention that this operator completes."""
    output = op.outputs[0]
    for query in _like(output, before, runs):
        for keys, values in permutations(caches, 2):
            for scale in _scales(op):
                attention = Attention(query, keys, values, output, scale)
                if all(_is_right(attention, run) for run in runs):
                    return attention
    expected = "causal attention to the caches of keys and values"
    raise ExportError(f"{op.type} '{op.name}'", expected, "something else made of both")


def _like(output: pnnx.Operand, before: list[pnnx.Operand], runs: Sequence[Values]) -> Iterator[pnnx.Operand]:
    """What may be the queries: tensors of the shape of the output, the latest first."""
    for operand in reversed(before):
        arrays = [(run.get(operand.name), run.get(output.name)) for run in runs]
        if all(
            isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.ndim == 4
            and a.shape == b.shape and a.dtype == b.dtype == np.float32
            for a, b in arrays
        ):  # fmt: skip
            yield operand


def _scales(op: pnnx.Operator) -> list[float | None]:
    """What the scores may be multiplied by; None is 1 / sqrt(width)."""
    given = op.params.get("scale")
    own = [float(given.value)] if given is not None and isinstance(given.value, int | float) else []
    return [*own, None, 1.0]


def _is_right(attention: Attention, run: Values) -> bool:
    query, keys, values, output = (run[operand.name] for operand in attention[:4])
    try:
        return relative(output, causal_attention(query, keys, values, attention.scale)) <= ACCEPTED
    except ShapeError:
        return False
