"""What functions for which pnnx has no name refuse, and the numbers at which they differ from NumPy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kuiper.errors import ExecutionError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.aten_matrices import matrix_norm, matrix_power
from kuiper.layers.operators.aten_placing import masked_scatter, scatter_reduce
from kuiper.layers.operators.aten_pointwise import heaviside
from kuiper.layers.operators.aten_statistics import histogram, kth_value, search

X = np.float32([1, 2, 3])
INDEX = np.array([0, 0, 2])


def test_kth_value_counts_from_one_and_no_further_than_there_are() -> None:
    assert kth_value(X, 3)[0] == 3
    for k in (0, 4):
        with pytest.raises(ShapeError, match=f"kthvalue: expected an axis of at least {k} numbers, k from 1 on"):
            kth_value(X, k)


def test_matrix_power_refuses_what_has_no_inverse() -> None:
    with pytest.raises(
        ExecutionError, match="matrix_power: expected matrices that have an inverse, got a singular one"
    ):
        matrix_power(np.zeros((2, 2), np.float32), -1)
    with pytest.raises(ShapeError, match=r"matrix_power: expected matrices \(..., n, n\), got \(2, 3\)"):
        matrix_power(np.zeros((2, 3), np.float32), 2)


def test_masked_scatter_refuses_a_source_that_is_too_short() -> None:
    with pytest.raises(ShapeError, match=r"expected a source of at least 2 numbers, got \(1,\)"):
        masked_scatter(X, np.array([True, True, False]), X[:1])


def test_search_wants_as_many_rows_of_values_as_there_are_rows_in_order() -> None:
    with pytest.raises(ShapeError, match=r"searchsorted: expected values of shape \(1,\) in front of the last axis"):
        search(X[None], np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("how", "with_self", "expected"),
    [("sum", True, [9, 2, 9]), ("mean", True, [3, 2, 4.5]), ("amax", False, [5, 2, 6]), ("prod", False, [15, 2, 6])],
)
def test_scatter_reduce_takes_repeated_indices_together(how: str, with_self: bool, expected: list[float]) -> None:
    got = scatter_reduce(X, 0, INDEX, np.float32([3, 5, 6]), how, with_self)
    np.testing.assert_array_equal(got, np.float32(expected))


def test_scatter_reduce_refuses_what_it_does_not_know() -> None:
    with pytest.raises(UnsupportedOperatorError, match="reduce among sum, mean, prod, amax, amin, got median"):
        scatter_reduce(X, 0, INDEX, X, "median")
    with pytest.raises(ShapeError, match="an index of 1 axes, no longer than the source"):
        scatter_reduce(X, 0, np.array([0, 1, 2, 0]), X)
    with pytest.raises(UnsupportedOperatorError, match="floats where include_self=False"):
        scatter_reduce(INDEX, 0, INDEX, INDEX, "amax", False)


def test_heaviside_of_nan_is_zero() -> None:
    np.testing.assert_array_equal(heaviside(np.float32([np.nan, -0.0]), np.float32([7])), np.float32([0, 7]))


def test_histogram_leaves_out_what_lies_beyond_the_range() -> None:
    np.testing.assert_array_equal(histogram(X, 2, 0, 2), [0, 2])
    np.testing.assert_array_equal(histogram(X, 2), [1, 2])


STORED = dict(np.load(Path(__file__).parents[1] / "fixtures" / "matrix_norms.npz"))


@pytest.mark.parametrize("case", [key for key in STORED if " " in key])
@pytest.mark.parametrize("keepdim", [False, True])
def test_matrix_norm_is_what_pytorch_computes(case: str, keepdim: bool) -> None:
    name, order, dims = case.split(" ")
    dim = tuple(map(int, dims.split(",")))
    got = matrix_norm(STORED[name], order if order in ("fro", "nuc") else float(order), dim, keepdim)
    expected = np.expand_dims(STORED[case], dim) if keepdim else STORED[case]
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_matrix_norm_refuses_what_is_no_norm_of_matrices() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"matrix_norm: expected ord among fro, nuc, 1, .*, got 3"):
        matrix_norm(np.ones((2, 2), np.float32), 3)
    with pytest.raises(UnsupportedOperatorError, match="matrix_norm: expected dtype=None, got 7"):
        matrix_norm(np.ones((2, 2), np.float32), dtype=7)
    for dim in ((0, 0), (0, 2), (1,)):
        with pytest.raises(ShapeError, match="matrix_norm: expected an input with two axes"):
            matrix_norm(np.ones((2, 2), np.float32), dim=dim)
