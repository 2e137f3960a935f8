"""What a cell of YOLO's head says: four channels, and the box that they become."""

from __future__ import annotations

from math import exp

from kuiper.course.pictures.picture import Picture, box

_ZOOM = 8.0  # pixels on the screen for each of the network's
_AROUND = 2  # cells that are shown to each side


def cell_box(
    channels: tuple[float, float, float, float], column: int, row: int, stride: int, anchor: tuple[int, int]
) -> Picture:
    """The grid around a cell, the cell in blue, and in orange the box that its channels x, y, w, h stand for.

    ``anchor`` is (width, height) in pixels. The formulas are those of YOLOv5.

    >>> cell_box((0, 0, 0, 0), column=3, row=1, stride=8, anchor=(20, 12)).svg().count("#e69f00")
    1
    """
    x, y, w, h = (1 / (1 + exp(-channel)) for channel in channels)
    width, height = (2 * w) ** 2 * anchor[0], (2 * h) ** 2 * anchor[1]
    centre_x, centre_y = (2 * x - 0.5 + column) * stride, (2 * y - 0.5 + row) * stride
    left, top = (column - _AROUND) * stride, (row - _AROUND) * stride
    cell = stride * _ZOOM
    count = 2 * _AROUND + 1
    parts = [box(cell * i, cell * j, cell, cell) for j in range(count) for i in range(count)]
    corner_x, corner_y = (centre_x - width / 2 - left) * _ZOOM, (centre_y - height / 2 - top) * _ZOOM
    parts.append(box(corner_x, corner_y, width * _ZOOM, height * _ZOOM, "#e69f00", strong=True))
    parts.append(box(cell * _AROUND, cell * _AROUND, cell, cell, "#0072b2", strong=True))
    middle = f'cx="{(centre_x - left) * _ZOOM:.1f}" cy="{(centre_y - top) * _ZOOM:.1f}"'
    parts.append(f'<circle class="kp-ink" {middle} r="3"/>')
    return Picture(cell * count, cell * count, "".join(parts))
