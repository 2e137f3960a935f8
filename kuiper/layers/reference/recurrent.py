"""One direction of one layer of an LSTM, a GRU or an RNN, in double precision. Reference of ``operators/lstm.py``.

``gates`` (l, n, gates * cells) is what the inputs and their biases give; ``hidden`` (gates * cells, outputs) is as
torch stores it; h is (n, outputs), c (n, cells). All return the outputs (l, n, outputs), whose last is the last h.
"""

from __future__ import annotations

import numpy as np


def lstm(
    gates: np.ndarray, hidden: np.ndarray, h: np.ndarray, c: np.ndarray, projection: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """c = f c + i g and h = o tanh(c), times the projection (outputs, cells) if there is one; also the last c."""
    outputs = []
    for row in gates.astype(np.float64):
        i, f, g, o = np.split(row + h @ hidden.T.astype(np.float64), 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        if projection is not None:
            h = h @ projection.T
        outputs.append(h)
    return np.stack(outputs), c


def gru(gates: np.ndarray, hidden: np.ndarray, bias: np.ndarray, h: np.ndarray) -> np.ndarray:
    """h = (1 - z) g + z h, where g is the tangent of what the input gives and r times what h gives."""
    outputs = []
    for row in gates.astype(np.float64):
        r_of_x, z_of_x, g_of_x = np.split(row, 3, axis=1)
        r_of_h, z_of_h, g_of_h = np.split(h @ hidden.T.astype(np.float64) + bias, 3, axis=1)
        z = sigmoid(z_of_x + z_of_h)
        h = (1 - z) * np.tanh(g_of_x + sigmoid(r_of_x + r_of_h) * g_of_h) + z * h
        outputs.append(h)
    return np.stack(outputs)


def rnn(gates: np.ndarray, hidden: np.ndarray, h: np.ndarray, is_relu: bool) -> np.ndarray:
    """h = relu or tanh of what the input and the last h give."""
    outputs = []
    for row in gates.astype(np.float64):
        total = row + h @ hidden.T.astype(np.float64)
        h = np.maximum(total, 0) if is_relu else np.tanh(total)
        outputs.append(h)
    return np.stack(outputs)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e**-x)."""
    return np.asarray(1 / (1 + np.exp(-x)))
