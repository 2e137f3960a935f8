"""What YOLOv5 is trained by: which cells and anchors answer for a box, and how far off they are.

A *map* is what the head's 1x1 convolution says at one stride: (b, 3 anchors x (5 + classes), rows, columns).
The truth is a table (n, 6): image, label, and x, y, width, height of the box in pixels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from kuiper.models.zoo.architectures.yolov5 import Detect

MAX_RATIO = 2.5  # of a box's sides to its anchor's; the head could reach 4
BALANCE = (4.0, 1.0, 0.4)  # of objectness at the three strides: the finer the map, the more of its cells are empty
BOX_GAIN, OBJECT_GAIN, CLASS_GAIN = 1.0, 2.0, 1.5


class Assigned(NamedTuple):
    """The k predictions of a map that answer for a box: where they are, and what they should say.

    ``boxes`` (k, 4) are x, y from the cell's corner, width and height, in units of the cell.
    """

    images: torch.Tensor
    anchors: torch.Tensor
    rows: torch.Tensor
    columns: torch.Tensor
    boxes: torch.Tensor
    labels: torch.Tensor


def assign(truth: torch.Tensor, anchors: torch.Tensor, stride: float, shape: tuple[int, int]) -> Assigned:
    """The cells and anchors of a map (rows, columns) that answer for the boxes of ``truth``.

    Anchors (3, 2), in units of the cell: all whose width and height are within ``MAX_RATIO`` of the box's. Cells:
    the one in which the box's centre lies, and the nearer neighbour in each direction, from where the head reaches it.
    """
    boxes = truth[:, 2:] / stride
    ratio = boxes[:, None, 2:] / anchors
    which, anchor = (torch.maximum(ratio, 1 / ratio).amax(2) < MAX_RATIO).nonzero(as_tuple=True)
    centres = boxes[which, :2]
    own = centres.floor()
    side = torch.where(centres - own < 0.5, -1, 1)
    across, along = torch.tensor([[1, 0], [0, 1]])
    cells = torch.cat((own, own + side * across, own + side * along))
    is_inside = ((cells >= 0) & (cells < torch.tensor(shape[::-1]))).all(1)
    cells, which, anchor = cells[is_inside], which.repeat(3)[is_inside], anchor.repeat(3)[is_inside]
    targets = torch.cat((boxes[which, :2] - cells, boxes[which, 2:]), 1)
    columns, rows = cells.long().unbind(1)
    images, labels = truth[which, :2].long().unbind(1)
    return Assigned(images, anchor, rows, columns, targets, labels)


def complete_iou(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """CIoU of boxes (k, 4), each x, y of the centre, width, height (Zheng et al., 2020, "Distance-IoU Loss").

    The overlap, less how far the centres are apart, less how far the proportions differ.
    """
    corners = [(box[:, :2] - box[:, 2:] / 2, box[:, :2] + box[:, 2:] / 2) for box in (first, second)]
    (low1, high1), (low2, high2) = corners
    shared = (torch.minimum(high1, high2) - torch.maximum(low1, low2)).clamp(0).prod(1)
    union = first[:, 2:].prod(1) + second[:, 2:].prod(1) - shared
    iou = shared / (union + 1e-7)
    diagonal = (torch.maximum(high1, high2) - torch.minimum(low1, low2)).square().sum(1) + 1e-7
    distance = (first[:, :2] - second[:, :2]).square().sum(1)
    angles = [torch.atan(box[:, 2] / (box[:, 3] + 1e-7)) for box in (first, second)]
    shape = 4 / math.pi**2 * (angles[0] - angles[1]).square()
    with torch.no_grad():
        weight = shape / (shape - iou + 1 + 1e-7)
    return iou - distance / diagonal - weight * shape


def loss(maps: list[torch.Tensor], truth: torch.Tensor, head: Detect) -> torch.Tensor:
    """How far three maps are from the truth: boxes by CIoU, objectness and classes by cross-entropy."""
    total = torch.zeros(())
    for i, (x, balance) in enumerate(zip(maps, BALANCE, strict=True)):
        b, _, h, w = x.shape
        cells = x.float().view(b, 3, head.no, h, w).permute(0, 1, 3, 4, 2)
        found = assign(truth, head.anchors[i], float(head.stride[i]), (h, w))
        objectness = torch.zeros((b, 3, h, w))
        if len(found.labels):
            said = cells[found.images, found.anchors, found.rows, found.columns]
            s = said[:, :4].sigmoid()
            boxes = torch.cat((s[:, :2] * 2 - 0.5, (s[:, 2:] * 2) ** 2 * head.anchors[i][found.anchors]), 1)
            overlap = complete_iou(boxes, found.boxes)
            objectness[found.images, found.anchors, found.rows, found.columns] = overlap.detach().clamp(0)
            classes = functional.one_hot(found.labels, head.no - 5).float()
            total = total + BOX_GAIN * (1 - overlap).mean()
            total = total + CLASS_GAIN * functional.binary_cross_entropy_with_logits(said[:, 5:], classes)
        empty = functional.binary_cross_entropy_with_logits(cells[..., 4], objectness)
        total = total + OBJECT_GAIN * balance * empty
    return total
