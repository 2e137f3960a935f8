"""The names of a model's classes: the 80 of COCO, a file with one name a line, or a list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kuiper.bounded_file import read_text
from kuiper.errors import ModelFormatError

Labels = str | Path | Sequence[str]

_COCO = Path(__file__).parents[1] / "assets" / "coco.txt"


def read_labels(source: Labels) -> tuple[str, ...]:
    """The names in order: of ``"coco"``, of a text file with one name a line, or those of the list itself.

    >>> read_labels("coco")[:3]
    ('person', 'bicycle', 'car')
    >>> read_labels(["sky", "sea"])
    ('sky', 'sea')

    Raises
    ------
    ModelFormatError
        If the file is missing, is no text or no regular file, or has no names or an empty line between them.
    """
    if not isinstance(source, (str, Path)):
        return tuple(source)
    path = _COCO if source == "coco" else Path(source)
    lines = read_text(path, ModelFormatError, "a file with one label a line, or coco").strip().splitlines()
    labels = tuple(line.strip() for line in lines)
    if not all(labels) or not labels:
        got = f"line {labels.index('') + 1} empty" if labels else "an empty file"
        raise ModelFormatError(str(path), "one label a line", got)
    return labels
