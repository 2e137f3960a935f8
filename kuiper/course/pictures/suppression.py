"""Non-maximum suppression, box by box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import template, words
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, label, text_width
from kuiper.course.pictures.steps import Steps, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

BOXES = ((20, 20, 120, 110), (30, 26, 132, 118), (14, 34, 110, 120), (170, 40, 260, 120), (180, 34, 268, 116))
SCORES = (0.91, 0.84, 0.62, 0.77, 0.55)


def suppression(boxes: ArrayLike = BOXES, scores: Sequence[float] = SCORES, threshold: float = 0.5) -> Steps:
    """One picture for each box that is kept: it is blue, and those that it removes are orange and dashed.

    Parameters
    ----------
    boxes : (n, 4), the left, upper, right and lower edge of each in pixels
    scores : (n,)
    threshold : boxes whose intersection over union with a kept one is larger are removed

    >>> len(suppression().pictures)  # all boxes, two that are kept, and what is left
    4

    Raises
    ------
    CourseError
        If there is no box, or not one score for each.
    """
    edges = np.asarray(boxes, float).reshape(-1, 4)
    if not len(edges) or len(edges) != len(scores):
        raise CourseError("suppression", f"a score for each box ({len(edges)}), at least 1", f"{len(scores)}")
    waiting = sorted(range(len(edges)), key=lambda i: -scores[i])
    kept: list[int] = []
    removed: set[int] = set()
    frames = [_frame(edges, scores, {})]
    captions = [words("{count} boxes with their scores, before suppression.", count=len(edges))]
    while waiting:
        best, *rest = waiting
        kept.append(best)
        overlaps = {i: _overlap(edges[best], edges[i]) for i in rest}
        gone = [i for i in rest if overlaps[i] > threshold]
        looks = {**dict.fromkeys(removed, "gone"), **dict.fromkeys(kept, "kept"), **dict.fromkeys(gone, "removed")}
        frames.append(_frame(edges, scores, looks, {i: f"IoU {overlaps[i]:.2f}" for i in gone}))
        said = words("The best that is left has score {score}: it is kept.", score=f"{scores[best]:.2f}")
        message = template("It removes {count} that overlap it by more than {threshold}.")
        captions.append(f"{said} {words(message, count=len(gone), threshold=f'{threshold:g}')}")
        removed |= set(gone)
        waiting = [i for i in rest if i not in gone]
    frames.append(_frame(edges, scores, {**dict.fromkeys(removed, "gone"), **dict.fromkeys(kept, "kept")}))
    captions.append(words("{count} boxes are left.", count=len(kept)))
    caption = words("Non-maximum suppression with a threshold of {threshold}.", threshold=f"{threshold:g}")
    return steps(frames, captions, caption)


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union."""
    width, height = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    inside = max(width, 0.0) * max(height, 0.0)
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return float(inside / (areas - inside))


def _frame(
    edges: np.ndarray, scores: Sequence[float], looks: dict[int, str], notes: dict[int, str] | None = None
) -> Picture:
    """All boxes, each as it looks: waiting, kept, just removed, or gone."""
    notes = notes or {}
    size = edges[:, 2:].max(axis=0) + 16
    parts = []
    for i, (left, top, right, bottom) in enumerate(edges):
        look = looks.get(i, "waiting")
        if look == "gone":
            continue
        colour = {"kept": hue(0), "removed": hue(1)}.get(look, "")
        fill = f"fill:{colour};fill-opacity:0.22;stroke:{colour};" if colour else ""
        dash = "stroke-dasharray:5 4;" if look == "removed" else ""
        parts.append(
            f'<rect class="kp-line" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{bottom - top:.1f}" rx="2" style="{fill}{dash}stroke-width:2"/>'
        )
    # Each text has a line of its own below the boxes: inside they would lie on each other.
    lines = [f"{'abcdefghijklmnopqrstuvwxyz'[i % 26]} {score:.2f} {notes.get(i, '')}" for i, score in enumerate(scores)]
    for i, (left, top, _, _) in enumerate(edges):
        look = looks.get(i, "waiting")
        if look != "gone":
            parts.append(label(left + 3, top - 9, "abcdefghijklmnopqrstuvwxyz"[i % 26], anchor="start", bold=True))
        style = "kp-faint" if look in ("gone", "removed") else "kp-ink"
        line = lines[i].strip()
        if look == "kept":
            line = words("{box} kept", box=line)
        elif look in ("gone", "removed"):
            line = words("{box} removed", box=line)
        parts.append(label(size[0] + 10, 12 + 20 * i, line, style, "start"))
    width = size[0] + 10 + text_width("a 0.91 IoU 0.88 removed")
    return Picture(width, max(size[1], 20.0 * len(edges) + 8), "".join(parts))
