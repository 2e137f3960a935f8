"""Models whose rows are strangers, and models whose rows are not; pieces of a few sizes."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.models import bundled
from kuiper.serving.row_wise import Array, Run, is_row_wise, piece_size, run_in_pieces


def test_is_row_wise_of_a_bundled_classifier() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    assert is_row_wise(lambda x: [model.forward(x)], [np.zeros((1, 3, 32, 32), np.float32)])


def test_is_row_wise_refuses_a_model_of_one_row() -> None:
    assert not is_row_wise(lambda x: [x.reshape(1, 2)], [np.zeros((1, 2), np.float32)])


def test_is_row_wise_cannot_tell_by_inputs_that_fail_or_are_empty() -> None:
    def needs_two_columns(x: Array) -> list[Array]:
        return [x.reshape(-1, 2)]

    assert is_row_wise(needs_two_columns, [np.ones((1, 3), np.float32)]) is None
    assert is_row_wise(running_sum, [np.ones((1, 0), np.float32)]) is None
    assert is_row_wise(lambda x: [x[:, :0]], [np.ones((1, 2), np.float32)]) is None


def running_sum(x: Array) -> list[Array]:
    return [np.cumsum(x, axis=0)]


def fewer_rows(x: Array) -> list[Array]:
    return [x[:1]]


def one_number(x: Array) -> list[Array]:
    return [np.float32(x.sum())]


@pytest.mark.parametrize("run", [running_sum, fewer_rows, one_number])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_is_row_wise_refuses_rows_that_know_each_other(run: Run, dtype: type) -> None:
    assert not is_row_wise(run, [np.ones((1, 2), dtype)])


def test_is_row_wise_refuses_one_output_of_several() -> None:
    assert is_row_wise(lambda x: [x, -x], [np.ones((3, 2), np.float32)])
    assert not is_row_wise(lambda x: [x, x[::-1]], [np.ones((3, 2), np.float32)])


@pytest.mark.parametrize("most", [1, 2, 5, 8, 16])
def test_run_in_pieces_gives_each_row_its_own(most: int) -> None:
    sizes: list[int] = []

    def run(x: Array, y: Array) -> list[Array]:
        sizes.append(len(x))
        assert len(y) == len(x)
        return [x + 1, y * 2]

    for rows in range(1, 40):
        x, y = np.arange(rows), np.arange(2 * rows).reshape(rows, 2)
        found = run_in_pieces(run, [x, y], most)
        assert np.array_equal(found[0], x + 1)
        assert np.array_equal(found[1], y * 2)
    assert set(sizes) <= {1, 2, 4, 8, 16}
    assert max(sizes) <= most


def test_pieces_are_filled_up_by_a_quarter_at_most() -> None:
    for rows in range(1, 200):
        assert 3 * piece_size(rows, 1024) <= 4 * rows
