from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers import create
from kuiper.layers.operators.cat import cat
from tests.layers.wired_operator import run_wired, wired

A = np.array([[1, 2], [3, 4]])
B = np.array([[5], [6]])


@pytest.mark.parametrize("dim", [1, -1])
def test_cat_joins_along_an_axis(dim: int) -> None:
    assert run_wired("torch.cat", A, B, A, dim=dim).tolist() == [[1, 2, 5, 1, 2], [3, 4, 6, 3, 4]]


def test_cat_joins_the_first_axis_by_default() -> None:
    assert run_wired("torch.cat", A, A[:1]).tolist() == [[1, 2], [3, 4], [1, 2]]


def test_cat_takes_one_list() -> None:
    assert run_wired("torch.cat", [A, A], dim=1, names=("tensors",)).shape == (2, 4)


def test_cat_passes_over_the_empty_vector_that_old_code_starts_with() -> None:
    assert cat([np.zeros(0, np.int64), A, np.zeros(0, np.int64)], 1).tolist() == A.tolist()
    assert cat([np.zeros(0), np.zeros(0)]).shape == (0,)


def test_cat_promotes_as_torch_does() -> None:
    assert cat([A, B.astype(np.float32)], 1).dtype == np.float32


def test_cat_keeps_the_memory_order_of_its_inputs() -> None:
    image = np.zeros((1, 4, 4, 3), np.float32).transpose(0, 3, 1, 2)  # channels last
    assert cat([image, image], 1).transpose(0, 2, 3, 1).flags.c_contiguous


def test_cat_refuses_shapes_that_differ_elsewhere() -> None:
    expected = r"torch.cat 'it': expected inputs with axes that differ only in dim 0, got \(2, 2\), \(2, 1\)"
    with pytest.raises(ShapeError, match=expected):
        run_wired("torch.cat", A, B, dim=0)


def test_cat_refuses_other_ranks_scalars_and_nothing() -> None:
    for arrays in ([A, A[0]], [A, np.zeros((2, 2, 1))], [np.array(1), np.array(2)], []):
        with pytest.raises(ShapeError):
            cat(arrays, 0)


def test_cat_repeats_what_an_export_for_one_image_has_once() -> None:
    op = wired("torch.cat", inputs=2, dim=1)
    for operand in op.inputs:
        operand.shape = (1, 1, 2)
    token, images = np.ones((1, 1, 2)), np.arange(12).reshape(3, 2, 2)
    assert create(op).forward(token, images)[:, 0].tolist() == [[1, 1]] * 3
    with pytest.raises(ShapeError, match=r"differ only in dim 1"):
        run_wired("torch.cat", token, images, dim=1)


def test_cat_takes_a_number_for_a_vector_of_one() -> None:
    """In graphs born from ONNX shapes are joined of sizes."""
    shape = run_wired("torch.cat", 2, np.array([3, 4]), [5, 6])
    assert (shape.tolist(), shape.dtype) == ([2, 3, 4, 5, 6], np.int64)
