from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers import create
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired, wired

X = np.float32([[1], [2]])


def test_expand_repeats_axes_of_size_one_without_a_copy() -> None:
    out = run("Tensor.expand", X, sizes=[2, 3])
    assert out.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert np.shares_memory(out, X)


def test_expand_keeps_axes_that_are_minus_one_and_adds_new_ones_in_front() -> None:
    assert run("Tensor.expand", X, sizes=[3, -1, 2]).tolist() == [[[1, 1], [2, 2]]] * 3


def test_expand_takes_minus_one_for_a_new_axis_as_onnx_has_it() -> None:
    assert run("Tensor.expand", X, sizes=[-1, -1, 3]).tolist() == [[[1] * 3, [2] * 3]]


def test_expand_a_scalar_and_to_nothing() -> None:
    assert run("Tensor.expand", np.float32(5).reshape(()), sizes=[2]).tolist() == [5, 5]
    assert run("Tensor.expand", X, sizes=[2, 0]).shape == (2, 0)


@pytest.mark.parametrize("sizes", [[3, 1], [2], [-1, 3, 1], [2, -3], [-2, 2, 1]])
def test_expand_refuses_sizes_that_do_not_fit(sizes: list[int]) -> None:
    with pytest.raises(ShapeError, match=r"Tensor.expand 'it': expected sizes that input \(2, 1\) can expand to, got"):
        run("Tensor.expand", X, sizes=sizes)


def test_expand_frees_a_batch_that_the_export_has_baked_in() -> None:
    layer = create(wired("Tensor.expand", declared=(1, 1), sizes=[1, 3]))
    assert layer.forward(X).tolist() == [[1, 1, 1], [2, 2, 2]]
    layer = create(wired("Tensor.expand", declared=(4, 1), sizes=[4, 3]))
    assert layer.forward(X[:1]).tolist() == [[1, 1, 1]]


def test_expand_reads_the_older_name_of_its_sizes() -> None:
    assert run("Tensor.expand", X, shape=[-1, 2]).tolist() == [[1, 1], [2, 2]]


def test_expand_does_not_take_a_new_axis_for_the_batch() -> None:
    layer = create(wired("Tensor.expand", declared=(2, 1), sizes=[2, 3, 1]))
    assert layer.forward(np.float32([[1], [2], [3]])).shape == (2, 3, 1)


def test_expand_as_takes_the_other_shape() -> None:
    out = run_wired("Tensor.expand_as", X, np.zeros((3, 2, 2)), names=("input", "other"))
    assert out.tolist() == [[[1, 1], [2, 2]]] * 3


def test_expand_refuses_one_entry_where_the_export_kept_several() -> None:
    layer = create(wired("Tensor.expand", declared=(1, 1, 5), sizes=[1, 3, 5]))
    assert layer.forward(np.zeros((1, 1, 5), np.float32)).shape == (1, 3, 5)
    with pytest.raises(ShapeError, match=r"expected input \(1, 1, 5\), which the file expands to \(1, 3, 5\), got"):
        layer.forward(np.zeros((1, 1, 1), np.float32))
