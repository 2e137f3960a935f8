from __future__ import annotations

import numpy as np

from tests.layers.wired_operator import run_wired

X = np.float32([[3, np.nan, 1, 3]])


def test_sort_counts_nan_as_the_largest_and_keeps_the_order_of_equals() -> None:
    values, places = run_wired("aten::sort", X, -1, False, outputs=2)
    np.testing.assert_array_equal(values, [[1, 3, 3, np.nan]])
    assert places.tolist() == [[2, 0, 3, 1]]
    assert run_wired("aten::argsort", X, 1, True).tolist() == [[1, 0, 3, 2]]


def test_sort_takes_stable_in_front_of_the_other_settings() -> None:
    values, _ = run_wired("aten::sort", X.T, True, 0, True, outputs=2)
    np.testing.assert_array_equal(values[:, 0], [np.nan, 3, 3, 1])
    assert run_wired("aten::argsort", X).tolist() == [[2, 0, 3, 1]]


def test_sort_of_a_scalar_is_the_scalar() -> None:
    values, places = run_wired("aten::sort", np.array(5.0), -1, False, outputs=2)
    assert (values.tolist(), places.tolist()) == (5.0, 0)
