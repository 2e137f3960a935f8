from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.pieces import cut, for_outputs
from tests.layers.wired_operator import wired

X = np.arange(6).reshape(2, 3)


def test_cut_makes_views() -> None:
    left, right = cut(X, 1, [(None, 1), (1, None)])
    assert left.tolist() == [[0], [3]]
    assert right.tolist() == [[1, 2], [4, 5]]
    assert np.shares_memory(left, X)


def test_for_outputs_gives_one_piece_to_each_output() -> None:
    pieces = cut(X, 0, [(0, 1), (1, 2)])
    assert for_outputs(wired("torch.split", outputs=2), pieces) is pieces
    assert for_outputs(wired("torch.split"), pieces[:1]) is pieces[0]


def test_for_outputs_gives_all_pieces_to_an_output_that_is_unpacked() -> None:
    op = wired("torch.split")
    op.outputs[0].consumers.append(wired("prim::ListUnpack", outputs=2))
    assert for_outputs(op, (X, X)) == (X, X)
    assert for_outputs(op, (X,)) == (X,)


def test_for_outputs_refuses_another_number_of_pieces() -> None:
    with pytest.raises(ShapeError, match=r"torch.split 'it': expected 3 pieces, one for each output, got 2"):
        for_outputs(wired("torch.split", outputs=3), (X, X))
