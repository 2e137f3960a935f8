"""Scenes of drawn shapes with the class of each pixel: what ``shapes_unet`` learns from.

    python -m zoo.shape_scenes --out scenes --count 8 --seed 1
    python -m zoo.shape_scenes --out scenes --count 1 --seed 7 --size 256 384

writes ``0000.png``, ``0001.png`` and so on, and beside each the classes of its pixels, ``0000_classes.png``: a grey
picture whose values are 0 for the background, 1 for a circle, 2 for a rectangle, 3 for a triangle, 4 for a star.

A scene depends on nothing but its seed and its number. Everything on it is drawn here.
"""

from __future__ import annotations

import argparse
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from zoo.scene_background import Array, Random, Size, background, ink_on

if TYPE_CHECKING:
    from collections.abc import Callable

LABELS = ("background", "circle", "rectangle", "triangle", "star")
RADIUS = (7.0, 18.0)  # of the circle around a shape, in pixels
MAX_SHAPES = 4  # in a scene of 64 x 64; larger scenes have more
MAX_LINES = 1  # in such a scene
FINER = 4  # how many times finer shapes are drawn than they are kept, for smooth edges

Point = tuple[float, float]
Classes = npt.NDArray[np.uint8]


class Scene(NamedTuple):
    """A picture in RGB, and the class (h, w) of each of its pixels: an index into ``LABELS``."""

    image: Image.Image
    classes: Classes


def compose(seed: int, number: int, size: Size = (64, 64)) -> Scene:
    """The scene of this seed and number, (height, width) pixels large.

    Shapes that come later cover earlier ones. Thin lines belong to the background, so that a network has to look at
    more than colour.

    >>> scene = compose(seed=1, number=0, size=(64, 96))
    >>> scene.image.size, scene.classes.shape, bool(scene.classes.max() < len(LABELS))
    ((96, 64), (64, 96), True)
    """
    rng = np.random.default_rng((seed, number))
    pixels, classes = background(size, rng), np.zeros(size, np.uint8)
    paper = pixels.copy()
    for _ in range(rng.integers(round(MAX_LINES * area(size)) + 1)):
        ends = [(float(rng.uniform(0, size[1])), float(rng.uniform(0, size[0]))) for _ in range(2)]
        width = round(float(rng.uniform(1, 3)) * FINER)
        paint(pixels, ink_on(paper, rng), covered(size, partial(line, ends=ends, width=width)))
    for _ in range(shape_count(size, rng)):
        kind = int(rng.integers(1, len(LABELS)))
        points = outline(LABELS[kind], size, rng)
        cover = covered(size, partial(polygon, points=points))
        paint(pixels, ink_on(paper, rng), cover)
        classes[cover >= 0.5] = kind
    pixels += rng.standard_normal(pixels.shape, dtype=np.float32) * np.float32(rng.uniform(0, 6))
    return Scene(Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)), classes)


def shape_count(size: Size, rng: Random) -> int:
    """How many shapes a scene gets: one to ``MAX_SHAPES``, and more in proportion on a larger one."""
    most = max(1, round(MAX_SHAPES * area(size)))
    return int(rng.integers(max(1, most // 2), most + 1))


def area(size: Size) -> float:
    """How many scenes of 64 x 64 a scene is as large as.

    >>> area((128, 64))
    2.0
    """
    return size[0] * size[1] / 64**2


def outline(label: str, size: Size, rng: Random) -> list[Point]:
    """The corners (x, y) of a shape, turned by a random angle; a circle has 60 of them.

    >>> len(outline("triangle", (64, 64), np.random.default_rng(0)))
    3
    """
    radius = float(rng.uniform(*RADIUS))
    x, y, turn = float(rng.uniform(0, size[1])), float(rng.uniform(0, size[0])), float(rng.uniform(0, 2 * math.pi))
    if label == "rectangle":
        half = float(rng.uniform(math.pi / 6, math.pi / 3))  # half of the angle between two corners
        angles, radii = [half, math.pi - half, math.pi + half, -half], [radius] * 4
    elif label == "star":
        inner = float(rng.uniform(0.35, 0.5))
        angles, radii = [math.pi * i / 5 for i in range(10)], [radius, radius * inner] * 5
    else:
        corners = {"triangle": 3, "circle": 60}[label]
        angles, radii = [2 * math.pi * i / corners for i in range(corners)], [radius] * corners
    pairs = zip(angles, radii, strict=True)
    return [(x + r * math.cos(angle + turn), y + r * math.sin(angle + turn)) for angle, r in pairs]


def covered(size: Size, draw: Callable[[ImageDraw.ImageDraw], None]) -> Array:
    """How much of each pixel (h, w) a drawing covers, 0 to 1; it is drawn ``FINER`` times as large."""
    fine = Image.new("L", (size[1] * FINER, size[0] * FINER))
    draw(ImageDraw.Draw(fine))
    cover: Array = np.asarray(fine.resize((size[1], size[0]), Image.Resampling.BOX), np.float32) / np.float32(255)
    return cover


def line(pen: ImageDraw.ImageDraw, ends: list[Point], width: int) -> None:
    """A straight line."""
    pen.line(enlarged(ends), fill=255, width=width)


def polygon(pen: ImageDraw.ImageDraw, points: list[Point]) -> None:
    """A filled polygon with these corners."""
    pen.polygon(enlarged(points), fill=255)


def enlarged(points: list[Point]) -> list[Point]:
    """Points of the picture on the finer one that ``covered`` draws."""
    return [(x * FINER, y * FINER) for x, y in points]


def paint(pixels: Array, ink: Array, cover: Array) -> None:
    """Lay ``ink`` (3,) over ``pixels`` (h, w, 3), as thick as ``cover`` (h, w) says; in place."""
    pixels += cover[..., np.newaxis] * (ink - pixels)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m zoo.shape_scenes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the pictures are written")
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, nargs=2, default=(64, 64), metavar=("HEIGHT", "WIDTH"))
    options = parser.parse_args(arguments)
    if options.count < 1 or options.seed < 0 or min(options.size) < 32:
        parser.error("expected --count above 0, --seed of at least 0 and a --size of at least 32 32")
    return options


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 if all went well, 1 if not, 2 if it was called wrongly."""
    options = parse(arguments)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        for number in range(options.count):
            scene = compose(options.seed, number, tuple(options.size))
            scene.image.save(options.out / f"{number:04}.png")
            Image.fromarray(scene.classes).save(options.out / f"{number:04}_classes.png")
    except OSError as error:
        print(f"shape_scenes: expected a folder to write to, got {error}", file=sys.stderr)
        return 1
    print(f"wrote {options.count} scenes to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
