"""Sums over axes in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

SHAPES_AND_AXES = pytest.mark.parametrize(
    ("shape", "dims"),
    [
        ((3, 5), (1,)), ((3, 5), (0,)), ((20, 33), (0,)), ((2, 30, 17), (1,)), ((2, 30, 17), (-1,)), ((2, 5, 17), (1,)),
        ((2, 20, 5, 6), (1,)), ((2, 20, 5, 6), (2, 3)), ((2, 20, 9, 12), (3,)), ((2, 20, 9, 12), (2,)),
        ((2, 3, 9, 12), (0,)), ((2, 2, 5, 6, 7), (1,)), ((30, 4, 5), (0,)),
    ],
)  # fmt: skip


@pytest.mark.parametrize("keepdim", [True, False])
@SHAPES_AND_AXES
def test_sum_over_an_axis_is_one_step(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> None:
    line = f"torch.sum s 1 1 x0 y dim=({','.join(map(str, dims))}) keepdim={keepdim}"
    (step,) = steps_of(line, inputs=[numbers(*shape)])
    assert step in ("product", "add")


@pytest.mark.parametrize("keepdim", [True, False])
@SHAPES_AND_AXES
def test_norm_over_an_axis_is_squares_a_sum_and_a_root(
    shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool
) -> None:
    line = f"torch.norm s 1 1 x0 y dim=({','.join(map(str, dims))}) keepdim={keepdim}"
    assert steps_of(line, inputs=[numbers(*shape)]) == ["square", "product", "sqrt"]


@pytest.mark.parametrize("p", ["1.0", "3.0", "inf"])
def test_norms_of_other_powers_are_left_to_the_layer(p: str) -> None:
    assert steps_of(f"torch.norm s 1 1 x0 y dim=(1) keepdim=True p={p}", inputs=[numbers(3, 5)]) == ["layer"]
