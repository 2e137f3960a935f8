from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import layer, run

X = np.arange(12).reshape(3, 4)


def test_as_strided_reads_the_memory_in_other_steps() -> None:
    assert run("torch.as_strided", X, size=[2, 3], stride=[1, 4]).tolist() == [[0, 4, 8], [1, 5, 9]]
    assert run("torch.as_strided", X, size=[2, 2], stride=[0, 1], storage_offset=10).tolist() == [[10, 11]] * 2
    assert run("torch.as_strided", X.T, size=[3], stride=[1]).tolist() == [0, 4, 8]  # in C order, whatever it is
    assert run("torch.as_strided", X, size=[0, 2], stride=[9, 9]).shape == (0, 2)


def test_as_strided_refuses_what_lies_outside() -> None:
    with pytest.raises(
        ShapeError, match=r"torch.as_strided 'it': expected an input of at least 13 numbers, got \(3, 4\)"
    ):
        run("torch.as_strided", X, size=[4], stride=[4])
    with pytest.raises(ParameterError, match=r"expected size and stride of one length, no number below 0"):
        layer("torch.as_strided", size=[2], stride=[1, 1])
    with pytest.raises(ParameterError, match=r"no number below 0"):
        layer("torch.as_strided", size=[2], stride=[-1])


def test_as_strided_counts_places_in_whole_numbers_of_any_size() -> None:
    x = np.arange(6.0)
    for size, stride in (([3], [2**62]), ([5, 5], [2**62, 2**62]), ([2**62, 1], [4, 1])):
        with pytest.raises(ShapeError, match=r"expected an input of at least"):
            run("torch.as_strided", x, size=size, stride=stride)
    assert run("torch.as_strided", x, size=[1, 2], stride=[2**62, 3]).tolist() == [[0, 3]]
