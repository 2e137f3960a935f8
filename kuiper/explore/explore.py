"""Gathers all that the page shows of a graph at work. The numbers are those of summary, plan and profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError, KuiperError
from kuiper.explore.budget import Candidate, cut_maps, keep_smallest
from kuiper.explore.families import family_of
from kuiper.explore.graph_page import plan_stage, stage_table
from kuiper.explore.keys import Keys, ValueKey
from kuiper.explore.machine import machine_table
from kuiper.explore.memory import memory_table
from kuiper.explore.observed import Observed
from kuiper.explore.operators import operator_table
from kuiper.explore.page import Page
from kuiper.explore.planning import find_plan, plan_table, step_edges
from kuiper.explore.stages import Stage, read_stages
from kuiper.explore.timing import engine_run, layers_run
from kuiper.explore.values import as_table
from kuiper.explore.windows import receptive_fields, window_table
from kuiper.graph.made_up import sample_inputs
from kuiper.graph.schedule import depth_first_order
from kuiper.graph.summary import SummaryRow, format_shape, summary_row
from kuiper.layers import registry
from kuiper.printable import printable
from kuiper.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.runner import Runner
    from kuiper.explore.arrays import Table
    from kuiper.explore.fields import Field
    from kuiper.explore.values import ValueRecord
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

SLOW = 1.5
"""Seconds of a run by layers from which on there is only one."""

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
    gathered = _Gathered(graph, graph.execution.checked(inputs or sample_inputs(graph)))
    data = gathered.data(picture, answers)
    data["model"]["kuiper"] = version
    if mine is not None:
        run = mine.get("run")
        data["runs"] += [run] if run else []
        data["mine"] = {key: value for key, value in mine.items() if key != "run"}
    return Page(data)


class _Gathered:
    """What is known of one graph and one set of inputs, as far as it has been gathered."""

    def __init__(self, graph: RuntimeGraph, inputs: list[Array]) -> None:
        self.graph, self.inputs = graph, inputs
        self.left_out: list[str] = []
        self.plain, self.stages = self._stages()
        self.keys = Keys(self.stages)
        self.observed = Observed(self.plain, inputs)
        last = self.stages[-1]
        self.final_keys = {
            carried.operand.index: self.keys.value_key(node, carried.operand.index)
            for node in last.nodes
            for carried in node.outputs
        }
        self.final = self.observed
        moved = {key.operand for key in self.final_keys.values() if key.moved}
        if self.plain is not graph and self.observed.seconds > SLOW:
            self.final = self.observed.like(graph, inputs)
            seconds = f"{self.observed.seconds:.1f} s"
            self.left_out.append(f"times of the layers after the passes: one run of the layers takes {seconds}")
        elif self.plain is not graph:
            self.final = Observed(graph, inputs, only=moved)
        self.records: dict[str, ValueRecord] = {}
        for key, name in self.keys.values.items():
            record = (self.final if key.moved else self.observed).records.get(key.operand)
            if record is not None:
                self.records[name] = record
        self.by_name = {node.name: self.keys.operators[-1][place] for place, node in enumerate(last.nodes)}

    def _stages(self) -> tuple[RuntimeGraph, list[Stage]]:
        """The graph as it stands in the file, and all stages; of a copy, which does not know its file, the last one."""
        try:
            return self.graph.as_in_file(), read_stages(self.graph.stages())
        except GraphStateError as error:
            self.left_out.append(f"the graph before the passes: {error}")
            return self.graph, read_stages([("file", self.graph.operators)])

    def data(self, picture: Table | None, answers: Callable[[tuple[Any, ...]], Table] | None) -> Table:
        """The page's data."""
        execution, threads = self.graph.execution, get_num_threads()
        machine = machine_table(threads)
        plan, refusal = find_plan(self.graph, self.inputs, execution.fresh_state(self.inputs))
        self.left_out += self.graph.fallbacks
        operators, rows = self._operators()
        windows, fields, weights = self._windows()
        values = self._values(weights)
        steps: list[Table] = []
        memory = None
        if plan is not None:
            state = execution.fresh_state(self.inputs)
            table = plan_table(plan, self.inputs, state, self.by_name, machine["gigahertz"])
            steps = table["steps"]
            for index, step in enumerate(steps):
                operators[step["operator"]]["steps"].append(index)
            names = {index: self.keys.values[key] for index, key in self.final_keys.items()}
            memory = memory_table(
                plan.executable.arena_map, len(steps), plan.executable.arena_floats, names, self.by_name
            )
        else:
            table = {"steps": [], "refusal": printable(refusal)}
        return {
            "format": FORMAT,
            "model": self._model(rows),
            "machine": machine,
            "stages": self._stage_tables(steps),
            "operators": operators,
            "plan": table,
            "runs": self._runs(plan, threads),
            "memory": memory,
            "values": values,
            "windows": windows,
            "fields": fields,
            "answers": answers(self.final.outputs) if answers else {"kind": "values"},
            "input": picture,
            "left_out": self.left_out,
        }

    def _model(self, rows: dict[str, SummaryRow]) -> Table:
        final = [rows[key] for key in self.by_name.values()]
        return {
            "name": printable(self.graph.name.removesuffix(".onnx").removesuffix(".param").removesuffix(".pnnx")),
            "file": printable(self.graph.name),
            "parameters": sum(row.parameters for row in final),
            "flops": sum(row.flops or 0 for row in final),
            "inputs": [self._end(op.name, operand) for op in self.graph.input_operators for operand in op.outputs],
            "outputs": [self._end(op.name, operand) for op in self.graph.output_operators for operand in op.inputs],
        }

    def _end(self, name: str, operand: Any) -> Table:
        key = self.keys.values[self.final_keys[operand.index]]
        return {"name": name, "value": key, "shape": format_shape(operand.shape), "type": operand.type.name.lower()}

    def _operators(self) -> tuple[dict[str, Table], dict[str, SummaryRow]]:
        """The page's operators, and their rows of a summary for these inputs."""
        plain = {op.name: op for op in self.plain.operators}
        final = {op.name: op for op in self.graph.operators}
        shapes: Any = {**self.observed.shapes}
        last = dict(zip(self.keys.operators[-1].values(), self.stages[-1].nodes, strict=True))
        first = set(self.keys.operators[0].values())
        tables, rows = {}, {}
        self.runnable: dict[str, RuntimeOperator] = {}
        for key, noted in self.keys.shown.items():
            op = plain[noted.name] if key in first else final[noted.name] if key in last else _with_layer(noted)
            self.runnable[key] = op
            known = shapes | (self.final.shapes if key in last and key not in first else {})
            rows[key] = summary_row(op, {o.index: known.get(o.index) for o in (*op.inputs, *op.outputs)})
            names = (self._value_names(op.inputs, key), self._value_names(op.outputs, key))
            tables[key] = operator_table(op, rows[key], names)
        return tables, rows

    def _value_names(self, operands: Sequence[Any], key: str) -> list[str]:
        """The keys of values that an operator reads or makes, as they are in the last stage, if they were seen."""
        is_final = key in self.by_name.values()
        names = []
        for operand in operands:
            value = self.final_keys.get(operand.index) if is_final else None
            value = value or ValueKey(operand.index, moved=False)
            names.append(self.keys.values.get(value, operand.name))
        return [name for name in names if name in self.records]

    def _values(self, weights: list[Candidate]) -> dict[str, Table]:
        """The page's values, with exact numbers as far as there is room."""
        records = self.records
        maps = cut_maps(records)
        kept: set[str] = set()
        candidates = [
            Candidate("exact values", _count(record), lambda name=name: kept.add(name))  # type: ignore[misc]
            for name, record in records.items()
            if record.table["shape"] is not None
        ]
        self.left_out += keep_smallest([*candidates, *weights])
        return {name: as_table(record, name in kept, maps.get(name)) for name, record in records.items()}

    def _windows(self) -> tuple[dict[str, Table], list[Table], list[Candidate]]:
        """The windows of all operators, the receptive fields that they name, and weights to be put in."""
        tables: dict[str, Table] = {}
        fields: list[Table] = []
        weights: list[Candidate] = []
        numbers: dict[str, int] = {}
        by_stage = [self._fields(self.plain, self.observed), self._fields(self.graph, self.final)]
        first = set(self.keys.operators[0].values())
        for key, op in self.runnable.items():
            if op.layer is None:
                continue
            table, candidates = window_table(op, self._value_names(op.inputs, key))
            known = by_stage[0 if key in first else 1]
            field = known.get(op.outputs[0].index) if op.outputs else None
            table["field"] = None
            if field is not None:
                entry = field.table()
                number = numbers.setdefault(repr(entry), len(fields))
                if number == len(fields):
                    fields.append(entry)
                table["field"] = number
            tables[key] = table
            weights += candidates
        return tables, fields, weights

    def _fields(self, graph: RuntimeGraph, run: Observed) -> dict[int, Field | None]:
        """Receptive fields in the first input that is a picture; none if there is no such input."""
        for op in graph.input_operators:
            (operand,) = op.outputs
            shape = run.shapes[operand.index]
            if shape is not None and len(shape) == 4:
                return receptive_fields(depth_first_order(graph.operators), run.shapes, operand.index)
        return {}

    def _stage_tables(self, steps: list[Table]) -> list[Table]:
        tables = []
        for stage, operators in zip(self.stages, self.keys.operators, strict=True):
            values = {
                carried.operand: self._seen(self.keys.values[self.keys.value_key(node, carried.operand.index)])
                for node in stage.nodes
                for carried in node.outputs
            }
            tables.append(stage_table(stage, operators, values))
        if steps:
            before = {key: place for place, key in self.keys.operators[-1].items()}
            shown = [{**step, "family": family_of(self.runnable[step["operator"]].type)} for step in steps]
            names = {index: self.keys.values[key] for index, key in self.final_keys.items()}
            carried = {
                index: (self._seen(name), format_shape(self.final.shapes.get(index))) for index, name in names.items()
            }
            edges = step_edges(depth_first_order(self.graph.operators), steps, self.by_name, carried)
            tables.append(plan_stage(shown, edges, before))
        return tables

    def _seen(self, name: str) -> str | None:
        """The key of a value if there is a record of it: of one that only stands between two passes there is none."""
        return name if name in self.records else None

    def _runs(self, plan: Runner | None, threads: int) -> list[Table]:
        execution = self.graph.execution
        runs = []
        if plan is not None:
            states = {count: execution.fresh_state(self.inputs) for count in (1, threads)}
            runs += [engine_run(plan, self.inputs, count, state) for count, state in states.items()]
        seen = self.final.spans
        if seen:
            runs.append(layers_run(self.graph, self.inputs, "layers", "layers", self.by_name, seen))
        if self.plain is not self.graph and len(self.stages) > 1:
            seen = self.observed.spans
            runs.append(layers_run(self.plain, self.inputs, "layers, as in the file", "file", {}, seen))
        return runs


def _count(record: ValueRecord) -> int:
    """Numbers of a value."""
    count = 1
    for size in record.table["shape"]:
        count *= size
    return count


def _with_layer(op: RuntimeOperator) -> RuntimeOperator:
    """An operator that only stands between two passes, with a layer if one can be made, for what it says of itself."""
    if op.layer is None and registry.is_supported(op.type):
        try:
            op.layer = registry.create(op)
        except KuiperError:
            op.layer = None
    return op
