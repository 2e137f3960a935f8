"""aten::lstm, aten::gru, aten::rnn_tanh and aten::rnn_relu: recurrent networks whose weights are operands.

So pnnx writes a model that is nothing but one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.gru import gru
from kuiper.layers.operators.lstm import lstm
from kuiper.layers.operators.rnn import rnn
from kuiper.layers.recurrent import Cell, CellWeights, Stack
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Sequence


class Kind(NamedTuple):
    """How one direction of one layer runs, and how many gates its cells have."""

    cell: Cell
    gates: int


_KINDS = {
    "aten::lstm": Kind(lstm, 4),
    "aten::gru": Kind(gru, 3),
    "aten::rnn_tanh": Kind(rnn, 1),
    "aten::rnn_relu": Kind(partial(rnn, is_relu=True), 1),
}


@register(*_KINDS)
class RecurrentOfOperands(Layer):
    """output, h_n and, of an LSTM, c_n; operands are the input, the first states, the weights and six settings.

    Source: torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN.
    """

    data_inputs = None

    def forward(self, x: Array, states: Any, weights: Sequence[Array], *settings: Any) -> tuple[Array, ...]:
        self.expect(len(settings) == 6, "an input, states, weights and six settings", f"{len(settings)} settings")
        has_bias, _, _, training, bidirectional, batch_first = settings
        if training:
            raise self.unsupported("a recurrent network that is not trained", "train=True")
        kind = _KINDS[self.op.type]
        states = tuple(states) if isinstance(states, (list, tuple)) else (states,)
        cells = self._cells(weights, has_bias, projected=len(states) == 2 and states[0].shape != states[1].shape)
        sizes = (cells[0].hidden.shape[1], cells[0].hidden.shape[0] // kind.gates)[: len(states)]
        stack = Stack(kind.cell, kind.gates, cells, 2 if bidirectional else 1, bool(batch_first), sizes, self.op.where)
        return stack.run(x, states)

    def _cells(self, weights: Sequence[Array], has_bias: bool, projected: bool) -> list[CellWeights]:
        """The weights of each layer and direction, which stand in the list one behind the other."""
        each = 2 + 2 * bool(has_bias) + projected
        self.expect(len(weights) > 0 and len(weights) % each == 0, f"weights by {each}", f"{len(weights)} of them")
        cells = []
        for first in range(0, len(weights), each):
            own = list(weights[first : first + each])
            projection = own.pop() if projected else None
            input_bias, hidden_bias = own[2:] if has_bias else (None, None)
            cells.append(CellWeights(own[0], own[1], input_bias, hidden_bias, projection))
        return cells
