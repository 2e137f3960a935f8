"""Functions whose arguments are all operands: by hand, on small numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError, UnsupportedOperatorError
from kuiper.graph.runtime_operator import RuntimeOperator
from kuiper.layers.operators.aten_functions import (
    broadcast_to,
    cdist,
    diff,
    linalg_norm,
    median,
    moments,
    running_extreme,
)
from kuiper.layers.registry import create

X = np.float32([[3, 4], [0, 2]])


def test_linalg_norm_refuses_norms_of_matrices() -> None:
    assert linalg_norm(X).item() == pytest.approx(29**0.5)
    with pytest.raises(UnsupportedOperatorError, match="a norm of vectors, or ord=fro, got nuc"):
        linalg_norm(X, "nuc", [0, 1])
    with pytest.raises(UnsupportedOperatorError, match="got 2"):
        linalg_norm(X, 2, [0, 1])


def test_cdist_refuses_rows_of_two_lengths() -> None:
    with pytest.raises(ShapeError, match="rows of one length"):
        cdist(X, np.zeros((2, 3), np.float32))


def test_broadcast_to_keeps_sizes_of_minus_one() -> None:
    assert broadcast_to(X[:1], [3, 5, -1]).shape == (3, 5, 2)
    with pytest.raises(ShapeError, match=r"an input that broadcasts to \(3, 3\), got \(2, 2\)"):
        broadcast_to(X, [3, 3])


def test_running_extreme_names_the_last_of_equal_entries() -> None:
    values, places = running_extreme(np.array([[2, 1, 2], [5, 6, 0]]), 1, np.minimum)
    assert values.tolist() == [[2, 1, 1], [5, 5, 0]]
    assert places.tolist() == [[0, 1, 1], [0, 0, 2]]


def test_diff_ends_when_nothing_is_left() -> None:
    assert diff(np.array([[1, 4, 9]]), 2**62).shape == (1, 0)
    assert diff(np.array([[1, 4, 9]]), 2).tolist() == [[2]]


def test_median_is_the_lower_of_two() -> None:
    value, place = median(np.array([[4, 1], [3, 2]]), 1, True)
    assert (value.tolist(), place.tolist()) == ([[1], [2]], [[1], [1]])


def test_moments_of_all_axes() -> None:
    variance, mean = moments(X, None, 0)
    assert (variance.item(), mean.item()) == (pytest.approx(2.1875), 2.25)


def test_a_dict_becomes_the_tuple_of_its_values() -> None:
    assert create(RuntimeOperator("prim::DictConstruct", "d")).forward("a", 1, "b", 2) == (1, 2)
