"""LSTM, GRU and RNN: torch's layers where weights are constants and nothing is unusual, and ONNX's own elsewhere.

torch has the gates in another order. Constant weights are put in order here, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_OUTPUTS = ("Y", "Y_h", "Y_c")
_OWN = ("clip", "direction", "layout", "linear_before_reset", "input_forget")
_LISTS = ("activations", "activation_alpha", "activation_beta")
_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Where each of torch's gates stands in ONNX's order: input, output, forget, cell; update, reset, hidden."""
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


@operator(*_GATES)
def recurrent(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """Y, Y_h and of an LSTM Y_c, those that somebody reads."""
    given = {name: value for name, value in zip(_INPUTS, node.inputs, strict=False) if value is not None}
    for place in range(3):
        if node.value(place).rank not in (3, None):
            raise ShapeError(node.where, f"{_INPUTS[place]} with three axes", node.value(place).shape)
    wanted = [name for place, name in enumerate(_OUTPUTS[: len(node.outputs)]) if node.wants(place)]
    made = (
        _torch_layer(node, build, given, wanted) if _is_usual(node, given) else _own_layer(node, build, given, wanted)
    )
    return tuple(made.get(name) for name in _OUTPUTS)


def _own_layer(node: Node, build: GraphBuilder, given: dict[str, Value], wanted: list[str]) -> dict[str, Value]:
    """ONNX's own layer, with the weights as inputs."""
    params: dict[str, Any] = {key: node.attributes[key] for key in _OWN if key in node.attributes}
    params |= {key: list(node.attributes[key]) for key in _LISTS if node.attributes.get(key)}
    params |= {"inputs": list(given), "outputs": wanted}
    values = build.ops(node.type, *given.values(), outputs=len(wanted), params=params)
    for value in values:
        value.type = given["X"].type
    return dict(zip(wanted, values, strict=True))


def _is_usual(node: Node, given: dict[str, Value]) -> bool:
    """Whether torch's layer computes the same."""
    weights = [given[name] for name in ("W", "R", "B") if name in given]
    constant = all(value.constant is not None and value.is_float32 for value in weights)
    directions = 2 if node.get("direction") == "bidirectional" else 1
    activations = node.get("activations") or _USUAL[node.type] * directions
    usual = [_USUAL[node.type] * directions, *([["Relu"] * directions] if node.type == "RNN" else [])]
    return (
        constant
        and given["X"].is_float32
        and (node.get("direction") != "reverse" or _has_full_lengths(given))
        and "P" not in given
        and list(activations) in usual
        and not node.get("clip")
        and not node.get("input_forget")
        and node.get("direction", "forward") in ("forward", "reverse", "bidirectional")
        and _weights_fit(node, given, directions)
    )


def _has_full_lengths(given: dict[str, Value]) -> bool:
    """Whether no sequence ends early, as far as that is known."""
    lens, shape = given.get("sequence_lens"), given["X"].shape
    if lens is None:
        return True
    return lens.constant is not None and shape is not None and bool((lens.constant == shape[0]).all())


def _weights_fit(node: Node, given: dict[str, Value], directions: int) -> bool:
    """Whether the constant weights have the shapes that torch's layer needs; ONNX's own says what is wrong."""
    w, r = given["W"].constant, given["R"].constant
    if w is None or r is None:
        return False
    rows = len(_GATES[node.type]) * r.shape[2]
    shapes = w.shape[:2] == r.shape[:2] == (directions, rows) and 0 not in (*w.shape, *r.shape)
    return shapes and ("B" not in given or given["B"].shape == (directions, 2 * rows))


def _torch_layer(node: Node, build: GraphBuilder, given: dict[str, Value], wanted: list[str]) -> dict[str, Value]:
    """nn.LSTM, nn.GRU or nn.RNN, and ONNX's axes around it."""
    attrs, directions = _attributes(node, given), 2 if node.get("direction") == "bidirectional" else 1
    hidden, batch_first = attrs["weight_hh_l0"].shape[1], bool(node.get("layout", 0))
    is_reverse, along = node.get("direction") == "reverse", 1 if batch_first else 0
    x = build.op("torch.flip", given["X"], params={"dims": [along]}) if is_reverse else given["X"]
    names = {"Y": "output", "Y_h": "h_n", "Y_c": "c_n"}
    params: dict[str, Any] = {
        "input_size": attrs["weight_ih_l0"].shape[1],
        "hidden_size": hidden,
        "num_layers": 1,
        "bias": "B" in given,
        "bidirectional": directions == 2,
        "batch_first": batch_first,
        "outputs": [names[name] for name in wanted],
    }
    if node.type == "RNN":
        params["nonlinearity"] = "relu" if "Relu" in (node.get("activations") or ()) else "tanh"
    operands = [x, *_first_states(node, build, given, batch_first)]
    if not _has_full_lengths(given):
        operands.append(given["sequence_lens"])
        params["lengths"] = True
    resets_first = node.type == "GRU" and not node.get("linear_before_reset")
    kind = "kuiper.GRU" if resets_first else f"nn.{node.type}"
    values = build.ops(kind, *operands, outputs=len(wanted), params=params, attrs=attrs)
    made = dict(zip(wanted, values, strict=True))
    for name, value in made.items():
        value.type = x.type
        if name == "Y":
            made[name] = _with_directions(build, value, directions, hidden, batch_first, along if is_reverse else None)
        elif batch_first:
            made[name] = build.op("torch.transpose", value, params={"dim0": 0, "dim1": 1})
    return made


def _with_directions(
    build: GraphBuilder, y: Value, directions: int, hidden: int, batch_first: bool, flipped: int | None
) -> Value:
    """The outputs (l, n, directions * hidden) as (l, directions, n, hidden), or with n first as (n, l, ..., hidden)."""
    if flipped is not None:
        y = build.op("torch.flip", y, params={"dims": [flipped]})
    if directions == 1:
        return build.op("torch.unsqueeze", y, params={"dim": 2 if batch_first else 1})
    y = build.op("Tensor.unflatten", y, params={"dim": 2, "sizes": [directions, hidden]})
    return y if batch_first else build.op("torch.transpose", y, params={"dim0": 1, "dim1": 2})


def _first_states(node: Node, build: GraphBuilder, given: dict[str, Value], batch_first: bool) -> list[Value]:
    """The states that the graph starts from, none if it starts from zeros."""
    names = ["initial_h", "initial_c"] if node.type == "LSTM" else ["initial_h"]
    present = [given[name] for name in names if name in given]
    if not present:
        return []
    states = [given[name] if name in given else build.op("torch.zeros_like", present[0]) for name in names]
    if batch_first:
        states = [build.op("torch.transpose", state, params={"dim0": 0, "dim1": 1}) for state in states]
    return states


def _attributes(node: Node, given: dict[str, Value]) -> dict[str, np.ndarray]:
    """torch's weights: for each direction those of the input and of the state, and their biases."""
    order, attrs = _GATES[node.type], {}
    stacks = {key: given[name].constant for key, name in (("ih", "W"), ("hh", "R"), ("bias", "B")) if name in given}
    for key, stack in stacks.items():
        assert stack is not None
        for k, rows in enumerate(stack):
            suffix = "l0_reverse" if k else "l0"
            if key == "bias":
                attrs[f"bias_ih_{suffix}"], attrs[f"bias_hh_{suffix}"] = (
                    _in_order(b, order) for b in np.split(rows, 2)
                )
            else:
                attrs[f"weight_{key}_{suffix}"] = _in_order(rows, order)
    return attrs


def _in_order(rows: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """The rows of each gate, in torch's order."""
    gates = rows.reshape(len(order), -1, *rows.shape[1:])
    return gates[list(order)].reshape(rows.shape)
