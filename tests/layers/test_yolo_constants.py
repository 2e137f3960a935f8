from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.errors import ParameterError, UnsupportedOperatorError
from kuiper.layers.yolo_constants import anchors_of, check_grids, strides_of
from tests.layers.one_operator import operator

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

STRIDES = np.float32([8, 16])
ANCHORS = np.float32([[[10, 13], [16, 30]], [[116, 90], [156, 198]]])


def head(*constants: np.ndarray) -> RuntimeOperator:
    """A head whose file holds these tensors, under names that say nothing, and a weight that must not be mistaken."""
    named = {f"pnnx_{i}": constant for i, constant in enumerate(constants)}
    return operator("models.yolo.Detect", {"m.0.bias": np.ones(2, np.float32), **named})


def spread(level: int, h: int, w: int) -> np.ndarray:
    return np.broadcast_to(ANCHORS[level][None, :, None, None], (1, 2, h, w, 2))


def grid(start: float, h: int, w: int) -> np.ndarray:
    rows, columns = np.mgrid[:h, :w]
    return (np.stack([columns, rows], -1)[None, None] + start).astype(np.float32)


def test_strides_are_the_tensor_with_one_number_for_each_level() -> None:
    assert strides_of(head(grid(0, 2, 2), STRIDES), 2).tolist() == [8, 16]


def test_strides_that_are_missing() -> None:
    with pytest.raises(ParameterError, match=r"expected strides, a tensor of shape \(2\), got \(1, 1, 2, 2, 2\)"):
        strides_of(head(grid(0, 2, 2)), 2)


@pytest.mark.parametrize(
    "constants",
    [
        (ANCHORS[:, None, :, None, None, :],),
        (ANCHORS / STRIDES[:, None, None],),
        (spread(1, 2, 3), grid(-0.5, 4, 6), spread(0, 4, 6), grid(-0.5, 2, 3)),
        (grid(0, 1, 1), spread(1, 1, 1), spread(0, 1, 1)),  # equally many cells: larger boxes are of the coarser level
    ],
)
def test_anchors_in_every_form(constants: tuple[np.ndarray, ...]) -> None:
    np.testing.assert_allclose(anchors_of(head(*constants), STRIDES), ANCHORS, rtol=1e-6)


def test_anchors_follow_the_order_of_the_strides() -> None:
    constants = (spread(0, 4, 6), spread(1, 2, 3))
    np.testing.assert_array_equal(anchors_of(head(*constants), STRIDES[::-1]), ANCHORS[::-1])


def test_anchors_that_are_missing() -> None:
    expected = r"expected anchors of 2 levels, \(1, anchors, h, w, 2\) each, got \(1, 2, 4, 6, 2\), \(1, 1, 4, 6, 2\)"
    with pytest.raises(ParameterError, match=expected):
        anchors_of(head(spread(0, 4, 6), grid(-0.5, 4, 6)), STRIDES)


def test_check_grids_knows_two_conventions() -> None:
    check_grids(head(grid(0, 1, 1), grid(-0.5, 2, 3), spread(0, 2, 2), STRIDES))
    with pytest.raises(UnsupportedOperatorError, match=r"expected grids that start at 0 or -0.5, got \(-1.0, -1.0\)"):
        check_grids(head(grid(-1, 2, 3)))
