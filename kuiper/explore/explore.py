"""Gathers all that the page shows of a graph at work. The numbers are those of summary, plan and profile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kuiper.errors import KuiperError
from kuiper.explore.budget import Candidate, cut_maps, keep_smallest
from kuiper.explore.families import family_of
from kuiper.explore.graph_page import plan_stage, stage_table
from kuiper.explore.machine import machine_table
from kuiper.explore.memory import memory_table
from kuiper.explore.operators import operator_table
from kuiper.explore.page import Page
from kuiper.explore.planning import find_plan, plan_table, step_edges
from kuiper.explore.seen import Seen
from kuiper.explore.timing import engine_run, layers_run
from kuiper.explore.values import as_table
from kuiper.explore.windows import receptive_fields, window_table
from kuiper.graph.made_up import sample_inputs
from kuiper.graph.schedule import depth_first_order
from kuiper.graph.summary import SummaryRow, format_shape, summary_row
from kuiper.language import _
from kuiper.layers import registry
from kuiper.printable import printable
from kuiper.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kuiper.engine.runner import Runner
    from kuiper.explore.arrays import Table
    from kuiper.explore.fields import Field
    from kuiper.explore.observed import Observed
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator

FORMAT = 1
"""The version of the page's data; page.py describes it."""


def explore(
    graph: RuntimeGraph,
    *inputs: Any,
    picture: Table | None = None,
    answers: Callable[[tuple[Any, ...]], Table] | None = None,
    mine: Table | None = None,
    version: str = "",
) -> Page:
    """The page of a graph at work on these inputs.

    Parameters
    ----------
    graph : a graph that has been built
    inputs : one argument for each input of the graph; without any, made-up ones
    picture : the page's ``input``, where the input was a picture
    answers : what the outputs mean, for the page's ``answers``
    mine : the page's ``mine``: how a student's layers did, and under ``run`` their times
    version : kuiper's, for the page to name it

    Returns
    -------
    The page: ``.save(path)`` writes it, a notebook shows it.

    Raises
    ------
    GraphStateError
        If the graph has not been built.
    KuiperError
        If an operator fails on these inputs.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> page = explore(model, np.zeros((1, 3, 32, 32), np.float32))
    >>> [stage["name"] for stage in page.data["stages"]]
    ['file', 'fuse_add_into_conv', 'fuse_activation_into_conv', 'plan']
    """
    seen = Seen(graph, graph.execution.checked(inputs or sample_inputs(graph, None)))
    data = _data(seen, answers) | {"input": picture}
    data["model"]["kuiper"] = version
    if mine is not None:
        run = mine.get("run")
        data["runs"] += [run] if run else []
        data["mine"] = {key: value for key, value in mine.items() if key != "run"}
    return Page(data)


def _data(seen: Seen, answers: Callable[[tuple[Any, ...]], Table] | None) -> Table:
    """The page's data, but for its ``input``."""
    execution, threads = seen.graph.execution, get_num_threads()
    machine = machine_table(threads)
    plan, refusal = find_plan(seen.graph, seen.inputs, execution.fresh_state(seen.inputs))
    left_out = [*seen.left_out, *seen.graph.fallbacks]
    shown = _shown_operators(seen)
    rows = {key: summary_row(op, seen.shapes_around(key, op)) for key, op in shown.items()}
    windows, fields, weights = _windows(seen, shown)
    values, too_large = _values(seen, weights)
    table: Table = {"steps": [], "refusal": printable(refusal)}
    memory = None
    if plan is not None:
        table = plan_table(plan, seen.inputs, execution.fresh_state(seen.inputs), seen.by_name, machine["gigahertz"])
        made = plan.executable
        memory = memory_table(made.arena_map, len(table["steps"]), made.arena_floats, seen.final_names, seen.by_name)
    return {
        "format": FORMAT,
        "model": _model(seen, rows),
        "machine": machine,
        "stages": _stages(seen, shown, table["steps"]),
        "operators": _operators(seen, shown, rows, table["steps"]),
        "plan": table,
        "runs": _runs(seen, plan, threads),
        "memory": memory,
        "values": values,
        "windows": windows,
        "fields": fields,
        "answers": answers(seen.final.outputs) if answers else {"kind": "values"},
        "left_out": left_out + too_large,
    }


def _model(seen: Seen, rows: Mapping[str, SummaryRow]) -> Table:
    graph, final = seen.graph, [rows[key] for key in seen.by_name.values()]

    def end(name: str, operand: Any) -> Table:
        value, shape = seen.final_names[operand.index], format_shape(operand.shape)
        return {"name": name, "value": value, "shape": shape, "type": operand.type.name.lower()}

    return {
        "name": printable(graph.name.removesuffix(".onnx").removesuffix(".param").removesuffix(".pnnx")),
        "file": printable(graph.name),
        "parameters": sum(row.parameters for row in final),
        "flops": sum(row.flops or 0 for row in final),
        "inputs": [end(op.name, operand) for op in graph.input_operators for operand in op.outputs],
        "outputs": [end(op.name, operand) for op in graph.output_operators for operand in op.inputs],
    }


