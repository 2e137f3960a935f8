"""For an operator of a file, the ways to write what pnnx may have lost of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.graph.pnnx import Attribute, DataType, Operator, Parameter, ParameterType
from kuiper.models.conversion.repairs.casts import HALVES, with_rounded_inputs
from kuiper.models.conversion.repairs.expressions import spellings
from kuiper.models.conversion.repairs.graph_edit import made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kuiper.graph.pnnx import Graph
    from kuiper.models.conversion.repairs.calls import Calls

    Ways = list[list[Operator]]

GELUS = ("F.gelu", "nn.GELU")


def may_lack(graph: Graph, names: Counter[tuple[str, str]]) -> bool:
    """Whether there is anything in the graph, or among the model's operations, that is known to get lost.

    Parameters
    ----------
    graph : what pnnx made of the model
    names : how often the model does which operation, with the element type that a copy is made to
    """
    kinds = Counter(op.type for op in graph.operators)
    totals: Counter[str] = Counter()
    for (name, _), count in names.items():
        totals[name] += count
    return (
        any(op.type == "Tensor.index" and "expr" in op.params for op in graph.operators)
        or sum(kinds[kind] for kind in GELUS) > totals["aten::gelu"]
        or any(totals[name] for name in ("aten::as_strided", "aten::div.Tensor_mode", "aten::round.decimals"))
        or any(names["aten::_to_copy", half] for half in HALVES)
    )


def candidates(op: Operator, values: Mapping[str, Any], calls: Calls) -> Ways:
    """Operators to put in the place of one, in each of the ways in which it may have been meant.

    Parameters
    ----------
    op : an operator of the graph
    values : what the operators before it compute, by operand
    calls : what the model computes

    Returns
    -------
    Lists of operators in the order in which they run; the last has the outputs of ``op``.
    """
    family = _FAMILIES.get(op.type)
    return [*(family(op, calls) if family else ()), *with_rounded_inputs(op, values, calls)]


def _with(op: Operator, **params: str | int) -> list[Operator]:
    """The operator with these parameters besides its own."""
    added = {
        key: Parameter(ParameterType.INT if isinstance(value, int) else ParameterType.STRING, value)
        for key, value in params.items()
    }
    return [replace(op, params={**op.params, **added})]


def _index(op: Operator, calls: Calls) -> Ways:
    """Constant index tensors with all their axes: pnnx keeps their numbers alone, and not all of a long one."""
    if "expr" not in op.params:
        return []
    known: dict[tuple[Any, ...], list[Operator]] = {}
    for call in calls.named("aten::index.Tensor"):
        key = tuple(None if tensor is None else (tensor.shape, tensor.tobytes()) for tensor in call.args[1])
        if key not in known:
            known[key] = _indexed(op, call.args[1])
    return list(known.values())


def _indexed(op: Operator, tensors: tuple[np.ndarray | None, ...]) -> list[Operator]:
    """The operator with these tensors as constants of the graph, in a list with the Nones."""
    constants: list[Operator] = []
    words: list[str] = []
    for tensor in tensors:
        if tensor is None or tensor.ndim == 0:
            words.append("None" if tensor is None else str(int(tensor)))
            continue
        words.append(f"@{len(constants)}")
        constants.append(_constant(f"{op.name}_{len(constants)}", tensor))
    operands = [constant.outputs[0] for constant in constants]
    places = made("pnnx.Expression", f"{op.name}_indices", operands, expr=f"[{','.join(words)}]")
    params = {key: param for key, param in op.params.items() if key != "expr"}
    inputs, names = [*op.inputs, places.outputs[0]], [*op.input_names, "expr"]
    return [*constants, places, replace(op, inputs=inputs, input_names=names, params=params)]


def _constant(name: str, tensor: np.ndarray) -> Operator:
    """A pnnx.Attribute of integers or bools."""
    kind = DataType.BOOL if tensor.dtype.kind == "b" else DataType.I64
    data = np.ascontiguousarray(tensor, np.bool_ if kind is DataType.BOOL else np.int64)
    op = made("pnnx.Attribute", name, ())
    op.attrs["data"] = Attribute(kind, data.shape, data)
    op.outputs[0].shape, op.outputs[0].type = data.shape, kind
    return op


def _gelu(op: Operator, calls: Calls) -> Ways:
    """The approximation by tanh: where a model spells it out, pnnx takes it for the exact function."""
    return [] if "approximate" in op.params else [_with(op, approximate="tanh")]


def _as_strided(op: Operator, calls: Calls) -> Ways:
    """The offset of torch.as_strided."""
    offsets = {call.args[3] for call in calls.named("aten::as_strided") if len(call.args) > 3 and call.args[3]}
    return [_with(op, storage_offset=offset) for offset in sorted(offsets)]


def _expression(op: Operator, calls: Calls) -> Ways:
    """Modes of divisions, and decimals of roundings."""
    divisions, roundings = (calls.named(name) for name in ("aten::div.Tensor_mode", "aten::round.decimals"))
    if not divisions and not roundings:
        return []
    modes = sorted({str(call.kwargs.get("rounding_mode")) for call in divisions})
    decimals = sorted({call.kwargs["decimals"] for call in roundings if call.kwargs.get("decimals")})
    return [_with(op, expr=text) for text in spellings(str(op.params["expr"].value), modes, decimals)]


_FAMILIES: dict[str, Callable[[Operator, Calls], Ways]] = {
    "Tensor.index": _index,
    "F.gelu": _gelu,
    "nn.GELU": _gelu,
    "torch.as_strided": _as_strided,
    "pnnx.Expression": _expression,
}
