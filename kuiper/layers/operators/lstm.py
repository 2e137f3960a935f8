"""nn.LSTM: a recurrent network whose cells keep a memory beside their output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.recurrent import sigmoid, split
from kuiper.layers.recurrent_layer import Recurrent
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array
    from kuiper.layers.recurrent import Cell, CellWeights, States


@register("nn.LSTM")
class LSTM(Recurrent):
    """A stack of LSTM layers over a sequence.

    Source: torch.nn.LSTM; Hochreiter and Schmidhuber, Long Short-Term Memory, 1997.
    """

    gates = 4
    states = ("h_n", "c_n")

    def read_width(self) -> int:
        projected = self.op.int_param("proj_size", 0)
        if not 0 <= projected < self.hidden:
            raise ParameterError(self.op.where, f"proj_size of less than hidden_size={self.hidden}", projected)
        return projected or self.hidden

    def read_cell(self) -> Cell:
        return lstm


def lstm(x: Array, states: States, weights: CellWeights) -> tuple[Array, States]:
    """One direction of one layer, from the states (h, c): outputs (l, n, outputs), and the last (h, c).

    i, f, o = sigmoid of W_i x + U_i h + b_i, ...        what to take in, what to keep, what to put out
    g       = tanh(W_g x + U_g h + b_g)
    c       = f c + i g
    h       = o tanh(c), times the projection if there is one
    """
    h, c = states[0], states[1].copy()
    gates = weights.gates_of(x, weights.input_bias, weights.hidden_bias)
    outputs = np.empty((len(x), *h.shape), np.float32)
    for step, given in enumerate(gates):
        given += h @ weights.by_output
        i, f, _, o = split(sigmoid(given), 4)  # of all in one call, for g in vain
        c *= f
        c += i * np.tanh(split(given, 4)[2])
        h = o * np.tanh(c)
        if weights.projection is not None:
            h = h @ weights.projection.T
        outputs[step] = h
    return outputs, (h, c)
