"""Model cards: what has to be known about a model beside its graph, in a .json file next to it.

A card is a JSON object. Its ``task`` says which of the classes below reads it; entries that this class does not need
(accuracy, seed ...) are passed over.

    task        entries
    classify    labels, mean, std, size, resize = size     (also without a task)
    detect      labels, size = [height, width], confidence = 0.25, iou = 0.45, mean = 0 0 0, std = 1 1 1
    segment     labels, size = whatever the file declares, mean = 0 0 0, std = 1 1 1
    image       mean = 0 0 0, std = 1 1 1

Sides of pictures are at most MAX_SIDE, means and standard deviations within MAX_COLOUR; whatever else a file
says is refused, with its name, before a picture is made.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import obstacle, read_json
from kuiper.errors import ModelFormatError
from kuiper.onnx.source import is_onnx

if TYPE_CHECKING:
    from pathlib import Path

Colour = tuple[float, float, float]
"""A number each for red, green and blue."""

BLACK: Colour = (0.0, 0.0, 0.0)
WHITE: Colour = (1.0, 1.0, 1.0)


MAX_SIDE = 8192
"""Pixels of a side of a model's input, as a card may have it."""

MAX_COLOUR = 1e6
"""How large a mean or a standard deviation may be; a standard deviation is at least 1 / MAX_COLOUR."""


@dataclass(frozen=True)
class ClassifierCard:
    """The names of a classifier's outputs, and how its input is made from a photo.

    ``resize`` is the length the shorter side is brought to before the middle ``size`` x ``size`` is taken.
    """

    labels: tuple[str, ...]
    mean: Colour
    std: Colour
    size: int
    resize: int

    @classmethod
    def read(cls, path: Path) -> ClassifierCard:
        """The card in a file.

        Raises
        ------
        ModelFormatError
            If the file is missing, is not JSON, is for another task, lacks an entry or has one that cannot be.
        """
        entries = _Entries.read(path, "classify")
        size = entries.length("size")
        resize = entries.length("resize", size)
        if resize < size:
            raise ModelFormatError(entries.where, f"'resize' >= 'size' ({size})", resize)
        return cls(entries.labels(), entries.colour("mean"), entries.std(), size, resize)


@dataclass(frozen=True)
class DetectorCard:
    """The names of what a detector finds, the size (height, width) of its input, and its two thresholds."""

    labels: tuple[str, ...]
    size: tuple[int, int]
    confidence: float = 0.25
    iou: float = 0.45
    mean: Colour = BLACK
    std: Colour = WHITE

    @classmethod
    def read(cls, path: Path) -> DetectorCard:
        """The card in a file; errors as those of ``ClassifierCard.read``."""
        entries = _Entries.read(path, "detect")
        confidence, iou = entries.share("confidence", cls.confidence), entries.share("iou", cls.iou)
        return cls(entries.labels(), entries.size(), confidence, iou, entries.colour("mean", BLACK), entries.std(WHITE))


@dataclass(frozen=True)
class SegmenterCard:
    """The names of the regions that a model tells apart; ``size`` (height, width) only if its input has a fixed one."""

    labels: tuple[str, ...]
    size: tuple[int, int] | None = None
    mean: Colour = BLACK
    std: Colour = WHITE

    @classmethod
    def read(cls, path: Path) -> SegmenterCard:
        """The card in a file; errors as those of ``ClassifierCard.read``."""
        entries = _Entries.read(path, "segment")
        size = entries.size() if "size" in entries.content else None
        return cls(entries.labels(), size, entries.colour("mean", BLACK), entries.std(WHITE))


@dataclass(frozen=True)
class ImageCard:
    """How a model wants its pictures, and how it gives pictures if it does."""

    mean: Colour = BLACK
    std: Colour = WHITE

    @classmethod
    def beside(cls, param: Path) -> ImageCard:
        """What the card beside a model says, whatever its task, or 0 and 1 if there is none.

        Raises
        ------
        ModelFormatError
            If the card is not JSON, or has an entry that cannot be.
        """
        path = card_path(param)
        if not path.exists():
            return cls()
        entries = _Entries.read(path)
        return cls(entries.colour("mean", BLACK), entries.std(WHITE))


def card_path(param: Path) -> Path:
    """Where the card of a .param or an .onnx file lies.

    >>> from pathlib import Path
    >>> card_path(Path("zoo/cifar_resnet20.pnnx.param")).name
    'cifar_resnet20.json'
    """
    return param.with_name(f"{model_name(param)}.json")


def model_name(path: Path) -> str:
    """The name of a model by the name of its file.

    >>> from pathlib import Path
    >>> model_name(Path("zoo/unet.pnnx.param")), model_name(Path("unet.onnx"))
    ('unet', 'unet')
    """
    return path.name[: -len(".onnx")] if is_onnx(path) else path.name.removesuffix(".param").removesuffix(".pnnx")


@dataclass(frozen=True)
class _Entries:
    """The entries of a card, each of which can say what is wrong with it."""

    where: str
    content: dict[str, Any]

    @classmethod
    def read(cls, path: Path, task: str = "") -> _Entries:
        where = str(path)
        if obstacle(path) == "nothing there":
            raise ModelFormatError(where, f"a model card with the task '{task}'", "nothing there")
        content = read_json(path, ModelFormatError, "a model card in JSON")
        if not isinstance(content, dict):
            raise ModelFormatError(where, "a model card: a JSON object", f"a {type(content).__name__}")
        if task and content.get("task", "classify") != task:
            raise ModelFormatError(where, f"a card with the task '{task}'", _short(content.get("task", "classify")))
        return cls(where, content)

    def labels(self) -> tuple[str, ...]:
        labels = self.content.get("labels")
        if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
            raise ModelFormatError(self.where, "'labels': a list of names", _short(labels))
        return tuple(labels)

    def colour(self, key: str, default: Colour | None = None) -> Colour:
        value = self.content.get(key, default)
        numbers = value if isinstance(value, (list, tuple)) else []
        if len(numbers) != 3 or not all(_is_number(item) and abs(item) <= MAX_COLOUR for item in numbers):
            expected = f"'{key}': three numbers, for red, green and blue, of at most {MAX_COLOUR:,.0f}"
            raise ModelFormatError(self.where, expected, _short(value))
        return float(numbers[0]), float(numbers[1]), float(numbers[2])

    def std(self, default: Colour | None = None) -> Colour:
        std = self.colour("std", default)
        if min(std) < 1 / MAX_COLOUR:
            raise ModelFormatError(self.where, f"'std' above 0, and at least {1 / MAX_COLOUR:g}", _short(std))
        return std

    def length(self, key: str, default: object = None) -> int:
        value = self.content.get(key, default)
        if not _is_length(value):
            raise ModelFormatError(self.where, f"'{key}': a number of pixels from 1 to {MAX_SIDE}", _short(value))
        return int(value)

    def size(self) -> tuple[int, int]:
        value = self.content.get("size")
        if not isinstance(value, list) or len(value) != 2 or not all(_is_length(side) for side in value):
            expected = f"'size': [height, width], each from 1 to {MAX_SIDE} pixels"
            raise ModelFormatError(self.where, expected, _short(value))
        return value[0], value[1]

    def share(self, key: str, default: float) -> float:
        value = self.content.get(key, default)
        if not _is_number(value) or not 0 <= value <= 1:
            raise ModelFormatError(self.where, f"'{key}' from 0 to 1", _short(value))
        return float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_length(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_SIDE


def _short(value: object) -> str:
    """The value for a message: a list of a million labels would fill the screen."""
    return reprlib.repr(value)
