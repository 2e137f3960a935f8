"""Rolls in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (2, 5, 7, 3)])
@pytest.mark.parametrize(
    ("dims", "shifts", "copies"),
    [((1,), (1,), 2), ((2, 3), (-2, 2), 4), ((0, 1, 2, 3), (1, 1, 1, 1), 16), ((2,), (0,), 1), ((-1, -1), (2, 6), 2)],
)
def test_roll_is_a_copy_for_each_piece(
    shape: tuple[int, ...], dims: tuple[int, ...], shifts: tuple[int, ...], copies: int
) -> None:
    text = f"dims=({','.join(map(str, dims))}) shifts=({','.join(map(str, shifts))})"
    assert steps_of(f"torch.roll roll 1 1 x0 y {text}", inputs=[numbers(*shape)]) == ["copy"] * copies


def test_roll_of_everything_is_left_to_the_layer() -> None:
    assert steps_of("torch.roll roll 1 1 x0 y shifts=(3)", inputs=[numbers(2, 5)]) == ["layer"]
