from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.wired_operator import run_wired

X = np.arange(7)


def test_split_by_size_leaves_a_smaller_rest() -> None:
    out = run_wired("torch.split", X, outputs=3, split_size_or_sections=3)
    assert [piece.tolist() for piece in out] == [[0, 1, 2], [3, 4, 5], [6]]


def test_split_by_sizes_takes_each() -> None:
    out = run_wired("torch.split", X, outputs=3, split_size_or_sections=[4, 0, 3])
    assert [piece.tolist() for piece in out] == [[0, 1, 2, 3], [], [4, 5, 6]]


def test_split_along_a_negative_axis() -> None:
    out = run_wired("Tensor.split", X[None], outputs=2, split_size_or_sections=4, dim=-1)
    assert [piece.shape for piece in out] == [(1, 4), (1, 3)]
    assert np.shares_memory(out[0], X)


def test_split_with_one_piece_is_an_array() -> None:
    assert run_wired("torch.split", X, split_size_or_sections=9).tolist() == X.tolist()
    assert run_wired("torch.split", X[:0], split_size_or_sections=2).shape == (0,)


def test_split_into_a_list_of_one_keeps_its_size() -> None:
    with pytest.raises(ShapeError, match=r"torch.split 'it': expected sizes that add up to 7, got \(3,\)"):
        run_wired("torch.split", X, split_size_or_sections=[3])


@pytest.mark.parametrize("sizes", [0, -1, [3, -1, 5]])
def test_split_refuses_sizes_below_one(sizes: object) -> None:
    with pytest.raises(ParameterError, match=r"expected split_size_or_sections of positive sizes"):
        run_wired("torch.split", X, split_size_or_sections=sizes)


def test_split_refuses_an_input_with_more_pieces_than_the_file_has_outputs() -> None:
    with pytest.raises(ShapeError, match=r"expected 2 pieces, one for each output, got 4"):
        run_wired("torch.split", X, outputs=2, split_size_or_sections=2)


def test_split_without_sizes_gives_each_output_an_equal_share() -> None:
    assert [piece.tolist() for piece in run_wired("torch.split", X, outputs=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert run_wired("torch.split", X).tolist() == X.tolist()
