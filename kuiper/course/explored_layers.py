"""The student's layers looked into, for ``kuiper explore --mine``: which operators differ, and where it begins.

The layers stand in the graph as ``kuiper race`` puts them there. Each operator is compared twice:

    error    its output in the whole run, where a wrong number goes on into all that follows
    alone    its output for the reference's inputs: the operator's own fault
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.own_layers import begun, build, providers, without_failures
from kuiper.course.race import TOLERANCE, relative_error
from kuiper.explore.arrays import as_levels, levels, number
from kuiper.explore.timing import layers_run
from kuiper.explore.values import pictured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kuiper.course.manifest import Exercise
    from kuiper.course.selection import Selection
    from kuiper.explore.arrays import Table
    from kuiper.graph import RuntimeGraph

MOST_BYTES = 1 << 30
"""Bytes of the reference's values that are kept to be compared with; of a network with more, the first ones are."""


def look_into(
    selection: Selection,
    load: Callable[[bool], RuntimeGraph],
    inputs: tuple[np.ndarray, ...],
    entered: Callable[[str], None] = lambda place: None,
) -> Table:
    """The page's ``mine``, and a run of the student's layers for its ``runs``.

    Parameters
    ----------
    selection : the courses with the student's files
    load : makes the model; its argument says whether passes run
    inputs : an array for each input of the model
    entered : is told where the run is

    Returns
    -------
    ``operators``, ``first`` with ``yours``, ``reference`` and ``difference`` if there is one; ``exercises`` that ran,
    ``failures`` that were replaced by the reference; ``run``.
    """
    reference = load(False)
    fast = replace(selection, mode="fast")

    def attempt(own: dict[str, Exercise]) -> tuple[RuntimeGraph, Table]:
        graph = build(fast, load, own, entered)
        return graph, compare(reference, graph, inputs, own)

    known = begun(selection, providers(selection, reference.operators))
    own, (graph, table), failures = without_failures(known, attempt)
    table["exercises"] = sorted({exercise.label for exercise in own.values()})
    table["failures"] = failures
    table["run"] = layers_run(graph, inputs, "your layers", "mine", {}) if own else None
    return table


def compare(
    reference: RuntimeGraph, graph: RuntimeGraph, inputs: tuple[np.ndarray, ...], own: Mapping[str, Exercise]
) -> Table:
    """All operators of two graphs in the order of execution; where they first differ, both pictures."""
    wanted: dict[int, Any] = {op.outputs[0].index: x for op, x in zip(reference.input_operators, inputs, strict=True)}
    operators: dict[str, Table] = {}
    table: Table = {"operators": operators, "first": None, "tolerance": TOLERANCE}
    kept = 0

    def remember(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
        nonlocal kept
        kept += sum(getattr(output, "nbytes", 0) for output in outputs)
        if kept <= MOST_BYTES:
            wanted.update({operand.index: output for operand, output in zip(op.outputs, outputs, strict=True)})

    def look(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
        if not all(operand.index in wanted for operand in (*op.outputs, *op.inputs)):
            return
        error, worst = _largest_error(op, outputs, wanted)
        agrees = error <= TOLERANCE
        is_own = op.type in own
        operators[op.name] = {
            "exercise": own[op.type].label if is_own else "",
            "error": number(error),
            "alone": number(_alone(op, wanted)) if is_own and not agrees else (0.0 if agrees else None),
            "agrees": agrees,
        }
        if not agrees and table["first"] is None:
            table.update({"first": op.name, **both(outputs[worst], wanted[op.outputs[worst].index])})

    reference.forward(*inputs, observer=remember)
    graph.forward(*inputs, observer=look)
    return table


def both(yours: Any, reference: Any) -> Table:
    """Pictures of two values on one scale, and of their difference; nothing where they have no pictures in common.

    >>> table = both(np.float32([[1, 2]]), np.float32([[1, 4]]))
    >>> table["yours"]["high"], table["difference"]["low"], table["difference"]["high"]
    (4.0, -2.0, 0.0)
    """
    a, b = np.asarray(yours), np.asarray(reference)
    table: Table = {"shapes": [list(a.shape), list(b.shape)]}
    if a.shape != b.shape or a.size == 0:
        return table
    a, b = (pictured(array.astype(np.float64)) for array in (a, b))
    with np.errstate(invalid="ignore"):
        difference = a - b
    scale = _ends(a, b)
    scales = {"yours": (a, scale), "reference": (b, scale), "difference": (difference, _ends(difference))}
    for name, (array, ends) in scales.items():
        table[name] = as_levels(levels(array, *ends), *ends)
    return table


def _ends(*arrays: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest finite number."""
    finite = [array[np.isfinite(array)] for array in arrays]
    low = min((float(part.min()) for part in finite if part.size), default=0.0)
    return low, max((float(part.max()) for part in finite if part.size), default=0.0)


def _largest_error(op: Any, outputs: tuple[Any, ...], wanted: Mapping[int, Any]) -> tuple[float, int]:
    """The largest error of an operator's outputs, NaN counting as infinite, and which of them has it."""
    errors = [relative_error(got, wanted[operand.index]) for operand, got in zip(op.outputs, outputs, strict=True)]
    errors = [error if error == error else float("inf") for error in errors]
    worst = max(range(len(errors)), key=errors.__getitem__, default=0)
    return (errors[worst] if errors else 0.0), worst


def _alone(op: Any, wanted: Mapping[int, Any]) -> float:
    """The error of an operator that gets the reference's inputs; those of stateful operators do not stand alone."""
    with np.errstate(all="ignore"):
        result = op.layer.forward(*(wanted[operand.index] for operand in op.inputs))
    outputs = (result,) if len(op.outputs) == 1 else tuple(result)
    return _largest_error(op, outputs, wanted)[0]
