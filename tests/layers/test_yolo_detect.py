from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
from kuiper.layers import create
from kuiper.layers.operators.yolo_detect import cell_corners
from tests.layers.one_operator import operator

TYPE = "models.yolo.Detect"
ANCHORS = np.float32([[[10, 13], [16, 30]], [[116, 90], [156, 198]]])
STRIDES = np.float32([8, 16])
CHANNELS = (3, 4)
VALUES = 6
rng = np.random.default_rng(7)
WEIGHTS = {f"m.{i}.weight": rng.normal(size=(2 * VALUES, c, 1, 1)).astype(np.float32) for i, c in enumerate(CHANNELS)}
WEIGHTS |= {f"m.{i}.bias": rng.normal(size=2 * VALUES).astype(np.float32) for i in range(2)}
WEIGHTS |= {"pnnx_7": STRIDES, "pnnx_3": ANCHORS[:, None, :, None, None, :]}
MAPS = [rng.normal(size=shape).astype(np.float32) for shape in ((2, 3, 2, 3), (2, 4, 1, 2))]


def head(weights: dict[str, np.ndarray] = WEIGHTS, ranks: tuple[int, ...] = (3,)) -> RuntimeOperator:
    """A head with two levels, and outputs that the file declares with this many axes."""
    return replace(
        operator(TYPE, weights),
        inputs=[RuntimeOperand(str(i), i, None, DataType.F32) for i in range(2)],
        outputs=[RuntimeOperand(str(i), i, (None,) * rank, DataType.F32) for i, rank in enumerate(ranks)],
    )


def box_by_hand(level: int, image: int, anchor: int, row: int, column: int) -> list[float]:
    """One box, number by number, as the paper's formula says."""
    weight = WEIGHTS[f"m.{level}.weight"][anchor * VALUES : (anchor + 1) * VALUES, :, 0, 0].astype(float)
    z = weight @ MAPS[level][image, :, row, column] + WEIGHTS[f"m.{level}.bias"][anchor * VALUES :][:VALUES]
    s = [1 / (1 + math.exp(-number)) for number in z]
    x, y = (2 * s[0] - 0.5 + column) * STRIDES[level], (2 * s[1] - 0.5 + row) * STRIDES[level]
    w, h = ((2 * s[2 + i]) ** 2 * ANCHORS[level, anchor, i] for i in range(2))
    return [x, y, w, h, *s[4:]]


def test_detect_makes_boxes_level_by_level_anchor_by_anchor_row_by_row() -> None:
    boxes = create(head()).forward(*MAPS)
    assert boxes.shape == (2, 2 * 6 + 2 * 2, VALUES)
    places = [(0, a, r, c) for a in range(2) for r in range(2) for c in range(3)]
    places += [(1, a, 0, c) for a in range(2) for c in range(2)]
    for image in range(2):
        expected = [box_by_hand(level, image, a, r, c) for level, a, r, c in places]
        np.testing.assert_allclose(boxes[image], expected, rtol=1e-5)


def test_detect_takes_maps_of_any_size_and_none_of_its_inputs_change() -> None:
    maps = [np.zeros((1, 3, 5, 7), np.float32), np.zeros((1, 4, 1, 1), np.float32)]
    assert create(head()).forward(*maps).shape == (1, 2 * 35 + 2, VALUES)
    assert not maps[0].any()


def test_detect_takes_maps_of_any_memory_order() -> None:
    channels_last = [np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) for x in MAPS]
    np.testing.assert_array_equal(create(head()).forward(*channels_last), create(head()).forward(*MAPS))


def test_detect_returns_the_maps_before_the_sigmoid_if_the_file_does() -> None:
    four_axes, five_axes, boxes = create(head(ranks=(4, 5, 3))).forward(*MAPS)
    np.testing.assert_array_equal(boxes, create(head()).forward(*MAPS))
    assert four_axes.shape == (2, 2 * VALUES, 2, 3)
    assert five_axes.shape == (2, 2, 1, 2, VALUES)
    convolved = np.einsum("oc,nchw->nohw", WEIGHTS["m.0.weight"][:, :, 0, 0], MAPS[0])
    np.testing.assert_allclose(four_axes, convolved + WEIGHTS["m.0.bias"][:, None, None], rtol=1e-4, atol=1e-5)


def test_detect_refuses_outputs_that_it_cannot_tell_apart() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"expected one output with 3 axes, and 2 maps with 4 or 5"):
        create(head(ranks=(3, 3)))
    with pytest.raises(UnsupportedOperatorError, match=r"expected one output with 3 axes, and 2 maps with 4 or 5"):
        create(head(ranks=(5, 3)))


def test_detect_refuses_maps_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=rf"{TYPE} 'it': expected map \(2, 4, h, w\), got \(2, 3, 2, 3\)"):
        create(head()).forward(MAPS[0], MAPS[0])
    with pytest.raises(ShapeError, match=r"expected map \(2, 4, h, w\), got \(1, 4, 1, 2\)"):
        create(head()).forward(MAPS[0], MAPS[1][:1])


def test_detect_refuses_weights_that_do_not_fit_the_anchors() -> None:
    with pytest.raises(ParameterError, match=r"expected m.0: weight \(v x 2 anchors, c, 1, 1\)"):
        create(head({**WEIGHTS, "m.0.weight": np.zeros((7, 3, 1, 1)), "m.0.bias": np.zeros(7)}))
    with pytest.raises(ParameterError, match=r"expected a weight 'm.1.bias'"):
        create(head({key: array for key, array in WEIGHTS.items() if key != "m.1.bias"}))


def test_cell_corners_lie_half_a_cell_before_their_numbers() -> None:
    assert cell_corners(2, 3)[1, 2].tolist() == [1.5, 0.5]


def test_detect_counts_the_convolutions() -> None:
    shapes = [x.shape for x in MAPS]
    assert create(head()).flops(shapes, [(2, 16, VALUES)]) == 2 * 2 * 12 * (3 * 6 + 4 * 2)
