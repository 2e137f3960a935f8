"""What else lies about in digit scenes: scribbles, letters that look like no digit, and filled shapes.

All are masks, pictures of mode L that say how much ink there is at each pixel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

if TYPE_CHECKING:
    import numpy.typing as npt

    from zoo.scene_background import Random

# Pens' paths in a square of 2 x 2. No B, D, G, I, J, L, N, O, P, Q, R, S, T, U, Y or Z: those can be read as digits.
LETTERS = {
    "A": ("02 10 22", "0.5,1.2 1.5,1.2"),
    "E": ("20 00 02 22", "01 1.6,1"),
    "F": ("20 00 02", "01 1.5,1"),
    "H": ("00 02", "20 22", "01 21"),
    "K": ("00 02", "20 01 22"),
    "M": ("02 00 11 20 22",),
    "V": ("00 12 20",),
    "W": ("00 0.5,2 10 1.5,2 20",),
    "X": ("00 22", "20 02"),
    "#": ("0.7,0 0.4,2", "1.6,0 1.3,2", "0,0.6 2,0.6", "0,1.4 2,1.4"),
    "*": ("10 12", "0,0.5 2,1.5", "2,0.5 0,1.5"),
    "=": ("0,0.6 2,0.6", "0,1.4 2,1.4"),
    "+": ("10 12", "01 21"),
}
FINER = 3  # masks are drawn this much larger and shrunk, for smooth edges


def letter(height: int, rng: Random) -> Image.Image:
    """One of ``LETTERS``, written with an unsteady hand."""
    strokes = LETTERS[sorted(LETTERS)[rng.integers(len(LETTERS))]]
    lean = rng.uniform(-0.3, 0.3)
    paths = []
    for stroke in strokes:
        points = np.array([_point(word) for word in stroke.split()])
        points += rng.normal(0, 0.06, points.shape)
        points[:, 0] += lean * (1 - points[:, 1])
        paths.append(points)
    return _draw(paths, height, rng)


def scribble(height: int, rng: Random) -> Image.Image:
    """A pen that runs to and fro, as when something is crossed out."""
    turns = int(rng.integers(5, 12))
    x = np.linspace(0, rng.uniform(2, 5), turns) + rng.normal(0, 0.2, turns)
    y = np.where(np.arange(turns) % 2, 2.0, 0.0) + rng.normal(0, 0.35, turns)
    return _draw([np.stack((x, y), 1)], height, rng)


def shape(height: int, rng: Random) -> Image.Image:
    """A filled ellipse, or a filled polygon of three to six corners."""
    side = height * FINER
    mask = Image.new("L", (max(2, round(side * rng.uniform(0.7, 1.6))), side))
    draw = ImageDraw.Draw(mask)
    if rng.random() < 0.3:
        draw.ellipse((0, 0, mask.width - 1, mask.height - 1), fill=255)
    else:
        angles = np.sort(rng.uniform(0, 2 * np.pi, 6)) if rng.random() < 0.5 else np.arange(3) * 2 * np.pi / 3
        angles += rng.uniform(0, 2 * np.pi)
        corners = (np.stack((np.cos(angles), np.sin(angles)), 1) + 1) / 2 * (mask.width - 1, mask.height - 1)
        draw.polygon([(float(x), float(y)) for x, y in corners], fill=255)
    return mask.reduce(FINER)


CLUTTER = (letter, letter, scribble, shape)


def _point(word: str) -> tuple[float, float]:
    x, y = word.split(",") if "," in word else list(word)
    return float(x), float(y)


def _draw(paths: list[npt.NDArray[np.float64]], height: int, rng: Random) -> Image.Image:
    """The paths at this height, in a pen of some thickness with round ends."""
    scale = height * FINER / 2
    radius = scale * rng.uniform(0.06, 0.2)
    low = np.min([path.min(0) for path in paths], 0)
    scaled = [(path - low) * scale + radius for path in paths]
    width, tall = np.max([path.max(0) for path in scaled], 0) + radius
    mask = Image.new("L", (round(width) + FINER, round(tall) + FINER))
    draw = ImageDraw.Draw(mask)
    for path in scaled:
        points = [(float(x), float(y)) for x, y in path]
        draw.line(points, fill=255, width=max(1, round(2 * radius)), joint="curve")
        for x, y in points:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    return mask.reduce(FINER)
