from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.layers.operators.chunk import chunk_sizes
from tests.layers.wired_operator import run_wired


@pytest.mark.parametrize(
    ("total", "chunks", "sizes"),
    [(6, 3, (2, 2, 2)), (7, 3, (3, 3, 1)), (5, 4, (2, 2, 1)), (2, 5, (1, 1)), (4, 1, (4,)), (0, 3, (0, 0, 0))],
)
def test_chunk_sizes_are_rounded_up(total: int, chunks: int, sizes: tuple[int, ...]) -> None:
    assert chunk_sizes(total, chunks) == sizes


def test_chunk_cuts_an_axis() -> None:
    left, right = run_wired("torch.chunk", np.arange(10).reshape(2, 5), outputs=2, chunks=2, dim=-1)
    assert left.tolist() == [[0, 1, 2], [5, 6, 7]]
    assert right.tolist() == [[3, 4], [8, 9]]


def test_chunk_refuses_no_chunks() -> None:
    with pytest.raises(ParameterError, match=r"torch.chunk 'it': expected chunks >= 1, got 0"):
        run_wired("torch.chunk", np.arange(3), chunks=0)
