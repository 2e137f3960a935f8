"""Walk over a graph beside the model that it was made from, and write back what was lost on the way.

An operator is tried as the file has it, and as it would be with what may have been lost. What the model computes
somewhere decides: a candidate is taken only if its output is there, and the output of the file is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.graph import pnnx
from kuiper.models.conversion.repairs.calls import names_of, recorded
from kuiper.models.conversion.repairs.candidates import candidates, may_lack
from kuiper.models.conversion.repairs.graph_edit import substitute
from kuiper.models.conversion.repairs.operator_run import outputs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kuiper.models.conversion.repairs.calls import Calls
    from kuiper.models.conversion.traps import Note

ACCEPTED = 1e-5
"""So far, as a fraction of its largest number, may an output be from what the model computes."""

BETTER = 4
"""So many times nearer than what the file has."""

ROUNDING = 3e-7
"""An output that is as near as this is right."""


def repair(files: tuple[Path, Path], inputs: Sequence[np.ndarray], run: Callable[[], Any], note: Note) -> None:
    """Write back into a pair of PNNX files what the converter has lost; files without a loss are left alone.

    Parameters
    ----------
    files : the .param and the .bin file
    inputs : those that the model was traced with
    run : runs the model on these inputs
    note : is told how many operators of each type were repaired
    """
    graph = pnnx.load(*files)
    if not may_lack(graph, names_of(run)):
        return
    repaired = repair_graph(graph, inputs, recorded(run))
    if repaired:
        pnnx.save(graph, *files)
        for kind in dict.fromkeys(repaired):
            note(f"what pnnx lost of {repaired.count(kind)} x {kind} is written back from the trace")


def repair_graph(graph: pnnx.Graph, inputs: Sequence[np.ndarray], calls: Calls) -> list[str]:
    """As ``repair``, for a graph in memory: the types of the operators that were repaired."""
    repaired: list[str] = []
    values: dict[str, Any] = {}
    given = iter(inputs)
    for op in list(graph.operators):
        if op.type == "pnnx.Input":
            values[op.outputs[0].name] = next(given)
            continue
        if op.type == "pnnx.Output" or any(operand.name not in values for operand in op.inputs):
            continue
        outputs = outputs_of([op], values)
        better = _better(op, values, outputs, calls)
        if better is not None:
            new, outputs = better
            substitute(graph, op, new)
            repaired.append(op.type)
        values.update(outputs or {})
    return repaired


def _better(
    op: pnnx.Operator, values: dict[str, Any], outputs: dict[str, Any] | None, calls: Calls
) -> tuple[list[pnnx.Operator], dict[str, Any]] | None:
    """The operators to put in the place of one, and what they compute; None if it is right or nothing is nearer."""
    tries = candidates(op, values, calls)
    if not tries:
        return None
    present = distance(op, outputs, calls)
    if present <= ROUNDING:
        return None
    results = [(new, made) for new in tries if (made := outputs_of(new, values)) is not None]
    distances = [distance(op, made, calls) for _, made in results]
    best = int(np.argmin(distances)) if distances else 0
    if not distances or distances[best] > min(ACCEPTED, present / BETTER):
        return None
    return results[best]


def distance(op: pnnx.Operator, values: dict[str, Any] | None, calls: Calls) -> float:
    """How far the outputs of an operator are from what the model computes; infinitely far if they are not declared so.

    An operator that could not be computed is infinitely far, too.
    """
    if values is None:
        return float("inf")
    worst = 0.0
    for operand in op.outputs:
        output = np.asarray(values[operand.name])
        if operand.shape is not None and not _fits(output.shape, operand.shape):
            return float("inf")
        worst = max(worst, calls.distance(output))
    return worst


def _fits(shape: tuple[int, ...], declared: tuple[int | str | None, ...]) -> bool:
    sizes = zip(shape, declared, strict=False)
    return len(shape) == len(declared) and all(a == b for a, b in sizes if isinstance(b, int))
