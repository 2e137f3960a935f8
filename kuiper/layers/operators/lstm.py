"""nn.LSTM: a recurrent network whose cells keep a memory beside their output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.kernels import recurrent as kernels
from kuiper.layers.recurrent import threads_of
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
    h, c = (state.copy() for state in states)
    gates = weights.gates_of(x, weights.input_bias, weights.hidden_bias)
    outputs = np.empty((len(x), *h.shape), np.float32)
    kernels.lstm(
        gates,
        weights.by_output,
        weights.by_cell,
        h,
        c,
        np.empty_like(c),
        outputs,
        threads_of(gates, weights),
    )
    return outputs, (h, c)
