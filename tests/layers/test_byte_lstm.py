"""The cells of an LSTM of bytes, and onnxruntime's functions in them."""

from __future__ import annotations

import numpy as np

from kuiper.layers.onnxruntime_functions import logistic
from kuiper.layers.operators.onnx_contrib_lstm import lstm_cells


def randoms(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape, np.float32) * np.float32(3)


def test_logistic_is_near_to_its_definition_and_keeps_nan() -> None:
    x = np.concatenate([randoms(1001), np.float32([0, -0.0, 17.9, -18.1, np.inf, -np.inf, np.nan])])
    y = logistic(x)
    assert np.allclose(y[:1001], 1 / (1 + np.exp(-x[:1001].astype(np.float64))), atol=2e-7)
    assert y[1001:1003].tolist() == [0.5, 0.5]
    assert y[-3:-1].tolist() == [1, 0]
    assert np.isnan(y[-1])


def test_lstm_cells_are_near_to_the_functions_of_numpy() -> None:
    gates, bias, c = randoms(2, 20), randoms(20), randoms(2, 5)
    i, o, f, g = np.split((gates + bias).astype(np.float64), 4, axis=1)
    memory = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    h, c = lstm_cells(gates, bias, np.zeros((0, 0), np.float32), c, np.inf, False)
    assert np.allclose(c, memory, atol=1e-6)
    assert np.allclose(h, np.tanh(memory) / (1 + np.exp(-o)), atol=1e-6)
