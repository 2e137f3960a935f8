from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("type_name", ["Tensor.permute", "torch.permute"])
def test_permute_puts_axes_in_the_order_given(type_name: str) -> None:
    out = run(type_name, X, dims=[2, 0, -2])
    assert out.shape == (4, 2, 3)
    assert out[3, 1, 2] == X[1, 2, 3]


def test_permute_is_a_view() -> None:
    assert np.shares_memory(run("Tensor.permute", X, dims=[1, 0, 2]), X)


def test_permute_of_a_scalar_is_itself() -> None:
    assert run("Tensor.permute", np.array(3.0), dims=[]).shape == ()


def test_permute_refuses_too_few_dims() -> None:
    with pytest.raises(ShapeError, match=r"Tensor.permute 'it': expected 3 dims for input \(2, 3, 4\), got \(1, 0\)"):
        run("Tensor.permute", X, dims=[1, 0])


def test_permute_refuses_an_axis_that_comes_twice() -> None:
    with pytest.raises(ShapeError, match=r"expected each dim once, got \(0, 1, -3\)"):
        run("Tensor.permute", X, dims=[0, 1, -3])


@pytest.mark.parametrize("name", ["query", "key", "value", "mask"])
def test_views_take_input_names_of_the_attention_behind_them(name: str) -> None:
    x = np.zeros((2, 3, 4), np.float32)
    assert run_wired("Tensor.permute", x, names=(name,), dims=[0, 2, 1]).shape == (2, 4, 3)
    assert run_wired("torch.transpose", x, names=(name,), dim0=0, dim1=1).shape == (3, 2, 4)
    assert run_wired("Tensor.reshape", x, names=(name,), shape=[6, 4]).shape == (6, 4)
