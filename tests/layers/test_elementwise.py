"""How the activations walk over arrays: any layout in memory, any number of axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kuiper.layers.activation import elementwise
from tests.layers.one_operator import layer

X = np.arange(-60, 60, dtype=np.float32).reshape(2, 3, 4, 5)

VIEWS = {
    **{f"permuted {order}": X.transpose(order) for order in itertools.permutations(range(4))},
    "every second column": X[..., ::2],
    "rows reversed": X[:, :, ::-1],
    "permuted and cut": X.transpose(0, 2, 3, 1)[:, 1:, ::2],
    "one channel": X[:, 1],
    "repeated": np.broadcast_to(X[:1, :1], (7, 3, 4, 5)),
    "repeated in the middle": np.broadcast_to(X[:1, :1], (1, 6, 4, 5)),
    "repeated at the end": np.broadcast_to(X[..., :1], (2, 3, 4, 6)),
    "repeated and permuted": np.broadcast_to(X[:, :1], (2, 6, 4, 5)).transpose(3, 1, 0, 2),
    "fortran order": np.asfortranarray(X),
    "axes of size 1": X[:1, :, 1:2].transpose(2, 3, 1, 0),
    "scalar": X[0, 0, 0, 0, ...],
    "empty": X[:, :0],
}


@pytest.mark.parametrize("view", VIEWS)
def test_elementwise_takes_any_view(view: str) -> None:
    x = VIEWS[view]
    before = x.copy()
    y = elementwise("relu", x, where="test")
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    np.testing.assert_array_equal(x, before)
    assert y.shape == x.shape
    assert not np.shares_memory(x, y)


def test_elementwise_keeps_the_order_of_the_axes_in_memory() -> None:
    channels_last = np.ascontiguousarray(X.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    assert elementwise("relu", channels_last, where="test").strides == channels_last.strides


def test_elementwise_takes_read_only_arrays() -> None:
    x = X.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(elementwise("relu", x, where="test"), np.maximum(x, 0))


def test_elementwise_flops_are_one_for_each_number() -> None:
    assert layer("nn.SiLU").flops([(2, 3, 4)], [(2, 3, 4)]) == 24
