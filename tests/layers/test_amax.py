from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run

X = np.float32([[1, 7, 3], [4, -5, 6]])


def test_amax_and_amin_over_axes() -> None:
    assert run("torch.amax", X, dim=[0]).tolist() == [4, 7, 6]
    assert run("torch.amin", X, dim=[1], keepdim=True).tolist() == [[1], [-5]]
    assert run("torch.amax", X, dim=None).tolist() == 7


def test_amax_and_amin_pass_nan_on() -> None:
    x = np.float32([[1, np.nan], [2, 3]])
    np.testing.assert_array_equal(run("torch.amax", x, dim=1), [np.nan, 3])
    np.testing.assert_array_equal(run("torch.amin", x, dim=1), [np.nan, 2])


def test_amax_keeps_whole_numbers_and_bools() -> None:
    assert run("torch.amax", np.array([True, False])).dtype == np.bool_


def test_amax_refuses_an_empty_axis() -> None:
    with pytest.raises(ShapeError, match=r"torch.amax 'it': expected at least one entry along each reduced axis"):
        run("torch.amax", np.zeros((0, 3)), dim=0)
    assert run("torch.amax", np.zeros((0, 3)), dim=1).shape == (0,)
