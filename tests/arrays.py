"""Arrays for tests, and what it means that two are close."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Seeded normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def small_integers(*shape: int, seed: int = 0) -> np.ndarray:
    """From -5 to 5: sums of their products are exact, so that the order of the additions does not matter."""
    return np.random.default_rng(seed).integers(-5, 6, shape).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    """These, as ONNX wants axes, sizes and indices."""
    return np.array(values, np.int64)


def assert_close(got: Any, expected: Any, tolerance: float = 1e-5) -> None:
    """Equal types and shapes, numbers within ``tolerance`` times the largest; tuples entry by entry."""
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_close(one, other, tolerance)
        return
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1e-30)
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * largest)