def _shown_operators(seen: Seen) -> dict[str, RuntimeOperator]:
    """The operator of each key: with its layer, as far as one can be made."""
    plain = {op.name: op for op in seen.plain.operators}
    final = {op.name: op for op in seen.graph.operators}
    last = dict(zip(seen.keys.operators[-1].values(), seen.stages[-1].nodes, strict=True))
    return {
        key: plain[op.name] if key in seen.first else final[op.name] if key in last else _with_layer(op)
        for key, op in seen.keys.shown.items()
    }


def _operators(
    seen: Seen, shown: Mapping[str, RuntimeOperator], rows: Mapping[str, SummaryRow], steps: list[Table]
) -> dict[str, Table]:
    """The page's operators, each with the places of its steps in the plan."""
    tables = {}
    for key, op in shown.items():
        tables[key] = operator_table(op, rows[key], (seen.names_of(op.inputs, key), seen.names_of(op.outputs, key)))
    for place, step in enumerate(steps):
        tables[step["operator"]]["steps"].append(place)
    return tables


def _values(seen: Seen, weights: list[Candidate]) -> tuple[dict[str, Table], list[str]]:
    """The page's values, with exact numbers as far as there is room, and what was left out for the lack of it."""
    records = seen.records
    maps = cut_maps(records)
    kept: set[str] = set()
    candidates = [
        Candidate("exact values", math.prod(record.table["shape"]), lambda name=name: kept.add(name))  # type: ignore[misc]
        for name, record in records.items()
        if record.table["shape"] is not None
    ]
    left_out = keep_smallest([*candidates, *weights])
    return {name: as_table(record, name in kept, maps.get(name)) for name, record in records.items()}, left_out


def _windows(seen: Seen, shown: Mapping[str, RuntimeOperator]) -> tuple[dict[str, Table], list[Table], list[Candidate]]:
    """The windows of all operators, the receptive fields that they name, and weights to be put in."""
    tables: dict[str, Table] = {}
    fields: list[Table] = []
    weights: list[Candidate] = []
    numbers: dict[str, int] = {}
    in_file, after_passes = _fields(seen.plain, seen.observed), _fields(seen.graph, seen.final)
    for key, op in shown.items():
        if op.layer is None:
            continue
        table, candidates = window_table(op, seen.names_of(op.inputs, key))
        known = in_file if key in seen.first else after_passes
        field = known.get(op.outputs[0].index) if op.outputs else None
        table["field"] = None
        if field is not None:
            entry = field.table()
            table["field"] = numbers.setdefault(repr(entry), len(fields))
            if table["field"] == len(fields):
                fields.append(entry)
        tables[key] = table
        weights += candidates
    return tables, fields, weights


def _fields(graph: RuntimeGraph, run: Observed) -> dict[int, Field | None]:
    """Receptive fields in the first input that is a picture; none if there is no such input."""
    for op in graph.input_operators:
        (operand,) = op.outputs
        shape = run.shapes[operand.index]
        if shape is not None and len(shape) == 4:
            return receptive_fields(depth_first_order(graph.operators), run.shapes, operand.index)
    return {}


def _stages(seen: Seen, shown: Mapping[str, RuntimeOperator], steps: list[Table]) -> list[Table]:
    tables = [
        stage_table(stage, operators, seen.values_in(stage))
        for stage, operators in zip(seen.stages, seen.keys.operators, strict=True)
    ]
    if steps:
        before = {key: place for place, key in seen.keys.operators[-1].items()}
        nodes = [{**step, "family": family_of(shown[step["operator"]].type)} for step in steps]
        carried = {
            index: (name if name in seen.records else None, format_shape(seen.final.shapes.get(index)))
            for index, name in seen.final_names.items()
        }
        edges = step_edges(depth_first_order(seen.graph.operators), steps, seen.by_name, carried)
        tables.append(plan_stage(nodes, edges, before))
    return tables


def _runs(seen: Seen, plan: Runner | None, threads: int) -> list[Table]:
    runs = []
    if plan is not None:
        states = {count: seen.graph.execution.fresh_state(seen.inputs) for count in (1, threads)}
        runs += [engine_run(plan, seen.inputs, count, state) for count, state in states.items()]
    spans = seen.final.spans
    if spans:
        runs.append(layers_run(seen.graph, seen.inputs, _("layers"), "layers", seen.by_name, spans))
    if seen.plain is not seen.graph and len(seen.stages) > 1:
        spans = seen.observed.spans
        runs.append(layers_run(seen.plain, seen.inputs, _("layers, as in the file"), "file", {}, spans))
    return runs


def _with_layer(op: RuntimeOperator) -> RuntimeOperator:
    """An operator that only stands between two passes, with a layer if one can be made, for what it says of itself."""
    if op.layer is None and registry.is_supported(op.type):
        try:
            op.layer = registry.create(op)
        except KuiperError:
            op.layer = None
    return op
