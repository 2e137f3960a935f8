"""Caches that a decoder takes and returns become the state of a graph.

What is recognised is recognised by numbers, on two calls of different lengths: the rows of a call behind those of the
past (``torch.cat``), causal attention to them, the places of the tokens. All else stays as it is, and what is then read
by nobody goes: masks, the sizes of caches, the other inputs. If an input is still needed, the graph is not changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.errors import ExportError
from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType, Operand, Operator, Parameter, ParameterType
from kuiper.models.conversion.caches.attentions import find_attentions
from kuiper.models.conversion.caches.evaluation import values_of
from kuiper.models.conversion.repairs.graph_edit import made

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kuiper.models.conversion.caches.attentions import Attention
    from kuiper.models.conversion.caches.decoder_inputs import DecoderInputs

    Values = dict[str, Any]


class Stateful(NamedTuple):
    """Which output of the model is what: ``logits``, and for each cache, in their order, the one that returns it."""

    logits: int
    presents: tuple[int, ...]


def add_state(
    files: tuple[Path, Path], roles: DecoderInputs, inputs: Sequence[np.ndarray], other_inputs: Sequence[np.ndarray]
) -> Stateful:
    """Rewrite a pair of PNNX files so that the graph takes tokens and keeps its caches (docs/inside/engine.md#state).

    Parameters
    ----------
    files : the .param and the .bin file of a decoder
    roles : which input is what
    inputs, other_inputs : two calls of different lengths, both behind a past that is not empty

    Raises
    ------
    ExportError
        If it is not recognised what the decoder does with its caches; the files are then left as they are.
    """
    graph = pnnx.load(*files)
    found = state_of(graph, roles, [inputs, other_inputs])
    pnnx.save(graph, *files)
    return found


def state_of(graph: pnnx.Graph, roles: DecoderInputs, calls: Sequence[Sequence[np.ndarray]]) -> Stateful:
    """As ``add_state``, for a graph in memory."""
    runs = [values_of(graph, call) for call in calls]
    inputs = [op.outputs[0] for op in graph.operators if op.type == "pnnx.Input"]
    rows = [_cached(inputs[i], runs) for i in roles.caches]
    outputs = _returned(graph)
    attentions = find_attentions(graph, rows, runs)
    missing = [str(i) for i, row in zip(roles.caches, rows, strict=True) if row not in outputs]
    if missing:
        raise ExportError(
            "state", "the rows of the past and of the call among the outputs", f"none for input {missing[0]}"
        )
    rest = [operand for operand in outputs if operand not in rows]
    shapes = {run[rest[0].name].shape[:2] == call[roles.tokens].shape for run, call in zip(runs, calls, strict=True)}
    if len(rest) != 1 or shapes != {True}:
        raise ExportError("state", "one output (b, s, ...) beside the caches", f"{len(rest)} outputs, {rest}")
    state = Stateful(outputs.index(rest[0]), tuple(map(outputs.index, rows)))
    pasts = [call[roles.caches[0]].shape[2] for call in calls]
    _use_positions(
        graph,
        inputs[roles.tokens],
        runs,
        [(past, call[roles.tokens].shape[1]) for past, call in zip(pasts, calls, strict=True)],
    )
    for attention in attentions:
        _use_caches(graph, attention)
    _return(graph, rest[0])
    _prune(graph, inputs[roles.tokens])
    return state


def _cached(past: Operand, runs: Sequence[Values]) -> Operand:
    """The rows of the past with those of the call behind them."""
    same = [past]
    for operand in same:
        for op in operand.consumers:
            output = op.outputs[0] if op.outputs else operand
            pairs: list[tuple[Any, Any]] = [(run[past.name], run.get(output.name)) for run in runs]
            if all(np.array_equal(rows, value) for rows, value in pairs) and output not in same:
                same.append(output)  # behind an empty tensor, for example: so does transformers' DynamicCache begin
            elif (
                op.type == "torch.cat"
                and len(op.inputs) == 2
                and op.inputs[0] is operand
                and all(_goes_on(*pair) for pair in pairs)
            ):
                return output
    readers = ", ".join(sorted({op.type for op in past.consumers})) or "nobody"
    raise ExportError(f"operand {past.name}", "a cache: torch.cat([past, new], dim=2)", f"an input read by {readers}")


def _goes_on(past: np.ndarray, rows: Any) -> bool:
    """Whether these are the rows of the past with more behind them, along axis 2."""
    length = past.shape[2]
    longer = isinstance(rows, np.ndarray) and rows.ndim == 4 and rows.shape[2] > length
    return longer and np.array_equal(rows[:, :, :length], past)


def _returned(graph: pnnx.Graph) -> list[Operand]:
    """What the graph returns, out of its tuples."""

    def leaves(operand: Operand) -> list[Operand]:
        maker = operand.producer
        if maker is None or maker.type not in ("prim::TupleConstruct", "prim::ListConstruct"):
            return [operand]
        return [leaf for inner in maker.inputs for leaf in leaves(inner)]

    ends = [op for op in graph.operators if op.type == "pnnx.Output"]
    return [leaf for op in ends for operand in op.inputs for leaf in leaves(operand)]


def _use_positions(
    graph: pnnx.Graph, tokens: Operand, runs: Sequence[Values], sizes: Sequence[tuple[int, int]]
) -> None:
    """Let kuiper.Positions say where the tokens are, and pick the rows of tables that are sliced there."""
    positions = made("kuiper.Positions", "kuiper_positions", [tokens])
    positions.outputs[0].type, positions.outputs[0].shape = DataType.I64, (None,)
    new = [positions]
    places = [np.arange(past, past + length) for past, length in sizes]
    for operand in [operand for op in graph.operators for operand in op.outputs]:
        values: list[Any] = [run.get(operand.name) for run in runs]
        if operand is not tokens and all(map(_are_places, values, places)):
            _replace(graph, operand, _in_shape(positions, operand, values[0], new))
        elif table := _table_of(operand, values, places, runs):
            picked = made("F.embedding", f"{operand.name}_rows", [positions.outputs[0], table])
            picked.outputs[0].type, picked.outputs[0].shape = operand.type, (None, *values[0].shape[1:])
            _replace(graph, operand, picked.outputs[0])
            _insert(graph, operand, [picked])
    inputs = sum(op.type == "pnnx.Input" for op in graph.operators)
    graph.operators[inputs:inputs] = new


def _are_places(value: Any, places: np.ndarray) -> bool:
    """Whether this is the places along one axis, with all other axes 1."""
    return (
        isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size == len(places)
        and len(places) in value.shape and np.array_equal(value.reshape(-1), places)
    )  # fmt: skip


def _in_shape(positions: Operator, like: Operand, value: np.ndarray, new: list[Operator]) -> Operand:
    """The positions with their axis where another operand has it."""
    if value.ndim == 1:
        return positions.outputs[0]
    shape = [1] * value.ndim
    shape[int(np.argmax(value.shape))] = -1
    op = made("Tensor.reshape", f"kuiper_positions_{like.name}", positions.outputs)
    op.input_names = ["input"]
    op.params = {"shape": Parameter(ParameterType.INT_LIST, shape)}
    op.outputs[0].type, op.outputs[0].shape = DataType.I64, tuple(None if size < 0 else size for size in shape)
    new.append(op)
    return op.outputs[0]


def _table_of(operand: Operand, values: list[Any], places: list[np.ndarray], runs: Sequence[Values]) -> Operand | None:
    """The constant of two axes whose rows at these places an operand slices out; None if it is no such slice."""
    op = operand.producer
    table = op.inputs[0] if op is not None and op.type == "Tensor.slice" else None
    if table is None or table.producer is None or table.producer.type != "pnnx.Attribute":
        return None
    rows = [run[table.name] for run in runs]
    sliced = all(
        isinstance(value, np.ndarray)
        and whole.ndim == 2
        and place[-1] < len(whole)
        and np.array_equal(value, whole[place])
        for value, whole, place in zip(values, rows, places, strict=True)
    )
    return table if sliced else None


def _use_caches(graph: pnnx.Graph, attention: Attention) -> None:
    """Put caches and causal attention where the output of an attention is made."""
    name = attention.output.name
    caches = []
    for which, rows in (("keys", attention.keys), ("values", attention.values)):
        maker = rows.producer
        cache = made("kuiper.Cache", f"kuiper_{which}_{name}", [maker.inputs[1]] if maker else [])
        cache.outputs[0].type, cache.outputs[0].shape = rows.type, rows.shape
        caches.append(cache)
    op = made(
        "kuiper.CausalAttention", f"kuiper_attention_{name}", [attention.query, *(cache.outputs[0] for cache in caches)]
    )
    if attention.scale is not None:
        op.params["scale"] = Parameter(ParameterType.FLOAT, attention.scale)
    op.outputs[0].type, op.outputs[0].shape = attention.output.type, attention.output.shape
    _insert(graph, attention.output, [*caches, op])
    _replace(graph, attention.output, op.outputs[0])


def _insert(graph: pnnx.Graph, before: Operand, ops: list[Operator]) -> None:
    """Put operators in front of the one that makes an operand."""
    place = next(i for i, op in enumerate(graph.operators) if before in op.outputs)
    graph.operators[place:place] = ops


def _replace(graph: pnnx.Graph, old: Operand, new: Operand) -> None:
    """Let all readers of an operand read another one."""
    for op in graph.operators:
        op.inputs = [new if operand is old else operand for operand in op.inputs]


def _return(graph: pnnx.Graph, result: Operand) -> None:
    """Make this the only output."""
    ends = [op for op in graph.operators if op.type == "pnnx.Output"]
    ends[0].inputs, ends[0].input_names = [result], [""]
    graph.operators = [op for op in graph.operators if op not in ends[1:]]


def _prune(graph: pnnx.Graph, tokens: Operand) -> None:
    """Keep what the output needs, and wire it.

    Raises
    ------
    ExportError
        If it needs another input than the tokens.
    """
    needed: set[Operand] = set()
    live: list[Operator] = []
    for op in reversed(graph.operators):
        if op.type == "pnnx.Output" or any(operand in needed for operand in op.outputs):
            live.insert(0, op)
            needed.update(op.inputs)
    for op in live:
        if op.type == "pnnx.Input" and op.outputs[0] is not tokens:
            readers = ", ".join(f"{reader.type} '{reader.name}'" for reader in live if op.outputs[0] in reader.inputs)
            raise ExportError(f"input {op.outputs[0].name}", "no other reader than attention and positions", readers)
    graph.operators = live
    graph.operands = list(dict.fromkeys(operand for op in live for operand in op.outputs))
    for operand in graph.operands:
        operand.consumers = [op for op in live if operand in op.inputs]
    for op in live:
        for operand in op.outputs:
            operand.producer = op
