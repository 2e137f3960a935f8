"""LSTM, GRU and RNN in ONNX's spelling: one layer, its weights as inputs, gates in another order than torch's.

So pnnx leaves them where a model uses more than their outputs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.gru import gru
from kuiper.layers.operators.lstm import lstm
from kuiper.layers.operators.onnx_cells import OnnxCells
from kuiper.layers.operators.rnn import rnn
from kuiper.layers.recurrent import Cell, CellWeights, Stack, for_sequences
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class Kind(NamedTuple):
    """How one direction runs, where each of torch's gates stands in ONNX's order, and the usual activations."""

    cell: Cell
    gates: tuple[int, ...]
    activations: tuple[str, ...]


_KINDS = {
    "LSTM": Kind(lstm, (0, 2, 3, 1), ("Sigmoid", "Tanh", "Tanh")),  # ONNX: input, output, forget, cell
    "GRU": Kind(gru, (1, 0, 2), ("Sigmoid", "Tanh")),  # ONNX: update, reset, hidden
    "RNN": Kind(rnn, (0,), ("Tanh",)),
}


@register(*_KINDS)
def recurrent_layer(op: RuntimeOperator) -> Layer:
    """The layer of an operator that says what its ``inputs`` are, or of one as pnnx leaves it."""
    return OnnxCells(op) if op.has_param("inputs") else OnnxRecurrent(op)


class OnnxRecurrent(Layer):
    """Y (l, directions, n, hidden) and the last states Y_h and Y_c (directions, n, hidden).

    Inputs are X (l, n, features), W and R (directions, gates * hidden, ...), B (directions, 2 * gates * hidden) and the
    first states. Which outputs there are, their declared shapes say: Y has four axes.

    Source: the ONNX operators LSTM, GRU and RNN.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.kind = _KINDS[op.type]
        self.direction = op.str_param("direction", "forward")
        if self.direction not in ("forward", "bidirectional"):
            raise self.unsupported("direction forward or bidirectional", self.direction)
        if op.type == "GRU" and not op.bool_param("linear_before_reset", False):
            raise self.unsupported("linear_before_reset=1", 0)
        if op.bool_param("layout", False):
            raise self.unsupported("layout=0", 1)
        self.hidden = op.int_param("hidden_size")
        self.cell = self._cell()
        states = iter("hc" if op.type == "LSTM" else "h")
        self.returned = [
            "y" if operand.shape is None or len(operand.shape) == 4 else next(states, "") for operand in op.outputs
        ]
        self.expect("" not in self.returned, "outputs Y, Y_h and of an LSTM Y_c", f"{len(op.outputs)} outputs")

    def forward(self, x: Array, w: Array, r: Array, *rest: Array) -> Array | tuple[Array, ...]:
        bias = rest[0] if rest and rest[0].ndim == 2 else None
        states = rest if bias is None else rest[1:]
        if x.ndim == 3:
            states = for_sequences(x.shape[1], states, self.op.inputs[len(self.op.inputs) - len(states) :])
        rows = len(self.kind.gates) * self.hidden
        fits = w.ndim == r.ndim == 3 and w.shape[:2] == r.shape[:2] and w.shape[1] == rows
        self.expect(fits, f"W and R (directions, {rows}, ...)", (w.shape, r.shape))
        if bias is not None:
            self.expect(bias.shape == (len(w), 2 * rows), f"B ({len(w)}, {2 * rows})", bias.shape)
        cells = [self._weights(w[k], r[k], None if bias is None else bias[k]) for k in range(len(w))]
        sizes = (self.hidden,) * (2 if self.op.type == "LSTM" else 1)
        y, *last = Stack(self.cell, len(self.kind.gates), cells, len(w), False, sizes, self.op.where).run(x, states)
        made = dict(zip("hc", last, strict=False))
        made["y"] = y.reshape(*y.shape[:2], len(w), self.hidden).swapaxes(1, 2)
        outputs = tuple(made[name] for name in self.returned)
        return outputs[0] if len(outputs) == 1 else outputs

    def _cell(self) -> Cell:
        """How one direction runs; of the activations only the usual ones are known, and Relu for RNN."""
        given = self.op.params["activations"].value if self.op.has_param("activations") else ()
        names = set(given if isinstance(given, (list, tuple)) else (given,))
        if self.op.type == "RNN" and names == {"Relu"}:
            return partial(rnn, is_relu=True)
        if names and names != set(self.kind.activations):
            raise self.unsupported(f"activations {', '.join(self.kind.activations)}", given)
        return self.kind.cell

    def _weights(self, w: Array, r: Array, bias: Array | None) -> CellWeights:
        """The weights of one direction with the gates in torch's order."""
        biases = (None, None) if bias is None else (self._in_order(part) for part in np.split(bias, 2))
        return CellWeights(self._in_order(w), self._in_order(r), *biases)

    def _in_order(self, rows: Array) -> Array:
        gates = rows.reshape(len(self.kind.gates), self.hidden, *rows.shape[1:])
        return gates[list(self.kind.gates)].reshape(rows.shape)
