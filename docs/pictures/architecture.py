"""The six packages and the engine beside them, as CONTRIBUTING.md shows them.

python docs/pictures/architecture.py        writes architecture.svg beside itself
"""

from __future__ import annotations

from pathlib import Path

from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, arrow, box, label

PACKAGES = [
    ("6 serving", "many readers of one model: pages, steps, requests", "course6_serving"),
    ("5 models", "photos in, names out; text in, text out; convert, fetch", "course5_models"),
    ("4 expression", "the little language inside the file, compiled", "course4_expression"),
    ("3 layers", "what each operator computes, in readable loops", "course3_layers"),
    ("2 graph", "the .param and .bin files, order, passes", "course2_graph"),
    ("1 tensor", "numbers in memory, shapes, strides, broadcasting", "course1_tensor"),
]
HEIGHT, GAP = 40, 8
LEFT, MIDDLE, RIGHT = 150, 420, 150


def main() -> None:
    parts = []
    width, packages = LEFT + MIDDLE + RIGHT + 80, len(PACKAGES)
    for i, (name, what, course) in enumerate(PACKAGES):
        y = (HEIGHT + GAP) * i
        parts.append(box(LEFT + 40, y, MIDDLE, HEIGHT, hue(i)))
        parts.append(label(LEFT + 52, y + 13, name, anchor="start", bold=True))
        parts.append(label(LEFT + 52, y + 29, what, "kp-faint", "start"))
        parts.append(box(width - RIGHT, y, RIGHT, HEIGHT))
        parts.append(label(width - RIGHT / 2, y + HEIGHT / 2, course))
        parts.append(arrow(width - RIGHT - 4, y + HEIGHT / 2, LEFT + MIDDLE + 44, y + HEIGHT / 2))
    tall = (HEIGHT + GAP) * packages - GAP
    parts.append(box(0, 0, LEFT, tall))
    for i, line in enumerate(
        ["engine", "", "plans by shape,", "packed weights,", "one arena,", "fast kernels,", "threads"]
    ):
        parts.append(label(LEFT / 2, 22 + 19 * i, line, "kp-ink" if i == 0 else "kp-faint", bold=i == 0))
    parts.append(label(LEFT / 2, tall - 34, "runs what 2 to 4"))
    parts.append(label(LEFT / 2, tall - 16, "describe"))
    parts.append(arrow(LEFT + 36, tall / 2, LEFT + 4, tall / 2))
    parts.append(label(LEFT + 40 + MIDDLE / 2, tall + 16, "each uses only what stands below it", "kp-faint"))
    parts.append(label(width - RIGHT / 2, tall + 16, "you build it here", "kp-faint"))
    Picture(width, tall + 24, "".join(parts)).save(Path(__file__).with_name("architecture.svg"))


if __name__ == "__main__":
    main()
