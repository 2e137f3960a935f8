"""One thing to call, whatever the task: a model that other processes and machines get by its name.

    predictor = Predictor("yolov5s.pnnx.param", labels="coco")     # loaded here
    pool.map(predictor.record, paths)                              # and once in each process that is handed it

What travels is the path of the model and the options. Pictures should travel as paths too.
"""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.bounded_file import read_json
from kuiper.errors import ModelFormatError, ParameterError
from kuiper.locks import open_in_children
from kuiper.models.cards.labels import read_labels
from kuiper.models.cards.model_card import card_path
from kuiper.models.pictures.preprocess import ImageSource, read_image
from kuiper.models.tasks.classification import Classifier
from kuiper.models.tasks.detection import Detection, Detector
from kuiper.models.tasks.segmentation import Segmentation, Segmenter
from kuiper.onnx.model_file import files_of
from kuiper.onnx.source import is_onnx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL import Image

Record = dict[str, Any]
"""What is said about one picture, ready for JSON."""

_AT_ONCE = 16  # pictures of a list that go through the model together


class Task(NamedTuple):
    """What makes the model, which options it takes with every call instead, and how its answer reads in a record."""

    load: Callable[..., Any]
    entry: Callable[[Any], Record]
    call_options: frozenset[str] = frozenset()


def _labels_entry(best: list[tuple[str, float]]) -> Record:
    return {"labels": [{"label": label, "probability": probability} for label, probability in best]}


def _detections_entry(detections: list[Detection]) -> Record:
    return {"detections": [vars(detection) | {"box": list(detection.box)} for detection in detections]}


def _regions_entry(segmentation: Segmentation) -> Record:
    return {"regions": [region._asdict() for region in segmentation.regions()]}


TASKS = {
    "classify": Task(Classifier, _labels_entry, frozenset(["top"])),
    "detect": Task(Detector, _detections_entry),
    "segment": Task(Segmenter, _regions_entry),
}


