"""nn.RNN: the plain recurrent network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.recurrent_layer import Recurrent
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array
    from kuiper.layers.recurrent import Cell, CellWeights, States


@register("nn.RNN")
class RNN(Recurrent):
    """A stack of layers over a sequence, whose every output is a function of an input and of the output before.

    Source: torch.nn.RNN; Elman, Finding Structure in Time, 1990.
    """

    gates = 1

    def read_cell(self) -> Cell:
        nonlinearity = self.op.str_param("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise self.unsupported("nonlinearity tanh or relu", nonlinearity)
        return partial(rnn, is_relu=nonlinearity == "relu")


def rnn(x: Array, states: States, weights: CellWeights, is_relu: bool = False) -> tuple[Array, States]:
    """One direction of one layer, from the states (h,): outputs (l, n, hidden), and the last (h,).

    h = relu or tanh of W x + b + U h + d
    """
    h = states[0]
    gates = weights.gates_of(x, weights.input_bias, weights.hidden_bias)
    outputs = np.empty((len(x), *h.shape), np.float32)
    for step, given in enumerate(gates):
        total = given + h @ weights.by_output
        h = outputs[step] = np.maximum(total, 0) if is_relu else np.tanh(total)
    return outputs, (h.copy(),)
