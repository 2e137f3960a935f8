"""What is on a photo: a model, its card, and the labels in the order of their probability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import kuiper
from kuiper.errors import ParameterError, ShapeError
from kuiper.models.cards.model_card import ClassifierCard, card_path
from kuiper.models.pictures.preprocess import Array, ImageSource, centre_crop, normalise, read_image, resize_shorter
from kuiper.models.tasks.batches import Batches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


class Classifier:
    """A model that is loaded once and then names photos.

    Parameters
    ----------
    param : path of the ``.pnnx.param`` or ``.onnx`` file; the weights and the model card (``NAME.json``) lie beside it
    optimize : False runs every operator as it stands in the file

    >>> from kuiper.models import bundled, bundled_photo
    >>> classifier = Classifier(bundled("cifar_resnet20"))
    >>> classifier(bundled_photo())[0][0]
    'cat'
    """

    def __init__(self, param: str | PathLike[str], *, optimize: bool = True) -> None:
        self.card = ClassifierCard.read(card_path(Path(param)))
        self.model = kuiper.load(param, optimize=optimize)
        self._batches = Batches(self.logits)

    def __call__(self, image: ImageSource, top: int = 5) -> list[tuple[str, float]]:
        """The likeliest labels of a photo with their probabilities, the likeliest first.

        Parameters
        ----------
        image : a file, an array (h, w, 3) of uint8, or a picture of Pillow
        top : how many labels

        Returns
        -------
        Pairs of a label and its probability, 0 to 1.

        Raises
        ------
        ImageError
            If ``image`` is not a picture that can be read.
        ParameterError
            If ``top`` is not above 0.

        Examples
        --------
        >>> from kuiper.models import bundled, bundled_photo
        >>> Classifier(bundled("cifar_resnet20"))(bundled_photo(), top=2)[1][0]
        'dog'
        """
        return self.batch([image], top)[0]

    def batch(self, images: Sequence[ImageSource], top: int = 5) -> list[list[tuple[str, float]]]:
        """The likeliest labels of each of several photos; they go through the model at once if it takes this many.

        Parameters
        ----------
        images : files, arrays (h, w, 3) of uint8, or pictures of Pillow
        top : how many labels for each

        Returns
        -------
        For each photo what a call gives.

        Raises
        ------
        ImageError
            If one of them is not a picture that can be read.
        ParameterError
            If ``top`` is not above 0.

        Examples
        --------
        >>> from kuiper.models import bundled, bundled_photo
        >>> classifier = Classifier(bundled("cifar_resnet20"))
        >>> answers = classifier.batch([bundled_photo("cat"), bundled_photo("digits")], top=1)
        >>> answers[0][0][0]
        'cat'
        """
        if top < 1:
            raise ParameterError("classifier", "top >= 1", top)
        logits = self._batches([self.preprocess(image) for image in images])
        return [self.named(row, top) for row in logits]

    def preprocess(self, image: ImageSource) -> Array:
        """The model's input (1, 3, size, size): the middle of the picture, shrunk and normalised as the card says."""
        card = self.card
        square = centre_crop(resize_shorter(read_image(image), card.resize), (card.size, card.size))
        return normalise(square, card.mean, card.std)

    def logits(self, x: Array) -> Array:
        """The model's output (b, labels) for a batch of inputs (b, 3, size, size).

        Raises
        ------
        ShapeError
            If the model gives an output of another shape.
        """
        return self.checked(self.model(x), len(x))

    def checked(self, output: Any, count: int) -> Array:
        """What the model gave for so many photos, if it is that.

        Parameters
        ----------
        output : of the model
        count : how many photos it was given

        Returns
        -------
        (count, labels)

        Raises
        ------
        ShapeError
            If it has another shape.

        Examples
        --------
        >>> from kuiper.models import bundled
        >>> Classifier(bundled("cifar_resnet20")).checked(np.zeros((2, 10), np.float32), 2).shape
        (2, 10)
        """
        logits = np.asarray(output)
        expected = (count, len(self.card.labels))
        if logits.shape != expected:
            raise ShapeError(self.model.name, f"one output of shape {expected}, as its card says", logits.shape)
        return logits

    def named(self, logits: Array, top: int) -> list[tuple[str, float]]:
        """The likeliest labels of one photo, by what the model gave for it.

        Parameters
        ----------
        logits : (labels,)
        top : how many labels

        Returns
        -------
        Pairs of a label and its probability, 0 to 1, the likeliest first.

        Examples
        --------
        >>> from kuiper.models import bundled
        >>> classifier = Classifier(bundled("cifar_resnet20"))
        >>> classifier.named(np.float32([0, 0, 0, 9, 0, 0, 0, 0, 0, 0]), top=1)[0][0]
        'cat'
        """
        probabilities = softmax(logits)
        return [(self.card.labels[i], float(probabilities[i])) for i in largest(probabilities, top)]


def softmax(logits: Array) -> npt.NDArray[np.float64]:
    """``exp(x) / sum(exp(x))``, computed on ``x - max(x)`` so that no exponential overflows.

    >>> softmax(np.array([1000, 1000, -1000], np.float32)).tolist()
    [0.5, 0.5, 0.0]
    """
    powers: npt.NDArray[np.float64] = np.exp(logits.astype(np.float64) - logits.max())
    powers /= powers.sum()
    return powers


def largest(values: npt.NDArray[np.float64], count: int) -> list[int]:
    """The positions of the largest values, the largest first; of equal ones, the earlier first.

    Parameters
    ----------
    values : (n,)
    count : how many positions; all if there are no more

    Returns
    -------
    A list of integers.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 2.0, 3.0]), 3)
    [1, 3, 2]
    """
    return [int(i) for i in np.argsort(-values, kind="stable")[:count]]
