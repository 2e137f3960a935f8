"""Softmaxes in a plan, along every axis of every layout."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

SHAPES = [(7,), (3, 40), (2, 3, 17), (2, 5, 3, 4), (1, 2, 3, 2, 5)]


@pytest.mark.parametrize("type_name", ["nn.Softmax", "nn.LogSoftmax"])
@pytest.mark.parametrize(("shape", "dim"), [(shape, dim) for shape in SHAPES for dim in range(len(shape))])
def test_softmax_is_one_step_along_every_axis(type_name: str, shape: tuple[int, ...], dim: int) -> None:
    (step,) = steps_of(f"{type_name} s 1 1 x0 y dim={dim - len(shape) * (dim % 2)}", inputs=[3 * numbers(*shape)])
    assert step == ("softmax" if type_name == "nn.Softmax" else "log-softmax")


@pytest.mark.parametrize("shape", SHAPES[:4])
def test_softmax_without_dim_takes_torchs_old_axis(shape: tuple[int, ...]) -> None:
    assert steps_of("F.softmax s 1 1 x0 y $input=x0", inputs=[numbers(*shape)]) == ["softmax"]


@pytest.mark.parametrize("shape", [(5, 3, 4), (2, 5, 3, 4), (2, 1, 3, 4)])
def test_softmax2d_is_over_channels(shape: tuple[int, ...]) -> None:
    assert steps_of("nn.Softmax2d s 1 1 x0 y", inputs=[numbers(*shape)]) == ["softmax"]


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_softmax_of_a_permuted_image(dim: int) -> None:
    lines = ("nn.ReLU r 1 1 x0 1", "Tensor.permute p 1 1 1 2 dims=(0,2,3,1)", f"nn.Softmax s 1 1 2 y dim={dim}")
    assert steps_of(*lines, inputs=[numbers(2, 20, 5, 3)]) == ["clip", "softmax"]


def test_softmax_of_infinities_and_nan_is_that_of_the_layer() -> None:
    x = numbers(5, 20)
    x[0, 3], x[1, 4], x[2] = np.nan, np.inf, -np.inf
    x[3, 5] = -np.inf
    assert steps_of("nn.Softmax s 1 1 x0 y dim=1", inputs=[x]) == ["softmax"]
