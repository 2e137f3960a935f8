"""The cells of an LSTM of bytes, against their reference implementation, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.layers.kernels import byte_lstm as kernel
from kuiper.layers.reference import byte_lstm as reference


def randoms(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape, np.float32) * np.float32(3)


def test_logistic_of_computes_as_its_reference() -> None:
    x = np.concatenate([randoms(1001), np.float32([0, -0.0, 17.9, -18.1, np.inf, -np.inf, np.nan])])
    y = np.empty_like(x)
    kernel.logistic_of(x, y)
    assert np.array_equal(y, reference.logistic(x), equal_nan=True)
    assert np.allclose(y[:1001], 1 / (1 + np.exp(-x[:1001].astype(np.float64))), atol=2e-7)


@pytest.mark.parametrize("cells", [1, 7, 8, 33])
@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize(("bound", "couples"), [(np.inf, False), (0.7, True)])
def test_lstm_cells_compute_as_their_references(cells: int, peepholes: bool, bound: float, couples: bool) -> None:
    gates, bias, c = randoms(3, 4 * cells), randoms(4 * cells), randoms(3, cells)
    seen = randoms(3, cells) if peepholes else np.zeros((0, 0), np.float32)
    expected = reference.lstm_cells(gates, bias, seen, c, bound, couples)
    h = np.empty_like(c)
    kernel.lstm_cells(gates, bias, seen, c, h, bound, couples)
    assert np.array_equal(h, expected[0])
    assert np.array_equal(c, expected[1])


def test_lstm_cells_are_near_to_the_functions_of_numpy() -> None:
    gates, bias, c = randoms(2, 20), randoms(20), randoms(2, 5)
    i, o, f, g = np.split((gates + bias).astype(np.float64), 4, axis=1)
    memory = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    h = np.empty_like(c)
    kernel.lstm_cells(gates, bias, np.zeros((0, 0), np.float32), c, h, np.inf, False)
    assert np.allclose(c, memory, atol=1e-6)
    assert np.allclose(h, np.tanh(memory) / (1 + np.exp(-o)), atol=1e-6)
