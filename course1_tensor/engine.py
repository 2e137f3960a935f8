"""What your engine can do after this course: it makes a tensor of a photo. ``kuiper race tensor``

A picture file has its numbers pixel by pixel: red, green and blue of the first pixel, then those of the second. A network
wants a plane for each colour, normalised, and a training program adds a border. Nothing here needs to be edited: it is
your seven exercises, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kuiper import Tensor
from kuiper.course import load_exercise
from kuiper.language import _
from kuiper.models import bundled_photo
from kuiper.models.pictures.preprocess import read_image, resize

PIXELS = np.asarray(resize(read_image(bundled_photo()), (32, 32)), np.float32)
"""The photo (h, w, c), small enough for loops in Python; its numbers go from 0 to 255."""
STATISTICS = "0.4914, 0.4822, 0.4465\n0.2470, 0.2435, 0.2616\n"
"""Mean and standard deviation of each colour in CIFAR-10, as a text file has them."""
BORDER = (4, 4, 4, 4)


def own() -> Callable[[], list[np.ndarray]]:
    """The tensor, made by your exercises (or by the reference where one is not solved)."""
    strides = load_exercise("1.1").strides
    reading, arithmetic = load_exercise("1.2"), load_exercise("1.5")
    padding, flatten = load_exercise("1.3").padding, load_exercise("1.4").flatten
    axpy, parse_table = load_exercise("1.6", "fast").axpy, load_exercise("1.7").parse_table

    def run() -> list[np.ndarray]:
        h, w, c = PIXELS.shape
        down, right, colour = strides(PIXELS.shape)
        row = reading.values(PIXELS.ravel(), (c, h, w), (colour, down, right))  # plane by plane
        scaled = np.empty(row.size, np.float32)
        axpy(1 / 255, row, np.zeros(row.size, np.float32), scaled)
        memory, shape = reading.reshape(scaled, scaled.shape, strides(scaled.shape), (c, h, -1))
        mean, deviation = (numbers.reshape(c, 1, 1) for numbers in parse_table(STATISTICS))
        planes = arithmetic.multiply(arithmetic.add(memory.reshape(shape), -mean), 1 / deviation)
        return [flatten(padding(planes, BORDER))]

    return run


def reference() -> Callable[[], list[np.ndarray]]:
    """The same with kuiper's tensor."""

    def run() -> list[np.ndarray]:
        mean, deviation = (
            Tensor([float(cell) for cell in line.split(",")]).reshape(3, 1, 1) for line in STATISTICS.splitlines()
        )
        planes = (Tensor(PIXELS).permute(2, 0, 1) / 255 - mean) / deviation
        return [planes.padding(BORDER).flatten().values()]

    return run


def words(answer: list[np.ndarray]) -> str:
    """What came out."""
    (row,) = answer
    said = _("a photo of 32 x 32 pixels with its border: {count} numbers from {least} to {most}")
    return said.format(count=row.size, least=f"{row.min():.2f}", most=f"{row.max():.2f}")
