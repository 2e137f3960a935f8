from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.wired_operator import run_wired

X = np.arange(6).reshape(2, 3)


def test_unbind_takes_the_entries_of_an_axis() -> None:
    out = run_wired("torch.unbind", X, outputs=3, dim=-1)
    assert [entry.tolist() for entry in out] == [[0, 3], [1, 4], [2, 5]]
    assert np.shares_memory(out[1], X)


def test_unbind_of_a_vector_gives_arrays_without_axes() -> None:
    out = run_wired("torch.unbind", X[0], outputs=3)
    assert all(isinstance(entry, np.ndarray) and entry.shape == () for entry in out)


def test_unbind_refuses_an_axis_of_another_size_than_at_export() -> None:
    with pytest.raises(ShapeError, match=r"torch.unbind 'it': expected 2 pieces, one for each output, got 3"):
        run_wired("torch.unbind", X, outputs=2, dim=1)
