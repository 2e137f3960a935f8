"""A model and what it is shown: inputs made of photos as its card says, and its outputs put into words.

For those who look inside of a model, and want inputs and outputs as arrays and as what they mean. A model with a card
for a task gets its photo as Classifier, Detector or Segmenter would give it; any other gets it at the declared size.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

import kuiper
from kuiper.bounded_file import read_json
from kuiper.errors import KuiperError, ModelFormatError, ParameterError, ShapeError
from kuiper.language import _
from kuiper.models.cards.model_card import ImageCard, card_path
from kuiper.models.nested import flat
from kuiper.models.pictures.letterbox import Letterbox
from kuiper.models.pictures.preprocess import normalise, resize
from kuiper.models.predictor import Predictor
from kuiper.models.tasks.boxes import candidates
from kuiper.models.tasks.classification import Classifier, largest, softmax
from kuiper.models.tasks.detection import Detector
from kuiper.models.tasks.image_to_image import picture_input
from kuiper.models.tasks.segmentation import Segmenter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kuiper.graph import RuntimeGraph
    from kuiper.models.pictures.preprocess import Array

Table = dict[str, Any]
Source = np.ndarray | Image.Image

_TASKS = ("classify", "detect", "segment")
_TOP = 5
_BOXES = 300  # boxes before suppression that are kept, the surest
_MAP_SIDE = 192  # pixels of a map of regions
_LOSSLESS_SIDE = 160  # pixels; a larger picture is stored as JPEG
_LIKEST_CLASSES = 100_000  # numbers of an output that is taken for scores of classes


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, its inputs, and the photo that the first of them was made of, if it was.

    Parameters
    ----------
    model : the graph
    inputs : an array for each input of the graph; none if they are to be made up
    task : the Classifier, Detector or Segmenter that the model's card is for, if there is one
    photo : what the input was made of
    fit : how the photo was placed in the input, in words
    names : names of the classes of a model of text, in the order of its outputs
    """

    model: RuntimeGraph
    inputs: tuple[np.ndarray, ...] = ()
    task: Any = None
    photo: Image.Image | None = None
    fit: str = ""
    names: Sequence[str] = ()

    @classmethod
    def of(
        cls, param: Path, sources: Sequence[Source], text: str = "", constants: Mapping[str, Any] | None = None
    ) -> Subject:
        """A model and its inputs.

        Parameters
        ----------
        param : path of the ``.pnnx.param`` or ``.onnx`` file; its card may lie beside it
        sources : a photo or an array for each input; none: made-up ones
        text : for a model of text, what it reads
        constants : as of ``kuiper.load``; a model with such is for no task

        Raises
        ------
        KuiperError
            If the model cannot be loaded, or a photo does not suit it.

        Examples
        --------
        >>> from kuiper.models import bundled, bundled_photo
        >>> from kuiper.models.pictures.preprocess import read_image
        >>> subject = Subject.of(bundled("cifar_resnet20"), [read_image(bundled_photo())])
        >>> subject.inputs[0].shape, subject.answers((subject.model(*subject.inputs),))["top"][0]["label"]
        ((1, 3, 32, 32), 'cat')
        """
        task_name = _task_of(param)
        if task_name == "generate":
            return cls._of_text(param, sources, text)
        if text:
            raise ParameterError("--text", "a model of text, whose card says so", param.name)
        if task_name in _TASKS and not constants:
            predictor = Predictor(param, task=task_name)
            task = predictor.load()
            if len(sources) == 1 and isinstance(sources[0], Image.Image):
                return cls._of_photo(task, sources[0])
            return cls(task.model, _arrays(task.model, sources, ImageCard.beside(param)), task)
        model = kuiper.load(param, constants=constants)
        inputs = _arrays(model, sources, ImageCard.beside(param))
        photo = sources[0] if sources and isinstance(sources[0], Image.Image) else None
        fit = _("the photo, brought to {size}").format(size=_sides(inputs[0])) if photo is not None else ""
        return cls(model, inputs, None, photo, fit)

    @classmethod
    def _of_photo(cls, task: Any, photo: Image.Image) -> Subject:
        if isinstance(task, Detector):
            frame = _frame(task, photo)
            x = normalise(frame.apply(photo), task.card.mean, task.card.std)
            inner = f"{frame.new_size[0]} x {frame.new_size[1]}"
            fit = _("the photo at {inner} in a grey frame of {size}").format(inner=inner, size=_sides(x))
        else:
            x = task.preprocess(photo)
            words = _("the middle of the photo, {size}") if isinstance(task, Classifier) else _("the photo at {size}")
            fit = words.format(size=_sides(x))
        return cls(task.model, (x,), task, photo, fit)

    @classmethod
    def _of_text(cls, param: Path, sources: Sequence[Source], text: str) -> Subject:
        """A language model: it reads a text, or the sample of its card."""
        from kuiper.models.text import language_model

        loaded = language_model.load(param)
        names = getattr(loaded.vocabulary, "names", ())
        if sources:
            return cls(loaded.graph, _arrays(loaded.graph, sources, ImageCard()), names=names)
        prefix = [tokens[0] for tokens in loaded.vocabulary.prefix]
        tokens = prefix + loaded.vocabulary.encode(text or _sample(param))
        tokens = (tokens or [0])[: loaded.context]
        return cls(loaded.graph, (np.array([tokens], np.int64),), names=names)

    def picture(self) -> Table | None:
        """The input as a picture, as a data address, with its size and how the photo was placed; None of other inputs.

        >>> from kuiper.models import bundled, bundled_photo
        >>> from kuiper.models.pictures.preprocess import read_image
        >>> picture = Subject.of(bundled("cifar_resnet20"), [read_image(bundled_photo())]).picture()
        >>> picture["size"], picture["fit"], picture["picture"][:22]
        ([32, 32], 'the middle of the photo, 32 x 32', 'data:image/png;base64,')
        """
        if self.photo is None:
            return None
        x = self.inputs[0][0]
        card = self.task.card if self.task is not None else ImageCard()
        mean, std = (np.array(numbers[: len(x)], np.float32)[:, None, None] for numbers in (card.mean, card.std))
        levels = np.rint(np.clip(x * std + mean, 0, 1) * 255).astype(np.uint8)
        image = Image.fromarray(levels[0] if len(levels) == 1 else levels[:3].transpose(1, 2, 0))
        return {"picture": data_address(image), "size": list(x.shape[1:]), "fit": self.fit}

    def answers(self, outputs: tuple[Any, ...]) -> Table:
        """What the outputs of the graph mean: classes, boxes, regions, or nothing more than values."""
        arrays = [np.asarray(output) for output in flat(outputs)]
        try:
            if isinstance(self.task, Classifier):
                return self._classes(self.task.named(arrays[0][0], _TOP), "probability")
            if isinstance(self.task, Detector) and self.photo is not None:
                return self._boxes(self.task, arrays[0][0], self.photo)
            if isinstance(self.task, Segmenter) and self.photo is not None:
                return self._segments(self.task, arrays[0], self.photo)
        except (KuiperError, IndexError):  # an output that the card does not fit: its values are shown, as of any model
            return {"kind": "values"}
        first = arrays[0] if arrays else np.zeros(0)
        if self.names and first.ndim == 3 and first.shape[-1] == len(self.names):
            scores = softmax(first.reshape(-1, first.shape[-1])[-1])
            return self._classes([(self.names[i], float(scores[i])) for i in largest(scores, _TOP)], "next token")
        if self.task is None and first.ndim == 2 and first.dtype.kind == "f" and 1 < first.shape[1] <= _LIKEST_CLASSES:
            scores = first[0].astype(np.float64)
            if np.isfinite(scores).all():
                best = [(_("output {n}").format(n=i), float(scores[i])) for i in largest(scores, _TOP)]
                return self._classes(best, "output")
        return {"kind": "values"}

    @staticmethod
    def _classes(best: list[tuple[str, float]], meaning: str) -> Table:
        top = [{"label": label, "score": score if np.isfinite(score) else None} for label, score in best]
        return {"kind": "classes", "meaning": meaning, "top": top}

    @staticmethod
    def _boxes(detector: Detector, rows: Array, photo: Image.Image) -> Table:
        """Boxes in pixels of the model's input: the candidates, and those that stay, with those of the photo."""
        frame = _frame(detector, photo)
        found = candidates(rows, detector.confidence)
        surest = largest(found.scores.astype(np.float64), _BOXES)
        labels = [detector.labels[i] for i in found.classes]
        before = [{"box": found.boxes[i].tolist(), "label": labels[i], "score": float(found.scores[i])} for i in surest]
        after = []
        for detection in detector.detections(rows, frame):
            shift = [frame.left, frame.top] * 2
            box = [side * frame.scale + moved for side, moved in zip(detection.box, shift, strict=True)]
            entry = {"box": box, "label": detection.label, "score": detection.score, "photo_box": list(detection.box)}
            after.append(entry)
        settings = {"confidence": detector.confidence, "iou": detector.iou}
        return {"kind": "boxes", **settings, "candidates": len(found.scores), "before": before, "after": after}

    def _segments(self, segmenter: Segmenter, logits: Array, photo: Image.Image) -> Table:
        """Regions, and their map with as few pixels as a page needs."""
        regions = segmenter.segmentation(logits, (photo.height, photo.width), self.inputs[0].shape[2:])
        step = -(-max(regions.map.shape) // _MAP_SIDE)
        small = np.ascontiguousarray(regions.map[::step, ::step]).astype(np.uint8)
        classes = [region._asdict() for region in regions.regions()]
        data = base64.b64encode(small.tobytes()).decode()
        shown = {"kind": "u8", "shape": list(small.shape), "low": 0, "high": 255, "data": data}
        return {"kind": "segments", "classes": classes, "labels": list(regions.labels), "map": shown, "step": step}


def data_address(image: Image.Image) -> str:
    """A picture as text: PNG if it is small, else JPEG.

    >>> data_address(Image.new("RGB", (1, 1)))[:22]
    'data:image/png;base64,'
    """
    file = BytesIO()
    small = max(image.size) <= _LOSSLESS_SIDE
    image.save(file, "PNG" if small else "JPEG", quality=88)
    return f"data:image/{'png' if small else 'jpeg'};base64,{base64.b64encode(file.getvalue()).decode()}"


def _frame(detector: Detector, photo: Image.Image) -> Letterbox:
    return Letterbox.fit((photo.height, photo.width), detector.size)


def _arrays(model: RuntimeGraph, sources: Sequence[Source], card: ImageCard) -> tuple[np.ndarray, ...]:
    """Arrays as they are; photos at the size that the file declares, as far as it does."""
    arrays = []
    for index, source in enumerate(sources):
        if isinstance(source, np.ndarray):
            arrays.append(source)
            continue
        operators = model.input_operators
        shape = operators[index].outputs[0].shape if index < len(operators) else None
        if shape is not None and (len(shape) != 4 or shape[1] not in (1, 3, None)):
            raise ShapeError(operators[index].where, "a .npy file with an array of its shape", "a photo")
        height, width = shape[2:] if shape is not None else (None, None)
        if isinstance(height, int) and isinstance(width, int):
            source = resize(source, (height, width))
        arrays.append(picture_input(source, card, luma=shape is not None and shape[1] == 1))
    return tuple(arrays)


def _task_of(param: Path) -> str:
    """What the card says, if there is one that can be read."""
    path = card_path(param)
    if not path.exists():
        return ""
    content = read_json(path, ModelFormatError, "a model card in JSON")
    return str(content.get("task", "classify")) if isinstance(content, dict) else ""


def _sample(param: Path) -> str:
    """The first line of the text that a card has as a sample."""
    content = read_json(card_path(param), ModelFormatError, "a model card in JSON")
    sample = content.get("sample") if isinstance(content, dict) else None
    text = sample.get("text") if isinstance(sample, dict) else None
    return text.strip().partition("\n")[0] if isinstance(text, str) else ""


def _sides(x: np.ndarray) -> str:
    return f"{x.shape[2]} x {x.shape[3]}"
