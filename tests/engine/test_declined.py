"""What a lowering asks, and declines without."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kuiper.engine.builder import Builder
from kuiper.engine.declined import Declined, answer_of, axis_of, common_shape, known_examples
from kuiper.engine.step import MAX_NDIM
from kuiper.errors import ShapeError
from tests.engine.machines import KERNELS


def test_known_examples_are_constants_only() -> None:
    builder = Builder(KERNELS, KERNELS, {})
    known, unknown = builder.python_value(3, constant=True), builder.python_value(4)
    assert known_examples([known, known]) == [3, 3]
    for values in ([known, unknown], [builder.rows((2,))]):
        with pytest.raises(Declined):
            known_examples(values)


def test_answer_of_declines_what_the_layer_refuses_and_raises_mistakes() -> None:
    def layer(error: Exception) -> Any:
        def forward(x: Any) -> Any:
            raise error

        return SimpleNamespace(forward=forward)

    with pytest.raises(Declined):
        answer_of(layer(ShapeError("nn.ReLU 'act'", "two axes", "three")), 1)
    with pytest.raises(TypeError):
        answer_of(layer(TypeError("no")), 1)


@pytest.mark.parametrize(("dim", "rank"), [(2, 2), (-3, 2), (0, 0)])
def test_axis_of_declines_axes_that_are_not_there(dim: int, rank: int) -> None:
    assert [axis_of(one, 2) for one in (-2, -1, 0, 1)] == [0, 1, 0, 1]
    with pytest.raises(Declined):
        axis_of(dim, rank)


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((1,) * (MAX_NDIM + 1), (2,))])
def test_common_shape_declines_what_does_not_broadcast_or_has_too_many_axes(shapes: Any) -> None:
    with pytest.raises(Declined):
        common_shape(*shapes)


@pytest.mark.parametrize("example", [np.zeros(3, np.float64), np.zeros((0, 2), np.float32), 3.0])
def test_on_arena_declines_what_is_no_float32_tensor(example: Any) -> None:
    builder = Builder(KERNELS, KERNELS, {})
    with pytest.raises(Declined):
        builder.on_arena(builder.python_value(example))
    with pytest.raises(Declined):
        builder.image_of(builder.typed((1, 2, 3, 4), np.dtype(np.int64)))
