from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper import get_num_threads, set_num_threads
from kuiper.expression.erf import erf, naive_erf


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (8,), (17,), (3, 5, 7), (4097,)])
def test_erf_equals_the_naive_twin(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 2
    y = erf(x)
    assert (y.shape, y.dtype) == (shape, np.float32)
    np.testing.assert_allclose(y, naive_erf(x), rtol=2e-7, atol=0)


def test_erf_is_right_to_1e_7_on_a_fine_grid() -> None:
    x = np.linspace(-6, 6, 100_001, dtype=np.float32)
    exact = np.array([math.erf(float(number)) for number in x])
    assert np.abs(erf(x) - exact).max() <= 1e-7


def test_erf_of_special_numbers() -> None:
    y = erf(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40], np.float32))
    np.testing.assert_array_equal(y[:5], np.array([0, 0, 1, -1, np.nan], np.float32))
    assert np.signbit(y[1])
    assert y[5] > 1e-40


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 1e-3), (np.float64, 1e-15)])
def test_erf_keeps_other_element_types(dtype: type, tolerance: float) -> None:
    y = erf(np.array([[0.5], [-1.25]], dtype))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, [[math.erf(0.5)], [math.erf(-1.25)]], rtol=tolerance)


def test_erf_takes_any_memory_order() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4).T[::2] / 10
    np.testing.assert_array_equal(erf(x), erf(x.copy()))


def test_erf_is_the_same_for_any_number_of_threads() -> None:
    x = np.random.default_rng(1).standard_normal(100_003).astype(np.float32)
    before = get_num_threads()
    try:
        answers = []
        for n in (1, 2, 3):
            set_num_threads(n)
            answers.append(erf(x).tobytes())
    finally:
        set_num_threads(before)
    assert len(set(answers)) == 1
