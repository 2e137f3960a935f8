"""What is where on a photo: a YOLOv5 or v7, and boxes in the photo's own pixels.

    photo -> letterbox -> model -> rows (n, 5 + labels) -> candidates -> nms -> back to the photo

The rules, down to which of two equal boxes stays, are those of YOLOv5's own detect.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.errors import ModelFormatError, ParameterError, ShapeError
from kuiper.models.cards.labels import Labels, read_labels
from kuiper.models.cards.model_card import DetectorCard, card_path
from kuiper.models.pictures.letterbox import Letterbox
from kuiper.models.pictures.preprocess import Array, ImageSource, check_pixels, normalise, read_image
from kuiper.models.tasks.batches import Batches
from kuiper.models.tasks.boxes import candidates, nms
from kuiper.models.tasks.declared_input import DeclaredInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from PIL import Image

    from kuiper.graph import RuntimeGraph


@dataclass(frozen=True)
class Detection:
    """A thing on a photo; ``box`` is x1, y1, x2, y2: its left, upper, right and lower edge in the photo's pixels."""

    label: str
    class_id: int
    score: float
    box: tuple[float, float, float, float]


class Detector:
    """A model that is loaded once and then finds things on photos.

    Parameters
    ----------
    param : path of the ``.pnnx.param`` or ``.onnx`` file; the weights, and perhaps a model card (``NAME.json``), lie
        beside it. The model gives rows (b, n, 5 + labels), or a tuple that begins with them, as exports of YOLOv5
        and v7 do.
    labels : names of the classes: "coco", a text file with one name a line, or a list. By default the card's.
    size : height and width of the model's input, or one number for both; by default the card's, or what the file says
    confidence : the score a detection has to be above; by default the card's, or 0.25
    iou : how much of two boxes of one class may overlap, as intersection over union; by default the card's, or 0.45
    class_agnostic : True lets boxes of different classes suppress each other
    max_detections : the most that are found on one photo
    optimize : False runs every operator as it stands in the file

    Raises
    ------
    ModelFormatError
        If the model or the labels cannot be read, or if there are neither labels nor a card.
    ParameterError
        If ``size``, ``confidence``, ``iou`` or ``max_detections`` is out of range.

    Examples
    --------
    >>> from kuiper.models import bundled, bundled_photo
    >>> detector = Detector(bundled("digits_yolo"), confidence=0.5)
    >>> found = detector(bundled_photo("digits"))
    >>> len(found), sorted({detection.label for detection in found})[:3]
    (13, ['2', '3', '5'])
    """

    def __init__(
        self,
        param: str | PathLike[str],
        *,
        labels: Labels | None = None,
        size: int | tuple[int, int] | None = None,
        confidence: float | None = None,
        iou: float | None = None,
        class_agnostic: bool = False,
        max_detections: int = 300,
        optimize: bool = True,
    ) -> None:
        self.model = kuiper.load(param, optimize=optimize)
        DeclaredInput.of(self.model).expect_colours(self.model.name)
        self.card = _settings(Path(param), self.model, labels, size)
        self.labels, self.size = self.card.labels, self.card.size
        self.confidence = _share("confidence", self.card.confidence if confidence is None else confidence)
        self.iou = _share("iou", self.card.iou if iou is None else iou)
        if max_detections < 1:
            raise ParameterError("detector", "max_detections >= 1", max_detections)
        self.class_agnostic, self.max_detections = class_agnostic, max_detections
        self._rows = Batches(self.rows)

    def __call__(self, image: ImageSource) -> list[Detection]:
        """What is on the photo, the surest first.

        Raises
        ------
        ImageError
            If ``image`` is not a picture that can be read.
        ShapeError
            If the model does not give 5 + labels numbers for each box.
        """
        return self.batch([image])[0]

    def batch(self, images: Sequence[ImageSource]) -> list[list[Detection]]:
        """What is on each of the photos; all go through the model at once if it takes this many, else one by one."""
        prepared = [self.preprocess(read_image(image)) for image in images]
        rows = self._rows([pixels for pixels, _ in prepared])
        return [self.detections(one, frame) for one, (_, frame) in zip(rows, prepared, strict=True)]

    def preprocess(self, photo: Image.Image) -> tuple[Array, Letterbox]:
        """The model's input (1, 3, height, width), and how the photo lies in it."""
        frame = Letterbox.fit((photo.height, photo.width), self.size)
        return normalise(frame.apply(photo), self.card.mean, self.card.std), frame

    def rows(self, x: Array) -> Array:
        """The model's output (b, n, 5 + labels) for a batch of inputs (b, 3, height, width).

        Raises
        ------
        ShapeError
            If the model gives an output of another shape; the hint says if it knows more or fewer labels.
        """
        return self.checked(self.model(x), len(x))

    def checked(self, output: Any, count: int) -> Array:
        """What the model gave for so many photos, if it is that.

        Parameters
        ----------
        output : of the model; of a tuple, the first counts
        count : how many photos it was given

        Returns
        -------
        (count, n, 5 + labels)

        Raises
        ------
        ShapeError
            If it has another shape; the hint says if the model knows more or fewer labels.

        Examples
        --------
        >>> from kuiper.models import bundled
        >>> Detector(bundled("digits_yolo")).checked((np.zeros((1, 7, 15), np.float32),), 1).shape
        (1, 7, 15)
        """
        while isinstance(output, tuple):
            output = output[0]
        rows = np.asarray(output)
        classes = len(self.labels)
        if rows.ndim != 3 or rows.shape[0] != count or rows.shape[2] != 5 + classes:
            expected = f"rows ({count}, n, {5 + classes}): x, y, w, h, objectness and {classes} labels"
            told = rows.shape[2] - 5 if rows.ndim == 3 and rows.shape[0] == count else 0
            hint = f"the model tells {told} classes apart, but there are {classes} labels" if told > 0 else ""
            raise ShapeError(self.model.name, expected, rows.shape, hint)
        return rows

    def detections(self, rows: Array, frame: Letterbox) -> list[Detection]:
        """The boxes of one picture as detections on the photo; what lies beside the photo, in the grey, is left out.

        Parameters
        ----------
        rows : (n, 5 + labels), what the model said about the picture
        frame : the letterbox in which the photo was shown to the model

        Returns
        -------
        Detections with boxes in the photo's own pixels, the surest first.

        Raises
        ------
        ShapeError
            If ``rows`` is not (n, 6 or more).

        Examples
        --------
        >>> from kuiper.models import bundled
        >>> detector = Detector(bundled("digits_yolo"))
        >>> row = np.zeros((1, 15), np.float32)
        >>> row[0, :6] = 160, 160, 32, 64, 1, 0.9  # the digit 0, in the middle of the frame
        >>> detector.detections(row, Letterbox.fit((640, 640), (320, 320)))[0].box
        (288.0, 256.0, 352.0, 384.0)
        """
        found = candidates(rows, self.confidence)
        classes = None if self.class_agnostic else found.classes
        best = nms(found.boxes, found.scores, self.iou, classes, self.max_detections)
        boxes = frame.to_photo(found.boxes[best])
        return [
            Detection(self.labels[found.classes[i]], int(found.classes[i]), float(found.scores[i]), (x1, y1, x2, y2))
            for i, (x1, y1, x2, y2) in zip(best, boxes.tolist(), strict=True)
            if x1 < x2 and y1 < y2
        ]


def _settings(
    param: Path, model: RuntimeGraph, labels: Labels | None, size: int | tuple[int, int] | None
) -> DetectorCard:
    """What the card says, or one there should be, with ``labels`` and ``size`` instead of its own if they are given."""
    path = card_path(param)
    card = DetectorCard.read(path) if path.exists() else None
    if labels is not None:
        names = read_labels(labels)
    elif card is not None:
        names = card.labels
    else:
        raise ModelFormatError(str(path), "a model card, or labels", "neither", "labels are coco, a file or a list")
    size = size or (card.size if card else DeclaredInput.of(model).size)
    if size is None:
        raise ParameterError(model.name, "a size, as the file leaves height and width open", "none")
    size = (size, size) if isinstance(size, int) else size
    if len(size) != 2 or min(size) < 1:
        raise ParameterError("detector", "a height and width above 0", size)
    check_pixels("detector", *size)
    return replace(card, labels=names, size=size) if card else DetectorCard(names, size)


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ParameterError("detector", f"{name} from 0 to 1", value)
    return float(value)
