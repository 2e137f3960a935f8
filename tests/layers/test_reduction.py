from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.reduction import expect_elements, reduced_axes
from tests.layers.one_operator import layer, run

X = np.zeros((2, 3, 4), np.float32)


@pytest.mark.parametrize(("dims", "expected"), [((), (0, 1, 2)), ((-1,), (2,)), ((2, 0), (2, 0))])
def test_reduced_axes_are_all_where_none_are_named(dims: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert reduced_axes(X, dims, "here") == expected


def test_reduced_axes_of_a_scalar_are_none() -> None:
    assert reduced_axes(np.array(1.0), (0,), "here") == ()


def test_reduced_axes_refuse_what_is_not_there() -> None:
    with pytest.raises(ShapeError, match=r"here: expected dim within -3..2, got 3"):
        reduced_axes(X, (3,), "here")


def test_expect_elements_looks_at_reduced_axes_only() -> None:
    expect_elements(np.zeros((0, 3)), (1,), "here")
    with pytest.raises(ShapeError, match=r"here: expected at least one entry along each reduced axis, got \(0, 3\)"):
        expect_elements(np.zeros((0, 3)), (0,), "here")


@pytest.mark.parametrize(
    "type_name", ["torch.mean", "torch.sum", "torch.prod", "torch.amax", "torch.norm", "torch.var"]
)
def test_reductions_share_dim_and_keepdim(type_name: str) -> None:
    assert run(type_name, X, dim=1).shape == (2, 4)
    assert run(type_name, X, dim=[-1], keepdim=True).shape == (2, 3, 1)
    whole = run(type_name, X)
    assert isinstance(whole, np.ndarray)
    assert whole.shape == ()
    assert whole.dtype == np.float32


def test_reductions_convert_to_dtype_first() -> None:
    assert run("torch.sum", np.float32([0.6, 0.6]), dtype="torch.long").tolist() == 0
    assert run("torch.mean", np.array([1, 2]), dtype="torch.float").tolist() == 1.5


def test_reductions_count_one_operation_for_each_number() -> None:
    assert layer("torch.mean").flops([(2, 3, 4)], [()]) == 24
