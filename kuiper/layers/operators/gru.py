"""nn.GRU: a recurrent network whose cells decide how much of their output to renew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.recurrent import sigmoid, split
from kuiper.layers.recurrent_layer import Recurrent
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array
    from kuiper.layers.recurrent import Cell, CellWeights, States


@register("nn.GRU")
class GRU(Recurrent):
    """A stack of GRU layers over a sequence.

    Source: torch.nn.GRU; Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.
    """

    gates = 3

    def read_cell(self) -> Cell:
        return gru


@register("kuiper.GRU")
class ResetFirstGRU(GRU):
    """A GRU that resets the state before the product with its weights: ``linear_before_reset=0`` of ONNX.

    torch has no such layer; weights and outputs are named as those of nn.GRU.

    Source: ONNX, GRU; Cho et al., 2014, whose cell it is.
    """

    def read_cell(self) -> Cell:
        return reset_first_gru


def reset_first_gru(x: Array, states: States, weights: CellWeights) -> tuple[Array, States]:
    """One direction of one layer, from the states (h,): outputs (l, n, hidden), and the last (h,).

    r, z = sigmoid of W_r x + b_r + U_r h + d_r, ...
    g    = tanh(W_g x + b_g + U_g (r h) + d_g)
    h    = (1 - z) g + z h
    """
    h = states[0]
    gates = weights.gates_of(x, weights.input_bias, weights.hidden_bias)
    outputs = np.empty((len(x), *h.shape), np.float32)
    size = h.shape[1]
    of_gates, of_state = weights.by_output[:, : 2 * size], np.ascontiguousarray(weights.by_output[:, 2 * size :])
    for step, given in enumerate(gates):
        r, z = split(sigmoid(given[:, : 2 * size] + h @ of_gates), 2)
        g = np.tanh(given[:, 2 * size :] + (r * h) @ of_state)
        h = outputs[step] = g + z * (h - g)
    return outputs, (h.copy(),)


def gru(x: Array, states: States, weights: CellWeights) -> tuple[Array, States]:
    """One direction of one layer, from the states (h,): outputs (l, n, hidden), and the last (h,).

    r, z = sigmoid of W_r x + b_r + U_r h + d_r, ...     what of the past to look at, what of it to keep
    g    = tanh(W_g x + b_g + r (U_g h + d_g))
    h    = (1 - z) g + z h
    """
    h = states[0]
    gates = weights.gates_of(x, weights.input_bias)
    bias = np.float32(0) if weights.hidden_bias is None else weights.hidden_bias
    size = h.shape[1]
    outputs = np.empty((len(x), *h.shape), np.float32)
    for step, given in enumerate(gates):
        of_h = h @ weights.by_output + bias
        r, z = split(sigmoid(given[:, : 2 * size] + of_h[:, : 2 * size]), 2)
        g = np.tanh(given[:, 2 * size :] + r * of_h[:, 2 * size :])
        h = outputs[step] = g + z * (h - g)
    return outputs, (h.copy(),)
