"""Exercise 5.3: letterbox, and the way back.

A detector takes pictures of one size, and what is round must stay round: stretching is no choice. So the picture is
scaled as far as it fits, both ways alike, and the rest is filled with grey, half on either side. Like a wide film on an
old television set. A picture 3 high and 6 wide, for a network that takes 8 x 8:

    scale = min(8 / 3, 8 / 6) = 1.333          . . . . . . . .      2 rows of grey
    new size: 4 high, 8 wide                   . . . . . . . .
    rest: 8 - 4 = 4 rows, half of them         # # # # # # # #      top = 2
    above: top = 2, left = 0                   # # # # # # # #      left = 0
                                               # # # # # # # #
                                               # # # # # # # #
                                               . . . . . . . .
                                               . . . . . . . .      2 rows of grey

What the network finds, it finds in the letterbox. The inverse brings its boxes home to the photo.
"""

from __future__ import annotations

import numpy as np


def fit(height: int, width: int, box_height: int, box_width: int) -> tuple[float, int, int, int, int]:
    """How a picture height x width goes into a letterbox: (scale, new height, new width, top, left).

        scale         the same for both directions, as large as fits; a small picture is enlarged
        new sizes     rounded with Python's ``round``, but never below 1
        top, left     half of the rows and columns that are left over; of an odd number the one more goes below, or
                      to the right

    >>> fit(10, 20, 8, 8)
    (0.4, 4, 8, 2, 0)
    """
    # BEGIN SOLUTION
    scale = min(box_height / height, box_width / width)
    new_height, new_width = max(round(height * scale), 1), max(round(width * scale), 1)
    return scale, new_height, new_width, (box_height - new_height) // 2, (box_width - new_width) // 2
    # END SOLUTION


def nearest(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """The picture (h, w, c) at another size; each new pixel is a copy of an old one. (This one is given.)"""
    rows = np.arange(height) * image.shape[0] // height
    columns = np.arange(width) * image.shape[1] // width
    return image[rows][:, columns]


def letterbox(
    image: np.ndarray, box_height: int, box_width: int, fill: int = 114
) -> tuple[np.ndarray, float, int, int]:
    """The picture (h, w, c) in its letterbox (box_height, box_width, c), and what the way back needs: scale, top, left.

    The picture is resized with ``nearest`` and keeps its dtype; all around it is ``fill``.

    >>> box, scale, top, left = letterbox(np.array([[[1], [2]]], np.uint8), 3, 2)
    >>> box[:, :, 0].tolist(), scale, top, left
    ([[114, 114], [1, 2], [114, 114]], 1.0, 1, 0)
    """
    # BEGIN SOLUTION
    scale, height, width, top, left = fit(*image.shape[:2], box_height, box_width)
    box = np.full((box_height, box_width, image.shape[2]), fill, image.dtype)
    box[top : top + height, left : left + width] = nearest(image, height, width)
    return box, scale, top, left
    # END SOLUTION


def to_photo(boxes: np.ndarray, scale: float, top: int, left: int, height: int, width: int) -> np.ndarray:
    """Boxes in the letterbox as boxes on the photo that is height x width: a new array (n, 4), float32.

    A box is x1, y1, x2, y2: its left, upper, right and lower edge, in pixels. Undo what letterbox has done, the last
    thing first. A network's boxes may reach into the grey: what lies outside the photo is moved to its edge, so that
    afterwards every x is within 0 .. width and every y within 0 .. height.

    >>> to_photo(np.float32([[2, 3, 6, 20]]), 0.5, 2, 0, 30, 40).tolist()
    [[4.0, 2.0, 12.0, 30.0]]
    """
    # BEGIN SOLUTION
    moved = (boxes - np.float32([left, top, left, top])) / np.float32(scale)
    return np.clip(moved, 0, np.float32([width, height, width, height]))
    # END SOLUTION
