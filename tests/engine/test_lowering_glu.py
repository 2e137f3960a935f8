"""Gated linear units in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers


@pytest.mark.parametrize("shape", [(6,), (3, 34), (2, 6, 4), (2, 12, 4, 6)])
def test_glu_is_one_pass(shape: tuple[int, ...]) -> None:
    for dim in range(-len(shape), len(shape)):
        if shape[dim] % 2 == 0:
            assert steps_of(f"nn.GLU g 1 1 x0 y dim={dim}", inputs=[numbers(*shape)]) == ["sigmoid"]


def test_an_input_of_one_number_is_planned() -> None:
    assert "layer" not in steps_of("nn.Sigmoid s 1 1 x0 y", inputs=[numbers(1)])
