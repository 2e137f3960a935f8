from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import run

X = np.array([[1, 2]])


def test_repeat_lays_copies_side_by_side() -> None:
    assert run("Tensor.repeat", X, sizes=[2, 2]).tolist() == [[1, 2, 1, 2], [1, 2, 1, 2]]


def test_repeat_adds_axes_in_front() -> None:
    assert run("Tensor.repeat", X, sizes=[2, 1, 1]).tolist() == [[[1, 2]], [[1, 2]]]


def test_repeat_refuses_fewer_sizes_than_axes_and_tile_does_not() -> None:
    assert run("torch.tile", X, dims=[2]).tolist() == [[1, 2, 1, 2]]
    with pytest.raises(ShapeError, match=r"Tensor.repeat 'it': expected at least 2 sizes for \(1, 2\), got \(2,\)"):
        run("Tensor.repeat", X, sizes=[2])


def test_repeat_refuses_negative_sizes() -> None:
    with pytest.raises(ParameterError, match=r"expected sizes >= 0"):
        run("Tensor.repeat", X, sizes=[1, -1])


def test_repeat_refuses_a_product_of_sizes_that_no_machine_has() -> None:
    for sizes in ([1, 2**62], [2**32, 2**32], [2**63, 2]):
        with pytest.raises(ShapeError, match=r"Tensor.repeat 'it': expected a tensor of at most"):
            run("Tensor.repeat", np.zeros((2, 3), np.float32), sizes=sizes)
