"""Classifiers, detectors and segmenters in three steps, so that what runs the network may be elsewhere:

the bytes of a picture --prepare--> input, and what the answer needs of the picture
input --> the network, perhaps with the inputs of others --> output
output --entry--> labels, boxes or regions, ready for JSON
"""

from __future__ import annotations

import base64
import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from kuiper.models.pictures.preprocess import read_image
from kuiper.models.predictor import TASKS
from kuiper.models.tasks.classification import Classifier
from kuiper.models.tasks.segmentation import Segmenter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.models.pictures.preprocess import Array
    from kuiper.models.tasks.detection import Detector
    from kuiper.models.tasks.segmentation import ClassMap


class Prepared(NamedTuple):
    """A picture as a network takes it."""

    input: Array
    size: tuple[int, int]
    """Height and width of the picture."""
    entry: Callable[[Any], dict[str, Any]]
    """From the network's output to the answer, ready for JSON."""


class PictureModel:
    """A classifier, a detector or a segmenter that is told about pictures by their bytes.

    Parameters
    ----------
    task : "classify", "detect" or "segment"
    param : path of the model; its card lies beside it

    Raises
    ------
    KuiperError
        If the model cannot be loaded.

    Examples
    --------
    >>> from kuiper.models import bundled, bundled_photo
    >>> model = PictureModel("classify", bundled("cifar_resnet20"))
    >>> prepared = model.prepare(bundled_photo().read_bytes(), top=1)
    >>> prepared.entry(model.graph(prepared.input))["labels"][0]["label"]
    'cat'
    """

    def __init__(self, task: str, param: Path) -> None:
        self.task = task
        self._model: Classifier | Detector | Segmenter = TASKS[task].load(param)
        self.graph = self._model.model

    def prepare(self, data: bytes, top: int = 5) -> Prepared:
        """What a network takes of a picture, and how its answer becomes one about this picture.

        Parameters
        ----------
        data : what the picture's file has in it
        top : how many labels a classifier gives

        Raises
        ------
        ImageError
            If it is not a picture that can be read.
        """
        photo, model = read_image(data), self._model
        size = photo.height, photo.width
        if isinstance(model, Classifier):
            classifier = model
            pixels = classifier.preprocess(photo)
            return Prepared(pixels, size, lambda out: self._entry(classifier.named(classifier.checked(out, 1)[0], top)))
        if isinstance(model, Segmenter):
            return self._prepare_regions(model, model.preprocess(photo), size)
        detector = model
        pixels, frame = detector.preprocess(photo)
        return Prepared(pixels, size, lambda out: self._entry(detector.detections(detector.checked(out, 1)[0], frame)))

    def _prepare_regions(self, segmenter: Segmenter, pixels: Array, size: tuple[int, int]) -> Prepared:
        def entry(output: Any) -> dict[str, Any]:
            segmentation = segmenter.segmentation(segmenter.checked(output), size, pixels.shape[2:])
            return {**self._entry(segmentation), "map": _as_png(segmentation.map)}

        return Prepared(pixels, size, entry)

    def _entry(self, answer: Any) -> dict[str, Any]:
        """As ``Predictor.record`` has it.

        Raises
        ------
        ValueError
            If there is a NaN or an infinite number in it, which JSON does not have.
        """
        entry = TASKS[self.task].entry(answer)
        json.dumps(entry, allow_nan=False)
        return entry


def _as_png(classes: ClassMap) -> str:
    """The class of each pixel as the greys of a PNG, of 8 bits or 16, in Base64."""
    file = io.BytesIO()
    Image.fromarray(classes).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")
