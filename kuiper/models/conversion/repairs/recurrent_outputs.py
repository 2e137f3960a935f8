"""Which outputs a recurrent network returns, and in which order: the trace says it, a file of pnnx does not.

A trace of nn.LSTM, nn.GRU or nn.RNN has one method for each call of the module. The method returns what the model uses
of this call, in the order of its first use. pnnx writes this many outputs without their names.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.graph import pnnx
from kuiper.layers.recurrent_layer import Recurrent
from kuiper.models.conversion.repairs.operator_run import layer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import torch

    from kuiper.models.conversion.traps import Note

NAMES = {
    "aten::lstm": ("output", "h_n", "c_n"),
    "aten::gru": ("output", "h_n"),
    "aten::rnn_tanh": ("output", "h_n"),
    "aten::rnn_relu": ("output", "h_n"),
}
"""What the operations return, in their order."""

MODULES = "__torch__.torch.nn.modules.rnn."
"""What the types of PyTorch's recurrent modules begin with in a trace."""

KINDS = ("nn.LSTM", "nn.GRU", "nn.RNN")
FIRST_WEIGHT = "weight_ih_l0"


class Returned(NamedTuple):
    """What one call of a recurrent module returns; ``directly`` is without an operation on the way."""

    weight: bytes
    names: tuple[str, ...]
    directly: bool


def name_outputs(files: tuple[Path, Path], script: torch.jit.ScriptModule, note: Note) -> None:
    """Write ``outputs=(h_n,output)`` into the operators whose outputs their declared shapes do not tell.

    Parameters
    ----------
    files : the .param and the .bin file that pnnx made of the trace; those without a loss are left alone
    script : the trace
    note : is told how many operators of each type were given names
    """
    graph = pnnx.load(*files)
    named = named_in(graph, list(calls_of(script)))
    if named:
        pnnx.save(graph, *files)
        for kind in dict.fromkeys(named):
            note(f"which outputs {named.count(kind)} x {kind} returns is written back from the trace")


def named_in(graph: pnnx.Graph, calls: Sequence[Returned]) -> list[str]:
    """As ``name_outputs``, for a graph in memory and the calls of its trace: the types that were given names."""
    ops: dict[bytes, list[pnnx.Operator]] = defaultdict(list)
    for op in graph.operators:
        if op.type in KINDS and FIRST_WEIGHT in op.attrs:
            ops[np.asarray(op.attrs[FIRST_WEIGHT].data).tobytes()].append(op)
    named = []
    for weight, alike in ops.items():
        own = [call for call in calls if call.weight == weight]
        if len(own) != len(alike):
            continue  # a call that the trace does not tell: the comparison with the original has to judge
        for op, call in zip(alike, own, strict=True):
            wanted = _as_written(op, call)
            if _understood(op) != wanted:
                op.params["outputs"] = pnnx.Parameter(pnnx.ParameterType.STRING_LIST, list(wanted))
                named.append(op.type)
    return named


def calls_of(script: torch.jit.ScriptModule, method: str = "forward") -> Iterator[Returned]:
    """The calls of recurrent modules of which the trace tells what they return, in the order in which they run."""
    graph = _graph_of(script, method)
    parts = {next(graph.inputs()).debugName(): script} if graph is not None else {}
    for node in graph.nodes() if graph is not None else ():
        if node.kind() not in ("prim::GetAttr", "prim::CallMethod"):
            continue
        owner = parts.get(node.inputsAt(0).debugName())
        if owner is None:
            continue
        if node.kind() == "prim::GetAttr":
            part = getattr(owner, node.s("name"), None)
            if hasattr(part, "_c"):
                parts[node.outputsAt(0).debugName()] = part
        elif owner._c.qualified_name.startswith(MODULES):
            returned = _returned(owner, node.s("name"))
            if returned is not None:
                yield returned
        else:
            yield from calls_of(owner, node.s("name"))


def _graph_of(script: torch.jit.ScriptModule, method: str) -> Any:
    """The graph of a method; None for what has none, such as a program of torch.export."""
    methods = getattr(script, "_c", None)
    return methods._get_method(method).graph if methods is not None and methods._has_method(method) else None


def _returned(module: torch.jit.ScriptModule, method: str) -> Returned | None:
    """What one method of a recurrent module returns; None where it is not traced back to one operation."""
    given = _graph_of(module, method).return_node().inputsAt(0)
    tuples = given.node().kind() == "prim::TupleConstruct"
    values = list(given.node().inputs()) if tuples else [given]
    names, directly = [], True
    for value in values:
        while value.node().kind() == "aten::squeeze":  # of sequences without a batch
            value, directly = value.node().inputsAt(0), False
        if value.node().kind() not in NAMES:
            return None
        names.append(NAMES[value.node().kind()][value.offset()])
    weight: Any = getattr(module, FIRST_WEIGHT)
    return Returned(weight.detach().numpy().tobytes(), tuple(names), directly)


def _as_written(op: pnnx.Operator, call: Returned) -> tuple[str, ...]:
    """The names in the order of the file: pnnx puts the output in front of all states, or says that it did not."""
    states = ("h_n", "c_n") if op.type == "nn.LSTM" else ("h_n",)
    rotated = call.directly and call.names == (*states, "output") and "pnnx_rnn_output_swapped" not in op.params
    return ("output", *states) if rotated else call.names


def _understood(op: pnnx.Operator) -> tuple[str, ...] | None:
    """What kuiper takes the outputs for; None if it refuses to guess."""
    layer = layer_of(op)
    return layer.returned if isinstance(layer, Recurrent) else None
