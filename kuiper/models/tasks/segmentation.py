"""What each pixel of a photo shows: a model's score for each class and pixel, brought to the photo's size.

    photo (h, w) -> input -> model -> logits (1, classes, h', w') -> at the photo's size -> the best class of each pixel

How the photo becomes the input depends on the model. One of a fixed size gets the whole photo shrunk (or stretched) to
it. One that takes any size gets every pixel, and as networks halve sizes several times, the edge is repeated to the
right and below until both sides are multiples of 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

import kuiper
from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.operators.upsample import interpolate
from kuiper.layers.resampled_axis import Axis
from kuiper.models.cards.labels import Labels, read_labels
from kuiper.models.cards.model_card import SegmenterCard, card_path
from kuiper.models.pictures.preprocess import Array, ImageSource, check_pixels, normalise, read_image, resize
from kuiper.models.tasks.declared_input import DeclaredInput

if TYPE_CHECKING:
    from os import PathLike

    from PIL import Image

ClassMap = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


class Region(NamedTuple):
    """A class, and how much of the photo shows it, 0 to 1."""

    label: str
    class_id: int
    share: float


@dataclass(frozen=True, eq=False)
class Segmentation:
    """``map`` (h, w), of the photo's size, has the class of each pixel; ``labels`` are the names of all classes."""

    labels: tuple[str, ...]
    map: ClassMap

    def regions(self) -> list[Region]:
        """The classes that are on the photo, the largest first; of equal ones, the one with the smaller number.

        >>> Segmentation(("sky", "sea"), np.uint8([[0, 1, 1, 1]])).regions()[0]
        Region(label='sea', class_id=1, share=0.75)
        """
        counts = np.bincount(self.map.ravel(), minlength=len(self.labels))
        largest = (int(i) for i in np.argsort(-counts, kind="stable") if counts[i])
        return [Region(self.labels[i], i, float(counts[i] / self.map.size)) for i in largest]


