"""Exercise 5.1: from a photo to the numbers that a network takes.

    photo                resize                  centre crop             normalise
    uint8, any size  ->  shorter side = 40   ->  the middle 32 x 32  ->  (value / 255 - mean) / std
    (h, w, 3)            (40, 53, 3)             (32, 32, 3)             (1, 3, 32, 32)

A network that was trained on one kind of numbers answers nonsense on another kind, and never complains. Half a pixel, a
forgotten 255, red and blue swapped: each costs some per cent of accuracy, and no error message. So every step has an
exact rule here.

Pictures are arrays (height, width, channels), networks take (batch, channels, height, width).
"""

from __future__ import annotations

import numpy as np


def neighbours(length: int, new_length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pixel of a resized axis, the two old pixels it lies between, and how far it is from the first.

    A pixel is a little square: pixel 0 reaches from 0 to 1 and has its centre at 0.5. When ``length`` pixels become
    ``new_length``, each new centre falls on some place of the old axis. With centres counted as 0, 1, 2 ... again, that
    is

        place = (i + 0.5) * length / new_length - 0.5        but not before 0, and not behind length - 1

    Compute it in float64 and in this order. If length / new_length is divided first, it is rounded first, and a place that
    is exactly 2 can become 1.9999999999999998, which lies between other pixels.

    Three arrays of length ``new_length`` come back, all of integers but the last:

        before      the pixel at or before the place
        after       the next one (where there is none: the last pixel)
        fraction    the place minus before, from 0 to 1; float32

    Two pixels become four: the places are -0.25 (so 0), 0.25, 0.75, and 1.25 (so 1).

    >>> before, after, fraction = neighbours(2, 4)
    >>> before.tolist(), after.tolist(), fraction.tolist()
    ([0, 0, 0, 1], [1, 1, 1, 1], [0.0, 0.25, 0.75, 0.0])
    """
    # BEGIN SOLUTION
    place = (np.arange(new_length) + 0.5) * length / new_length - 0.5
    place = np.clip(place, 0, length - 1)
    before = np.floor(place).astype(np.int64)
    after = np.minimum(before + 1, length - 1)
    return before, after, (place - before).astype(np.float32)
    # END SOLUTION


def resize(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """The picture (h, w, c) at another size by bilinear interpolation: (height, width, c), float32, not rounded.

    Each new pixel lies between two old rows and two old columns. Mix the two rows by the fraction of the row, then the
    two columns by the fraction of the column: a + (b - a) * fraction, for each channel by itself. ``image`` may be
    uint8, and uint8 numbers are a trap: in them 3 - 5 is 254.

    >>> resize(np.array([[[0], [100]]], np.uint8), 1, 4)[0, :, 0].tolist()
    [0.0, 25.0, 75.0, 100.0]
    """
    # BEGIN SOLUTION
    top, bottom, down = neighbours(image.shape[0], height)
    left, right, across = neighbours(image.shape[1], width)
    pixels = image.astype(np.float32)
    rows = pixels[top] + (pixels[bottom] - pixels[top]) * down[:, None, None]
    return rows[:, left] + (rows[:, right] - rows[:, left]) * across[:, None]
    # END SOLUTION


def centre_crop(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """The middle of the picture (h, w, c): (height, width, c), the numbers as they are.

    As much is cut off at the top as at the bottom, and on the left as on the right. Where an odd number of rows or
    columns has to go, the one more goes from the bottom, or from the right.

    >>> centre_crop(np.arange(5).reshape(1, 5, 1), 1, 2).ravel().tolist()
    [1, 2]

    Raises
    ------
    ValueError
        If the picture is smaller in either direction; the message has the picture's size in it, like "3x5" (height
        first).
    """
    # BEGIN SOLUTION
    top, left = (image.shape[0] - height) // 2, (image.shape[1] - width) // 2
    if top < 0 or left < 0 or height > image.shape[0] or width > image.shape[1]:
        got = f"{image.shape[0]}x{image.shape[1]}"
        raise ValueError(f"centre_crop: expected a picture of at least {height} by {width}, got {got}")
    return image[top : top + height, left : left + width]
    # END SOLUTION


def normalise(image: np.ndarray, mean: tuple[float, ...], std: tuple[float, ...]) -> np.ndarray:
    """The picture (h, w, c) as a network's input: (1, c, h, w), float32, without gaps in memory.

    Each value, 0 to 255, is brought to 0 to 1; then the mean of its channel is taken away; then what is left is divided
    by the channel's standard deviation. ``mean`` and ``std`` have one number for each channel.

    One pixel, red 255, green 0, blue 51:

    >>> pixel = np.array([[[255, 0, 51]]], np.uint8)
    >>> normalise(pixel, (0.5, 0.5, 0), (0.5, 0.25, 1)).round(3).tolist()
    [[[[1.0]], [[-2.0]], [[0.20000000298023224]]]]
    """
    # BEGIN SOLUTION
    values = (image.astype(np.float32) / 255 - np.float32(mean)) / np.float32(std)
    return np.ascontiguousarray(values.transpose(2, 0, 1)[None])
    # END SOLUTION


def preprocess(
    image: np.ndarray, shorter: int, size: int, mean: tuple[float, ...], std: tuple[float, ...]
) -> np.ndarray:
    """All of it: resize until the shorter side is ``shorter``, take the middle ``size`` x ``size``, normalise.

    The longer side keeps its proportion; what is behind its point is cut off, not rounded. A picture 3 high and 5 wide
    with ``shorter=2`` becomes 2 high and 3 wide: 5 * 2 / 3 = 3.33. Use integers only: 49 times the float 1 / 49 is
    0.9999999999999999, which becomes 0 when it is cut off.

    >>> photo = np.zeros((3, 5, 3), np.uint8)
    >>> preprocess(photo, 2, 1, (0, 0.5, 0), (1, 1, 1)).ravel().tolist()
    [0.0, -0.5, 0.0]
    """
    # BEGIN SOLUTION
    h, w = image.shape[:2]
    small = resize(image, h * shorter // min(h, w), w * shorter // min(h, w))
    return normalise(centre_crop(small, size, size), mean, std)
    # END SOLUTION
