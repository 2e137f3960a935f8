"""What a cell of YOLO's head says: four channels, and the box that they become."""

from __future__ import annotations

from math import exp

from kuiper.course.pictures.picture import Picture, box, label

_ZOOM = 7.0  # pixels on the screen for each of the network's
_AFTER = 2  # cells that are shown to the right of the cell and below it
_EDGE = 22.0  # for the numbers of rows and columns


def cell_box(
    channels: tuple[float, float, float, float], column: int, row: int, stride: int, anchor: tuple[int, int]
) -> Picture:
    """A map's cells from its upper left corner on, one of them in blue, and in orange the box that its channels mean.

    Parameters
    ----------
    channels : x, y, w, h, as they leave the network
    column, row : the cell's place in the map; both are counted from 0, and written along the edges
    stride : pixels of the network's input for each cell
    anchor : (width, height) in pixels; it is drawn with a thin line around the middle of the cell

    The formulas are those of YOLOv5.

    >>> picture = cell_box((0, 0, 0, 0), column=3, row=1, stride=8, anchor=(12, 10))
    >>> picture.svg().count("<rect")  # 6 x 4 cells, cell, anchor, box, and the ground
    28
    """
    x, y, w, h = (1 / (1 + exp(-channel)) for channel in channels)
    width, height = (2 * w) ** 2 * anchor[0], (2 * h) ** 2 * anchor[1]
    centre_x, centre_y = (2 * x - 0.5 + column) * stride, (2 * y - 0.5 + row) * stride
    cell, columns, rows = stride * _ZOOM, column + 1 + _AFTER, row + 1 + _AFTER

    def around(x: float, y: float, width: float, height: float, fill: str = "", strong: bool = False) -> str:
        """A rectangle by its centre and size in the network's pixels."""
        left, top = _EDGE + (x - width / 2) * _ZOOM, _EDGE + (y - height / 2) * _ZOOM
        return box(left, top, width * _ZOOM, height * _ZOOM, fill, strong)

    middle_x, middle_y = (column + 0.5) * stride, (row + 0.5) * stride
    parts = [label(_EDGE + cell * (j + 0.5), 10, j, "kp-faint") for j in range(columns)]
    parts += [label(10, _EDGE + cell * (i + 0.5), i, "kp-faint") for i in range(rows)]
    parts += [box(_EDGE + cell * j, _EDGE + cell * i, cell, cell) for i in range(rows) for j in range(columns)]
    parts.append(around(middle_x, middle_y, stride, stride, "#0072b2"))
    parts.append(around(middle_x, middle_y, *anchor))
    parts.append(around(centre_x, centre_y, width, height, "#e69f00", strong=True))
    dot = f'cx="{_EDGE + centre_x * _ZOOM:.1f}" cy="{_EDGE + centre_y * _ZOOM:.1f}"'
    parts.append(f'<circle class="kp-ink" {dot} r="3"/>')
    return Picture(_EDGE + cell * columns, _EDGE + cell * rows, "".join(parts))
