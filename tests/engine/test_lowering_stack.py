"""Stacks in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (2, 3, 5, 4)])
def test_stack_copies_each_input(shape: tuple[int, ...]) -> None:
    for dim in range(-len(shape) - 1, len(shape) + 1):
        line = f"torch.stack s 3 1 x0 x1 x0 y dim={dim}"
        assert steps_of(line, inputs=[numbers(*shape), numbers(*shape, seed=1)]) == ["copy"] * 3