class Segmenter:
    """A model that is loaded once and then tells the regions of photos apart.

    Parameters
    ----------
    param : path of the ``.pnnx.param`` or ``.onnx`` file; the weights, and perhaps a model card (``NAME.json``), lie
        beside it. The model gives logits (1, classes, h, w), or a tuple that begins with them. A single channel is
        taken for "how sure is it that something is there": 0 or more is the foreground.
    labels : names of the classes, as for ``Detector``; by default the card's, or numbers
    multiple : what the sides of the input have to be multiples of, if the model takes any size
    optimize : False runs every operator as it stands in the file

    Raises
    ------
    ModelFormatError
        If the model or the labels cannot be read.
    ParameterError
        If ``multiple`` is below 1.

    Examples
    --------
    >>> from kuiper.models import bundled, bundled_photo
    >>> segmenter = Segmenter(bundled("shapes_unet"))
    >>> segmenter(bundled_photo("shapes")).map.shape
    (192, 256)
    """

    def __init__(
        self,
        param: str | PathLike[str],
        *,
        labels: Labels | None = None,
        multiple: int = 32,
        optimize: bool = True,
    ) -> None:
        if multiple < 1:
            raise ParameterError("segmenter", "multiple >= 1", multiple)
        self.model = kuiper.load(param, optimize=optimize)
        self.multiple = multiple
        self._declared = DeclaredInput.of(self.model)
        path = card_path(Path(param))
        self.card = SegmenterCard.read(path) if path.exists() else SegmenterCard(())
        self.labels = self.card.labels if labels is None else read_labels(labels)
        self.size = self.card.size or self._declared.size

    def __call__(self, image: ImageSource) -> Segmentation:
        """The regions of the photo.

        Raises
        ------
        ImageError
            If ``image`` is not a picture that can be read.
        ShapeError
            If the model does not give a score for each label.
        """
        photo = read_image(image)
        x = self.preprocess(photo)
        return self.segmentation(self.logits(x), (photo.height, photo.width), x.shape[2:])

    def segmentation(self, logits: Array, photo: tuple[int, int], frame: tuple[int, ...]) -> Segmentation:
        """The regions of a photo, by the model's output for it.

        Parameters
        ----------
        logits : (1, classes, h', w')
        photo : height and width of the photo
        frame : height and width of the model's input

        Returns
        -------
        The class of each pixel of the photo.

        Raises
        ------
        ShapeError
            If there is not a score for each label.

        Examples
        --------
        >>> from kuiper.models import bundled
        >>> segmenter = Segmenter(bundled("shapes_unet"))
        >>> segmenter.segmentation(np.zeros((1, 5, 32, 32), np.float32), (20, 30), (32, 32)).map.shape
        (20, 30)
        """
        labels = class_names(self.labels, logits.shape[1], self.model.name)
        height, width = photo if self.size else frame
        return Segmentation(labels, best_class(logits, (height, width))[: photo[0], : photo[1]])

    def preprocess(self, photo: Image.Image) -> Array:
        """The model's input (1, 3, h, w), or (1, 1, h, w) if it wants greys."""
        grey = self._declared.channels == 1
        if self.size:
            photo = resize(photo, self.size)
        missing = [-side % self.multiple for side in (photo.height, photo.width)]
        check_pixels(self.model.name, photo.height + missing[0], photo.width + missing[1])
        x = normalise(photo.convert("L") if grey else photo, self.card.mean, self.card.std)[:, : 1 if grey else 3]
        if self.size:
            return x
        return np.pad(x, [(0, 0), (0, 0), (0, missing[0]), (0, missing[1])], mode="edge")

    def logits(self, x: Array) -> Array:
        """The model's output (1, classes, h', w') for an input (1, channels, h, w).

        Raises
        ------
        ShapeError
            If the model gives an output of another shape.
        """
        return self.checked(self.model(x))

    def checked(self, output: Any) -> Array:
        """The model's output as logits (1, classes, h', w'); of a tuple, the first.

        Raises
        ------
        ShapeError
            If it has another shape.
        """
        while isinstance(output, tuple):
            output = output[0]
        logits = np.asarray(output)
        if logits.ndim != 4 or logits.shape[0] != 1:
            raise ShapeError(self.model.name, "an output (1, classes, h, w)", logits.shape)
        return logits


def class_names(labels: tuple[str, ...], channels: int, where: str) -> tuple[str, ...]:
    """A name for each class that this many channels tell apart: the labels, or numbers if there are none.

    >>> class_names((), 3, "net"), class_names(("cell",), 1, "net")
    (('class 0', 'class 1', 'class 2'), ('background', 'cell'))

    Raises
    ------
    ShapeError
        If there are more or fewer labels than classes.
    """
    if channels == 1 and len(labels) < 2:
        return ("background", *(labels or ("foreground",)))
    classes = max(channels, 2)
    if labels and len(labels) != classes:
        got = f"{channels} channels" if channels > 1 else "one channel, for two classes"
        raise ShapeError(where, f"an output with a channel for each of {len(labels)} labels", got)
    return labels or tuple(f"class {i}" for i in range(classes))


def best_class(logits: Array, size: tuple[int, int]) -> ClassMap:
    """The class of each pixel (height, width): the largest of the logits (1, classes, h, w), resized bilinearly.

    Of one channel, the sign: 1 where the logit is above 0, which is where its sigmoid is above 1/2.

    >>> best_class(np.float32([[[[0, 1]], [[1, 0]]]]), (1, 4)).tolist()
    [[1, 1, 0, 0]]
    """
    height, width = Axis(logits.shape[2], size[0]), Axis(logits.shape[3], size[1])
    classes = logits.shape[1]
    best = interpolate(logits[:, :1], height, width, "bilinear")[0, 0]
    regions: ClassMap = np.zeros(size, np.uint8 if classes <= 256 else np.uint16)
    if classes == 1:
        regions[best > 0] = 1
    for i in range(1, classes):  # one class at a time: all of them at a photo's size may not fit into memory
        score = interpolate(logits[:, i : i + 1], height, width, "bilinear")[0, 0]
        regions[score > best] = i
        np.maximum(best, score, out=best)
    return regions
