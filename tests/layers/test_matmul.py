from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.operators.matmul import matmul
from tests.arrays import small_integers
from tests.layers.one_operator import layer
from tests.layers.wired_operator import run_wired

A = np.float32([[1, 2], [3, 4], [5, 6]])
B = np.float32([[1, 0, 2], [0, 1, 3]])


def test_matmul_of_two_matrices() -> None:
    assert matmul(A, B).tolist() == [[1, 2, 8], [3, 4, 18], [5, 6, 28]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((5,), (5,)),
        ((5,), (5, 3)),
        ((3, 5), (5,)),
        ((2, 3, 5), (5,)),
        ((5,), (2, 5, 3)),
        ((2, 3, 5), (2, 5, 4)),
        ((2, 3, 4, 5), (5, 7)),
        ((3, 5), (2, 5, 4)),
        ((2, 1, 3, 5), (4, 5, 2)),
        ((1, 1), (1, 1)),
        ((2, 0, 5), (5, 3)),
        ((2, 3, 0), (2, 0, 4)),
        ((0, 3, 5), (0, 5, 2)),
    ],
)
def test_matmul_of_all_ranks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = small_integers(*left, seed=1), small_integers(*right, seed=2)
    out = matmul(a, b)
    assert isinstance(out, np.ndarray)
    np.testing.assert_array_equal(out, np.matmul(a.astype(np.int64), b.astype(np.int64)))


@settings(max_examples=30)
@given(st.tuples(*[st.sampled_from([1, 2, 7, 8, 13, 17])] * 4), st.booleans(), st.booleans())
def test_matmul_of_any_memory_order(sizes: tuple[int, ...], flip_left: bool, flip_right: bool) -> None:
    n, m, k, p = sizes
    a, b = small_integers(n, m, k, seed=3), small_integers(n, k, p, seed=4)
    left = np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2) if flip_left else a
    right = np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2) if flip_right else b
    np.testing.assert_array_equal(matmul(left, right), np.matmul(a, b))


def test_matmul_of_whole_numbers_stays_whole() -> None:
    out = matmul(A.astype(np.int64), B.astype(np.int64))
    assert out.dtype == np.int64


def test_mm_and_bmm_take_equal_ranks_only() -> None:
    assert run_wired("torch.mm", A, B, names=("input", "mat2")).shape == (3, 3)
    assert run_wired("torch.bmm", A[None], B[None], names=("input", "mat2")).shape == (1, 3, 3)
    with pytest.raises(ShapeError, match=r"torch.mm 'it': expected \(m, k\) and \(k, n\), got"):
        run_wired("torch.mm", A[None], B[None])
    with pytest.raises(ShapeError, match=r"torch.bmm 'it': expected \(n, m, k\) and \(n, k, p\), got"):
        run_wired("torch.bmm", A[None], np.stack([B, B]))


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((2, 3), (2, 3), r"expected a right input with 3 rows for the left \(2, 3\), got \(2, 3\)"),
        ((3,), (4,), r"expected a right input with 3 rows"),
        ((2, 3, 4), (3, 4, 5), r"expected axes in front that broadcast, got \(\(2, 3, 4\), \(3, 4, 5\)\)"),
        ((), (3,), r"expected inputs with at least one axis, got \(\(\), \(3,\)\)"),
    ],
)
def test_matmul_refuses_shapes_that_do_not_fit(left: tuple[int, ...], right: tuple[int, ...], message: str) -> None:
    with pytest.raises(ShapeError, match=rf"torch.matmul 'it': {message}"):
        run_wired("torch.matmul", np.zeros(left, np.float32), np.zeros(right, np.float32))


def test_matmul_refuses_two_element_types() -> None:
    with pytest.raises(DataTypeError, match=r"expected two inputs of one element type, got float32 and int64"):
        matmul(A, B.astype(np.int64))


def test_matmul_counts_two_operations_for_each_product() -> None:
    assert layer("torch.matmul").flops([(2, 3, 5), (2, 5, 4)], [(2, 3, 4)]) == 2 * 2 * 3 * 5 * 4
