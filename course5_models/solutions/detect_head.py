"""Exercise 5.4: the head of YOLO, from feature maps to boxes.

The network's last maps have no picture in them any more: every cell of a map says "around here I see this". One map
with stride 8 has a cell for every 8 x 8 pixels of the input, the next one with stride 16 sees larger things, and so on.

In every cell there are some anchors, typical boxes that were measured on the training data, and for each anchor the map
has v = 5 + classes channels, one anchor after the other:

    channel    0    1    2    3    4             5 ...           v    v + 1  ...
               x    y    w    h    is anything   is it class 0   x    y
              |------------------ anchor 0 ----------------|    |---- anchor 1 ...

With s = sigmoid(channel) = 1 / (1 + exp(-channel)), in the cell in column i and row j:

    x = (2 s - 0.5 + i) * stride              centre of the box in pixels: at most half a cell outside of its own
    y = (2 s - 0.5 + j) * stride
    w = (2 s)^2 * width of the anchor         size in pixels: up to four times the anchor
    h = (2 s)^2 * height of the anchor
    the others = s                            probabilities

A worked example: all channels 0, so every s is 0.5. The cell in column 3, row 1, stride 8, anchor 10 wide and 20 high
gives x = (1 - 0.5 + 3) * 8 = 28, the very middle of the cell; y = 12; w = 10; h = 20; all probabilities 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def decode(z: np.ndarray, anchors: np.ndarray, stride: float) -> np.ndarray:
    """The boxes of one map: (n, a * h * w, v), float32, each x, y, w, h, anything, classes.

        z         (n, a * v, h, w)    float32, the map as it leaves the last convolution
        anchors   (a, 2)              width and height in pixels
        stride                        pixels for each cell, in both directions

    The boxes are in this order: all cells of the first anchor, row by row, then all cells of the second anchor, ...

    Large numbers do no harm: sigmoid(200) is 1, sigmoid(-200) is 0.

    >>> decode(np.zeros((1, 6, 1, 2), np.float32), np.float32([[10, 20]]), 8).tolist()
    [[[4.0, 4.0, 10.0, 20.0, 0.5, 0.5], [12.0, 4.0, 10.0, 20.0, 0.5, 0.5]]]
    """
    # BEGIN SOLUTION
    n, channels, h, w = z.shape
    a = len(anchors)
    with np.errstate(over="ignore"):  # exp of a large number is infinity, and 1 / infinity is 0: just what is wanted
        boxes = 1 / (1 + np.exp(-z.astype(np.float32)))
    boxes = boxes.reshape(n, a, channels // a, h, w).transpose(0, 1, 3, 4, 2).copy()
    boxes[..., 0] = (2 * boxes[..., 0] - 0.5 + np.arange(w)) * stride
    boxes[..., 1] = (2 * boxes[..., 1] - 0.5 + np.arange(h)[:, None]) * stride
    boxes[..., 2:4] = (2 * boxes[..., 2:4]) ** 2 * anchors[:, None, None, :]
    return boxes.reshape(n, a * h * w, channels // a)
    # END SOLUTION


def detect(maps: Sequence[np.ndarray], anchors: Sequence[np.ndarray], strides: Sequence[float]) -> np.ndarray:
    """The boxes of all maps: those of the first map, then those of the second, ...: (n, all of them, v), float32.

    >>> maps = [np.zeros((2, 12, 4, 4), np.float32), np.zeros((2, 12, 2, 2), np.float32)]
    >>> detect(maps, [np.ones((2, 2))] * 2, [8, 16]).shape
    (2, 40, 6)

    Raises
    ------
    ValueError
        If there are not as many anchors and strides as maps, or if some map's channels cannot be cut into as many equal
        parts as it has anchors, 5 or more each. The message has "maps" or "channels".
    """
    # BEGIN SOLUTION
    if not len(maps) == len(anchors) == len(strides):
        raise ValueError(f"detect: expected as many anchors and strides as maps ({len(maps)})")
    for z, boxes in zip(maps, anchors):
        if z.shape[1] % len(boxes) != 0 or z.shape[1] // len(boxes) < 5:
            raise ValueError(f"detect: expected {len(boxes)} times 5 or more channels, got {z.shape[1]}")
    decoded = [decode(*level) for level in zip(maps, anchors, strides)]
    return np.concatenate(decoded, axis=1)
    # END SOLUTION


def candidates(boxes: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The boxes of one picture that are worth a look: (corners, scores, classes).

    ``boxes`` is (m, v), as detect gives it for one picture. The score of a box is the probability that anything is
    there times that of its likeliest class. Boxes whose score is above ``threshold`` (not equal) stay, in their order;
    k of them:

        corners   (k, 4)   float32    x1, y1, x2, y2: left, upper, right, lower edge, where boxes have centre and size
        scores    (k,)     float32
        classes   (k,)     int64      the likeliest class; of two that are equal the first

    >>> boxes = np.float32([[10, 20, 4, 8, 0.5, 0.25, 0.75], [1, 1, 2, 2, 0.5, 0.5, 0.25]])
    >>> corners, scores, classes = candidates(boxes, 0.25)
    >>> corners.tolist(), scores.tolist(), classes.tolist()
    ([[8.0, 16.0, 12.0, 24.0]], [0.375], [1])
    """
    # BEGIN SOLUTION
    scores = boxes[:, 4] * boxes[:, 5:].max(axis=1)
    classes = boxes[:, 5:].argmax(axis=1).astype(np.int64)
    centre, half = boxes[:, 0:2], boxes[:, 2:4] / 2
    corners = np.concatenate([centre - half, centre + half], axis=1)
    keep = scores > threshold
    return corners[keep], scores[keep], classes[keep]
    # END SOLUTION
