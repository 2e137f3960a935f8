"""YOLOv5's loss: which predictions answer for a box, and that following it downhill leads to the truth."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from kuiper.models.zoo.architectures.yolov5 import Detect  # noqa: E402
from zoo.yolo_loss import assign, complete_iou, loss  # noqa: E402

pytestmark = pytest.mark.torch

ANCHORS = torch.tensor([[1.0, 1.0], [2.0, 2.0], [8.0, 8.0]])  # in cells
SHAPE = (4, 5)  # rows and columns of a map at stride 8


def places(*box: float) -> set[tuple[int, int, int]]:
    """Anchor, row and column of all that answer for one box x, y, w, h in pixels."""
    found = assign(torch.tensor([[0, 3, *box]]), ANCHORS, 8, SHAPE)
    return set(zip(found.anchors.tolist(), found.rows.tolist(), found.columns.tolist(), strict=True))


@pytest.mark.parametrize(
    ("centre", "cells"),
    [
        ((18, 10), {(1, 2), (1, 1), (0, 2)}),  # 2.25, 1.25: the left and the upper neighbour
        ((22, 14), {(1, 2), (1, 3), (2, 2)}),  # 2.75, 1.75: the right and the lower one
        ((18, 14), {(1, 2), (1, 1), (2, 2)}),
        ((1, 1), {(0, 0)}),  # the neighbours would lie outside
        ((39, 31), {(3, 4)}),
    ],
)
def test_assign_takes_the_cell_and_its_nearer_neighbours(
    centre: tuple[float, float], cells: set[tuple[int, int]]
) -> None:
    assert places(*centre, 8, 8) == {(anchor, *cell) for anchor in (0, 1) for cell in cells}


@pytest.mark.parametrize(
    ("size", "anchors"),
    [((8, 8), {0, 1}), ((24, 24), {1}), ((64, 64), {2}), ((5, 24), set()), ((3, 3), set()), ((30, 30), {1, 2})],
)
def test_assign_takes_anchors_of_nearly_that_size(size: tuple[float, float], anchors: set[int]) -> None:
    assert {place[0] for place in places(20.5, 12.5, *size)} == anchors


def test_assign_says_what_each_should_answer() -> None:
    truth = torch.tensor([[0, 3, 18, 10, 8, 12], [1, 7, 18, 10, 64, 64]], dtype=torch.float32)
    found = assign(truth, ANCHORS, 8, SHAPE)
    assert len(found.labels) == 3 * 2 + 3 * 1
    assert found.labels.tolist() == [3 if image == 0 else 7 for image in found.images.tolist()]
    for box, row, column, image in zip(found.boxes, found.rows, found.columns, found.images, strict=True):
        assert (box[:2] + torch.stack((column, row))).tolist() == [2.25, 1.25]
        assert box[2:].tolist() == ([1, 1.5] if image == 0 else [8, 8])
        assert ((box[:2] > -0.5) & (box[:2] < 1.5)).all()  # what the head can reach: 2 sigmoid - 0.5


def test_assign_takes_no_truth() -> None:
    assert len(assign(torch.zeros(0, 6), ANCHORS, 8, SHAPE).labels) == 0


def test_complete_iou_by_hand() -> None:
    first = torch.tensor([[5.0, 5, 4, 2], [0, 0, 2, 2], [0, 0, 2, 2], [1, 1, 2, 2]])
    second = torch.tensor([[5.0, 5, 4, 2], [4, 0, 2, 2], [1, 0, 2, 2], [1, 1, 2, 4]])
    iou = 4 / 8
    shape = 4 / math.pi**2 * (math.atan(1) - math.atan(0.5)) ** 2
    expected = [1, -16 / (36 + 4), 2 / 6 - 1 / (9 + 4), iou - shape * shape / (shape - iou + 1)]
    assert complete_iou(first, second).tolist() == pytest.approx(expected, abs=1e-5)


def test_downhill_lies_the_truth() -> None:
    """Maps that are free to say anything end up saying, by way of the head, the boxes and labels of the truth."""
    head = Detect(num_classes=2, channels=(21, 21, 21))
    for convolution in head.m:
        torch.nn.init.dirac_(convolution.weight)
        torch.nn.init.zeros_(convolution.bias)
    truth = torch.tensor([[0, 1, 21.0, 34.0, 12.0, 18.0], [1, 0, 40.0, 30.0, 40.0, 50.0]])
    maps = [torch.zeros(2, 21, 64 // stride, 64 // stride, requires_grad=True) for stride in (8, 16, 32)]
    optimizer = torch.optim.Adam(maps, lr=0.3)
    start = loss(maps, truth, head).item()
    for _ in range(80):
        optimizer.zero_grad()
        wrong = loss(maps, truth, head)
        wrong.backward()
        optimizer.step()
    assert wrong.item() < 0.1 * start
    with torch.no_grad():
        rows = head(maps)
    for image, label, *box in truth.tolist():
        sure = rows[int(image)][rows[int(image), :, 4] > 0.5]
        assert len(sure) >= 3
        assert (sure[:, 5:].argmax(1) == label).all()
        assert (sure[:, :4].mean(0) - torch.tensor(box)).abs().max() < 2  # pixels


def test_loss_without_truth_asks_for_silence() -> None:
    head = Detect(num_classes=2, channels=(21, 21, 21))
    quiet, loud = ([torch.full((1, 21, side, side), value) for side in (8, 4, 2)] for value in (-9.0, 9.0))
    nothing = torch.zeros(0, 6)
    assert loss(quiet, nothing, head) < 0.01 < 10 < loss(loud, nothing, head)
