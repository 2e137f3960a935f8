"""Scenes of handwritten digits with their boxes: test pictures for the bundled detector, and what it learns from.

    pip install scikit-learn
    python -m zoo.digit_scenes --out scenes --count 8 --seed 1
    python -m zoo.digit_scenes --out scenes --count 1 --seed 7 --size 448 640

writes ``0000.png`` ... and ``boxes.json``: for each picture its digits, each with its label and the box
(left, top, right, bottom) in pixels around its ink.

The digits are the 1,797 of 8 x 8 pixels that come with scikit-learn (E. Alpaydin, C. Kaynak, 1998, "Optical Recognition
of Handwritten Digits", UCI Machine Learning Repository, CC BY 4.0), drawn large with smooth edges, sheared and turned;
paper, inks and clutter are made here. A fifth of the digits is held out: the detector has never seen them.
A scene depends on nothing but its seed, its number and the digits it may use.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

from zoo.scene_background import Array, Random, Size, background, ink_on
from zoo.scene_clutter import CLUTTER

LONGER_SIDE = 320
HEIGHTS = (13, 140)  # of the digits; in scenes of a longer side above LONGER_SIDE all grows with it
HELD_OUT_SHARE = 5  # one of this many digits is held out
SPLIT_SEED = 1998
VISIBLE = 64  # ink of at least this much, of 255, belongs to the box


class Digits(NamedTuple):
    """Handwritten digits: pictures (n, 8, 8) from 0 (paper) to 1 (ink), and what they say (n,)."""

    images: Array
    labels: npt.NDArray[np.int64]


class Box(NamedTuple):
    """A digit and where its ink is: the first and last column and row are left to right - 1, top to bottom - 1."""

    label: int
    left: int
    top: int
    right: int
    bottom: int


class Scene(NamedTuple):
    """A picture in RGB and the digits on it."""

    image: Image.Image
    boxes: list[Box]


def load_digits(held_out: bool) -> Digits:
    """The digits of one split: 1,437 to learn from, or the 360 others. Needs scikit-learn."""
    from sklearn import datasets

    digits = datasets.load_digits()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(digits.target))
    boundary = -(-len(order) // HELD_OUT_SHARE)
    picked = np.sort(order[:boundary] if held_out else order[boundary:])
    return Digits((digits.images[picked] / 16).astype(np.float32), digits.target[picked].astype(np.int64))


def compose(digits: Digits, seed: int, number: int, size: Size | None = None) -> Scene:
    """Scene ``number`` of ``seed``: groups of digits and clutter, none on top of the other, on some paper.

    ``size`` is (height, width); if it is not given the longer side is 320 and the other 192 to 320.
    """
    rng = np.random.default_rng((seed, number))
    height, width = size or _some_size(rng)
    scale = max(1.0, max(height, width) / LONGER_SIDE)
    canvas = background((height, width), rng)
    taken: list[Box] = []
    boxes: list[Box] = []
    most = min(HEIGHTS[1] * scale, 0.7 * min(height, width))
    for _ in range(rng.integers(2, 9)):
        tall = np.exp(rng.uniform(np.log(HEIGHTS[0] * scale), np.log(most)))
        mask, found = write_group(digits, tall, rng)
        place = _free_place(mask, taken, (height, width), rng)
        if place is not None:
            _paint(canvas, mask, place, rng, has_card=rng.random() < 0.25)
            boxes += [_moved(box, *place) for box in found]
    for _ in range(rng.integers(0, 8)):
        tall = np.exp(rng.uniform(np.log(HEIGHTS[0] * scale), np.log(most)))
        mask = CLUTTER[rng.integers(len(CLUTTER))](round(tall), rng)
        place = _free_place(mask, taken, (height, width), rng)
        if place is not None:
            _paint(canvas, mask, place, rng, has_card=False)
    return Scene(_photograph(canvas, scale, rng), boxes)


def write_group(digits: Digits, height: float, rng: Random) -> tuple[Image.Image, list[Box]]:
    """One digit, or up to four side by side in one hand: a mask (mode L) and the boxes in it."""
    length = int(rng.choice([1, 1, 1, 2, 3, 4]))
    angle, lean, pen = rng.uniform(-20, 20), rng.uniform(-0.25, 0.25), rng.uniform(0.38, 0.52)
    width = rng.uniform(0.8, 1.25)
    masks, labels = [], []
    for i in rng.integers(len(digits.labels), size=length):
        tilt = angle if length == 1 else rng.uniform(-6, 6)
        masks.append(draw_digit(digits.images[i], height * rng.uniform(0.9, 1.1), tilt, lean, pen, width))
        labels.append(int(digits.labels[i]))
    gap = max(2, round(height * rng.uniform(0.08, 0.4)))
    tallest = max(mask.height for mask in masks)
    group = Image.new("L", (sum(mask.width for mask in masks) + gap * (length - 1), tallest))
    boxes, left = [], 0
    for mask, label in zip(masks, labels, strict=True):
        top = (tallest - mask.height) // 2
        group.paste(mask, (left, top))
        boxes.append(Box(label, left, top, left + mask.width, top + mask.height))
        left += mask.width + gap
    return group, boxes


def draw_digit(image: Array, height: float, angle: float, lean: float, pen: float, width: float) -> Image.Image:
    """A digit of 8 x 8 pixels with smooth edges, cut to its visible ink (mode L).

    Parameters
    ----------
    height : in pixels, before it is turned
    angle : in degrees, against the clock
    lean : how far the top moves to the right, as a part of the height
    pen : the level, 0 to 1, at which ink begins; the lower, the bolder
    width : 1 keeps the proportions
    """
    step = height / image.shape[0]
    padded = Image.fromarray(np.pad(image, 2))
    large = padded.resize((round(padded.width * step * width), round(padded.height * step)), Image.Resampling.BICUBIC)
    shear = (1, lean, -lean * large.height / 2, 0, 1, 0)
    leaning = large.transform(large.size, Image.Transform.AFFINE, shear, Image.Resampling.BILINEAR)
    turned = leaning.rotate(angle, Image.Resampling.BICUBIC, expand=True)
    # The level crosses `pen` over one pixel of the original; the slope makes that about one pixel of the picture.
    ink = np.clip((np.asarray(turned) - pen) * max(step, 1.2) + 0.5, 0, 1)
    mask = Image.fromarray(np.rint(ink * 255).astype(np.uint8))
    return mask.crop(mask.point(lambda value: 255 * (value >= VISIBLE)).getbbox())


def _some_size(rng: Random) -> Size:
    sides = (LONGER_SIDE, int(rng.integers(192, LONGER_SIDE + 1)))
    return sides if rng.random() < 0.3 else sides[::-1]


def _free_place(mask: Image.Image, taken: list[Box], size: Size, rng: Random) -> tuple[int, int] | None:
    """Left and top of a place for ``mask`` away from all that is ``taken``, which it joins; None if there is none."""
    margin = 3
    for _ in range(20):
        if mask.width + 2 * margin > size[1] or mask.height + 2 * margin > size[0]:
            return None
        left = int(rng.integers(margin, size[1] - mask.width - margin + 1))
        top = int(rng.integers(margin, size[0] - mask.height - margin + 1))
        place = Box(-1, left, top, left + mask.width, top + mask.height)
        if not any(_is_near(place, other, margin) for other in taken):
            taken.append(place)
            return left, top
    return None


def _is_near(first: Box, second: Box, margin: int) -> bool:
    """Whether they touch if one is made wider by ``margin`` on all sides."""
    is_near_across = first.left <= second.right + margin and second.left <= first.right + margin
    return is_near_across and first.top <= second.bottom + margin and second.top <= first.bottom + margin


def _moved(box: Box, left: int, top: int) -> Box:
    return Box(box.label, box.left + left, box.top + top, box.right + left, box.bottom + top)


def _paint(canvas: Array, mask: Image.Image, place: tuple[int, int], rng: Random, has_card: bool) -> None:
    """Ink where the mask is, on a card of its own if need be."""
    left, top = place
    if has_card:
        _lay_card(canvas, (left - 3, top - 3, left + mask.width + 3, top + mask.height + 3), rng)
    paper = canvas[top : top + mask.height, left : left + mask.width]
    strength = rng.uniform(0.75, 1)
    cover = np.asarray(mask, np.float32)[..., np.newaxis] / 255 * np.float32(strength)
    paper += cover * (ink_on(paper, rng) - paper)


def _lay_card(canvas: Array, corners: tuple[int, int, int, int], rng: Random) -> None:
    """A rectangle with round corners in one colour."""
    left, top, right, bottom = corners
    cover = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(cover).rounded_rectangle((0, 0, cover.width - 1, cover.height - 1), radius=4, fill=255)
    part = canvas[top:bottom, left:right]
    part += np.asarray(cover, np.float32)[..., np.newaxis] / 255 * (rng.uniform(0, 255, 3).astype(np.float32) - part)


def _photograph(canvas: Array, scale: float, rng: Random) -> Image.Image:
    """Light that falls off to one side, a little blur, noise."""
    shade = np.linspace(1, rng.uniform(0.75, 1), canvas.shape[1], dtype=np.float32)
    lit = canvas * (shade if rng.random() < 0.5 else shade[::-1])[:, np.newaxis]
    lit += rng.standard_normal((*lit.shape[:2], 1), dtype=np.float32) * np.float32(rng.uniform(0, 8))
    image = Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8))
    return image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 0.8) * scale)) if rng.random() < 0.3 else image


def write(digits: Digits, out: Path, count: int, seed: int, size: Size | None = None) -> Path:
    """``count`` scenes as PNG files into a folder, and the path of the file with their boxes."""
    out.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(count):
        scene = compose(digits, seed, number, size)
        name = f"{number:04}.png"
        scene.image.save(out / name)
        truth = [{"label": str(box.label), "box": box[1:]} for box in scene.boxes]
        lines.append(f"{json.dumps(name)}: {json.dumps(truth)}")
    path = out / "boxes.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m zoo.digit_scenes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the pictures are written")
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, nargs=2, metavar=("HEIGHT", "WIDTH"), help="default: up to 320 x 320")
    parser.add_argument("--training", action="store_true", help="take the digits that the detector learns from")
    options = parser.parse_args(arguments)
    if options.count < 1 or options.seed < 0 or (options.size and min(options.size) < 64):
        parser.error("expected --count above 0, --seed of at least 0 and a --size of at least 64 64")
    return options


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 if all went well, 1 if not, 2 if it was called wrongly."""
    options = parse(arguments)
    size = tuple(options.size) if options.size else None
    try:
        written = write(load_digits(held_out=not options.training), options.out, options.count, options.seed, size)
    except ModuleNotFoundError as error:
        if error.name != "sklearn":
            raise
        print("digit_scenes: expected scikit-learn, got no module sklearn; pip install scikit-learn", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"digit_scenes: expected a folder to write to, got {error}", file=sys.stderr)
        return 1
    print(f"wrote {options.count} scenes and {written}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
