"""The student's layers looked into, for ``kuiper explore --mine``: which operators differ, and where it begins.

The layers stand in the graph as ``kuiper race`` puts them there. Each operator is compared twice:

    error    its output in the whole run, where a wrong number goes on into all that follows
    alone    its output for the reference's inputs: the operator's own fault

A run begins and ends a text: so an operator with state gets an empty one, in the run and alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.differences import TOLERANCE, Difference, difference
from kuiper.course.own_layers import OwnLayerError, begun, build, providers, without_failures
from kuiper.course.phrases import said
from kuiper.explore.arrays import as_levels, levels, number
from kuiper.explore.timing import layers_run
from kuiper.explore.values import pictured
from kuiper.graph.execution import uses_state
from kuiper.graph.pnnx.ir import Parameter
from kuiper.graph.pnnx.values import spell_value
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kuiper.course.manifest import Exercise
    from kuiper.course.selection import Selection
    from kuiper.explore.arrays import Table
    from kuiper.graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator, RuntimeParameter
    from kuiper.graph.state import State

MAX_NAMED = 5
MAX_BYTES = 1 << 30
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
    ``operators``, ``first`` with ``yours``, ``reference`` and ``difference`` if there is one; ``others``, what
    there is to say of all others that differ; ``exercises`` that ran, ``failures`` that were replaced by the reference;
    ``run``.
    """
    reference = load(False)
    fast = replace(selection, mode="fast")

    def attempt(own: dict[str, Exercise]) -> Table:
        graph = build(fast, load, own, entered)
        table = compare(reference, graph, inputs, own)
        return table | {"run": layers_run(graph, inputs, _("your layers"), "mine", {}) if own else None}

    known = begun(selection, providers(selection, reference.operators))
    own, table, failures = without_failures(known, attempt)
    table["exercises"] = sorted({exercise.label for exercise in own.values()})
    table["failures"] = failures
    return table


def compare(
    reference: RuntimeGraph, graph: RuntimeGraph, inputs: tuple[np.ndarray, ...], own: Mapping[str, Exercise]
) -> Table:
    """All operators of two graphs in the order of execution; where they first differ, both pictures."""
    wanted: dict[int, Any] = {op.outputs[0].index: x for op, x in zip(reference.input_operators, inputs, strict=True)}
    operators: dict[str, Table] = {}
    table: Table = {"operators": operators, "first": None, "tolerance": TOLERANCE}
    faulty: dict[RuntimeOperator, bool] = {}
    state = graph.execution.fresh_state(list(inputs))
    kept = 0

    def remember(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
        nonlocal kept
        kept += sum(getattr(output, "nbytes", 0) for output in outputs)
        if kept <= MAX_BYTES:
            wanted.update({operand.index: output for operand, output in zip(op.outputs, outputs, strict=True)})

    def look(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
        if not all(operand.index in wanted for operand in (*op.outputs, *op.inputs)):
            return
        found = _compared(op, outputs, wanted)
        is_own = op.type in own
        alone = Difference() if found.agrees else _alone(op, wanted, state) if is_own else None
        if is_own and alone is not None:
            faulty[op] = not alone.agrees
        operators[op.name] = {
            "exercise": own[op.type].label if is_own else "",
            "error": number(found.error),
            "alone": None if alone is None else number(alone.error),
            "agrees": found.agrees,
            "form": said(found.form),
        }
        if not found.agrees and table["first"] is None:
            table.update({"first": op.name, **both(outputs[found.worst], wanted[op.outputs[found.worst].index])})

    reference.forward(*inputs, observer=remember)
    graph.forward(*inputs, observer=look)
    names = [op.name for op, is_wrong in faulty.items() if is_wrong]
    differing = sum(not entry["agrees"] for entry in operators.values())
    table["others"] = of_the_others(table["first"], names, differing, only_in_faulty(faulty))
    return table


def of_the_others(first: str | None, faulty: Sequence[str], differing: int, shared: Sequence[str]) -> str:
    """What is known of the operators that differ beside the first: wrong on their own, or given wrong inputs.

    Parameters
    ----------
    first : the first that differs
    faulty : those that are wrong on their own, perhaps the first among them
    differing : how many differ in all
    shared : parameters that the faulty ones alone have

    >>> of_the_others("conv1", ["conv1", "conv3"], 2, ["stride=(2,2)"])
    'Also wrong on its own: conv3. Of their type, only these have stride=(2,2).'
    >>> of_the_others("conv1", ["conv1"], 2, [])
    '1 more gets wrong inputs, and differs for that.'
    """
    also = [name for name in faulty if name != first]
    passed_on = differing - len({*also, first})
    words = []
    if also:
        many = _("Also wrong on their own: {names} and {count} more.")
        few = _("Also wrong on their own: {names}.") if len(also) > 1 else _("Also wrong on its own: {names}.")
        sentence = many if len(also) > MAX_NAMED else few
        words.append(sentence.format(names=", ".join(also[:MAX_NAMED]), count=len(also) - MAX_NAMED))
    if shared:
        words.append(_("Of their type, only these have {parameters}.").format(parameters=", ".join(shared)))
    if passed_on > 0:
        several = _("{count} more get wrong inputs, and differ for that.")
        sentence = _("{count} more gets wrong inputs, and differs for that.") if passed_on == 1 else several
        words.append(sentence.format(count=passed_on))
    return " ".join(words)


def only_in_faulty(faulty: Mapping[RuntimeOperator, bool]) -> list[str]:
    """The parameters that all faulty operators have and none of the others of their type, as a file writes them.

    One operator shares nothing, and where all of a type are faulty, no parameter tells them apart.

    >>> from kuiper.graph.pnnx.values import parse_value
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> def conv(name, stride):
    ...     params = {"stride": parse_value(stride, ""), "groups": parse_value("1", "")}
    ...     return RuntimeOperator("nn.Conv2d", name, params=params)
    >>> only_in_faulty({conv("a", "1"): False, conv("b", "2"): True, conv("c", "2"): True})
    ['stride=2']
    """
    wrong = [op for op, is_wrong in faulty.items() if is_wrong]
    types = {op.type for op in wrong}
    right = [op for op, is_wrong in faulty.items() if not is_wrong and op.type in types]
    if len(wrong) < 2 or not right:
        return []
    texts = {op: {f"{key}={_spelled(parameter, op.where)}" for key, parameter in op.params.items()} for op in faulty}
    common = set.intersection(*(texts[op] for op in wrong))
    return sorted(common.difference(*(texts[op] for op in right)))


def _spelled(parameter: RuntimeParameter, where: str) -> str:
    return spell_value(Parameter(parameter.type, parameter.value), where)


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


def _compared(op: RuntimeOperator, outputs: Sequence[Any], wanted: Mapping[int, Any]) -> Difference:
    """How an operator's outputs differ from the reference's."""
    return difference(outputs, [wanted[operand.index] for operand in op.outputs])


def _alone(op: RuntimeOperator, wanted: Mapping[int, Any], state: State | None) -> Difference:
    """How its outputs differ where an operator gets the reference's inputs; one that raises has no right number."""
    assert op.layer is not None, "a graph that has run"
    inputs = [wanted[operand.index] for operand in op.inputs]
    if uses_state(op):
        assert state is not None, "a graph with such an operator has one"
        inputs.append(state.of(op.name))
    try:
        with np.errstate(all="ignore"):
            result = op.layer.forward(*inputs)
    except OwnLayerError:
        return Difference(error=float("inf"))
    return _compared(op, (result,) if len(op.outputs) == 1 else tuple(result), wanted)