class Predictor:
    """A model that is loaded once in each process, and can be sent to others.

    Parameters
    ----------
    param : path of the ``.pnnx.param`` or ``.onnx`` file; the same path must hold the same model wherever this is sent
    task : "classify", "detect" or "segment"; by default what the model's card says, and "classify" if it says nothing
    options : what ``Classifier``, ``Detector`` or ``Segmenter`` takes, and ``top`` for the first

    >>> from kuiper.models import bundled, bundled_photo
    >>> predictor = Predictor(bundled("cifar_resnet20"), top=1)
    >>> predictor(bundled_photo())[0][0], len(predictor([bundled_photo(), bundled_photo()]))
    ('cat', 2)

    Raises
    ------
    KuiperError
        If there is no such task, or if the model cannot be loaded.
    """

    def __init__(self, param: str | os.PathLike[str], *, task: str | None = None, **options: Any) -> None:
        self.param = Path(param).absolute()
        self.task = task or task_of(self.param)
        if self.task not in TASKS:
            raise ParameterError("predictor", f"a task: one of {', '.join(TASKS)}", self.task)
        if options.get("labels") is not None:  # a file of labels need not be wherever this is sent to
            options["labels"] = read_labels(options["labels"])
        self.options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        self._written = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in self.files())
        self._model: Any = None
        self.load()

    def __call__(self, source: ImageSource | Sequence[ImageSource]) -> Any:
        """The model's answer about a picture, or a list of its answers about a list of pictures.

        Raises
        ------
        ImageError
            If a picture cannot be read.
        """
        model, options = self.load(), self._call_options()
        if not isinstance(source, (list, tuple)):
            return model(source, **options)
        if not hasattr(model, "batch"):  # a segmenter takes each picture at its own size
            return [model(image, **options) for image in source]
        parts = (source[i : i + _AT_ONCE] for i in range(0, len(source), _AT_ONCE))
        return [answer for part in parts for answer in model.batch(part, **options)]

    def record(self, source: ImageSource) -> Record:
        """The answer about a picture, ready for JSON; if there is none, because the picture is bad, the reason.

            {"image": "cat.jpg", "width": 451, "height": 300, "labels": [{"label": "cat", "probability": 0.83}, ...]}
            {"image": "cat.jpg", "width": 451, "height": 300,
             "detections": [{"label": "cat", "class_id": 15, "score": 0.9, "box": [x1, y1, x2, y2]}, ...]}
            {"image": "cat.jpg", "width": 451, "height": 300,
             "regions": [{"label": "cat", "class_id": 8, "share": 0.6}, ...]}
            {"image": "cat.jpg", "error": "cat.jpg: expected a file, got nothing there"}

        Boxes are in pixels of the upright picture; "image" is null where it is no path.
        """
        self.load()  # that there is no model would not be the picture's fault
        name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
        try:
            picture = read_image(source)
            return self.describe(name, picture, self(picture))
        except Exception as error:  # decoders of broken files raise anything
            return failure(name, error)

    def describe(self, image: str | None, picture: Image.Image, answer: Any) -> Record:
        """The record of an answer about a picture.

        Parameters
        ----------
        image : the path of the picture, or None
        picture : the picture itself, for its width and height
        answer : what the model said about it

        Returns
        -------
        A dictionary that is ready for JSON; ``record`` shows what is in it.

        Raises
        ------
        ValueError
            If there is a NaN or an infinite number in it, which JSON does not have.

        Examples
        --------
        >>> from kuiper.models import bundled, bundled_photo
        >>> predictor, photo = Predictor(bundled("cifar_resnet20"), top=1), read_image(bundled_photo())
        >>> sorted(predictor.describe("cat.jpg", photo, predictor(photo)))
        ['height', 'image', 'labels', 'width']
        """
        record = {"image": image, "width": picture.width, "height": picture.height, **TASKS[self.task].entry(answer)}
        json.dumps(record, allow_nan=False)
        return record

    def load(self) -> Any:
        """The model itself, which is loaded at the first call in a process that this was sent to."""
        if self._model is None:
            kept = self.options.keys() - TASKS[self.task].call_options
            options = tuple((name, self.options[name]) for name in sorted(kept))
            with _lock:
                self._model = _load_once(self.task, self.param, self._written, options)
        return self._model

    def files(self) -> list[Path]:
        """The files that the model consists of, as far as they are there."""
        weights = files_of(self.param) if is_onnx(self.param) else [self.param, self.param.with_suffix(".bin")]
        return [path for path in (*weights, card_path(self.param)) if path.exists()]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _model=None)

    def _call_options(self) -> dict[str, Any]:
        return {name: self.options[name] for name in self.options.keys() & TASKS[self.task].call_options}


def failure(image: str | None, error: Exception) -> Record:
    """The record of a picture about which there is nothing to say but why.

    >>> failure("cat.jpg", ValueError("no   cat"))
    {'image': 'cat.jpg', 'error': 'no cat'}
    """
    return {"image": image, "error": " ".join(str(error).split()) or type(error).__name__}


_lock = Lock()  # for loading
open_in_children(sys.modules[__name__])


@lru_cache(maxsize=4)
def _load_once(
    task: str, param: Path, _written: tuple[tuple[int, int], ...], options: tuple[tuple[str, Any], ...]
) -> Any:
    """The model that all copies of a predictor in this process share; one that was ``_written`` later is another."""
    return TASKS[task].load(param, **dict(options))


def task_of(param: Path) -> str:
    """The task of a model by its card, which is "classify" if there is none, or it does not say.

    What is wrong with a card says anyone who reads it for that task.

    >>> from kuiper.models import bundled
    >>> task_of(bundled("digits_yolo"))
    'detect'
    """
    try:
        card = read_json(card_path(param), ModelFormatError, "a model card in JSON")
    except ModelFormatError:
        return "classify"
    return str(card.get("task", "classify")) if isinstance(card, dict) else "classify"
