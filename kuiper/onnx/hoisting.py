"""Products of a loop that its states have no part in: one product of all rows in front of the loop.

    before   loop over t:  h = f(x[t] @ W.T, h)        a row at a time: all of W is read in each turn
    after    y = x @ W.T
             loop over t:  h = f(y[t], h)

That is how TensorFlow writes recurrent layers whose sequences have a mask. Sums are the same whatever the number of
rows. A turn takes its row by the number of the turn, or by a state to which each turn adds one; rows that are chosen
otherwise stay, since there may be far more rows than turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.pnnx.ir import DataType

if TYPE_CHECKING:
    from collections.abc import Collection

    from kuiper.graph.pnnx.ir import Operand, Operator
    from kuiper.onnx.builder import GraphBuilder

_NEXT = ("add(@0,1)", "add(1,@0)")


def is_counter(state: Operand | None, following: Operand | None) -> bool:
    """Whether the next value of a state is one more."""
    op = None if following is None else following.producer
    return op is not None and op.type == "pnnx.Expression" and op.inputs == [state] and _text(op) in _NEXT


def hoist_products(build: GraphBuilder, body: GraphBuilder, counters: Collection[Operand]) -> None:
    """Move what a loop's body makes of rows of its surroundings, taken by these counters, in front of the loop."""
    inputs = [op.outputs[0] for op in body.graph.operators if op.type == "pnnx.Input"]
    own = len(inputs) - len(body.captured)
    outside = dict(zip(inputs[own:], body.captured, strict=True))
    for op in [op for op in body.graph.operators if op.type == "nn.Linear" and len(op.inputs) == 1]:
        taken = op.inputs[0].producer
        if taken is None or not _takes_row(taken, counters) or taken.inputs[0] not in outside:
            continue
        rows = outside[taken.inputs[0]]
        floats = {key: attr.data for key, attr in op.attrs.items() if attr.type is DataType.F32}
        weights = {key: data for key, data in floats.items() if data is not None}
        if rows.shape is None or len(rows.shape) < 2 or len(weights) < len(op.attrs):
            continue
        params = {key: param.value for key, param in op.params.items()}
        product = build.op("nn.Linear", rows, params=params, attrs=weights, shape=(*rows.shape[:-1], _outputs(op)))
        _take_instead(body, op, taken, body.capture(f"{op.name} of all rows", product).operand)


def _take_instead(body: GraphBuilder, op: Operator, taken: Operator, rows: Operand | None) -> None:
    """Make of a product in a body the row of one that stands in front of the loop."""
    assert rows is not None
    op.inputs[0].consumers.remove(op)
    op.type, op.params, op.attrs = taken.type, dict(taken.params), {}
    op.inputs, op.input_names = [rows, taken.inputs[1]], list(taken.input_names)
    for operand in op.inputs:
        operand.consumers.append(op)
    body.graph.operators.append(op)  # behind the new input
    body.graph.operators.remove(op)


def _takes_row(op: Operator, counters: Collection[Operand]) -> bool:
    """Whether an operator takes a row by a counter."""
    if op.type != "Gather" or len(op.inputs) != 2 or op.inputs[1] not in counters:
        return False
    return "axis" not in op.params or op.params["axis"].value == 0


def _outputs(op: Operator) -> int:
    value = op.params["out_features"].value
    assert isinstance(value, int)
    return value


def _text(op: Operator) -> str:
    return str(op.params["expr"].value).replace(" ", "")
