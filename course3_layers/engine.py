"""What your engine can do after this course: it runs a convolution network, ResNet-20. ``kuiper race convolution``

Graph and layers are yours. Exercise 5.9 puts them together, and the additions in ResNet-20 are
expressions, the subject of the next course: until you have solved these, the reference does them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kuiper
from kuiper.course import load_exercise
from kuiper.language import _
from kuiper.models import ClassifierCard, bundled, bundled_photo
from kuiper.models.cards.model_card import card_path
from kuiper.models.pictures.preprocess import normalise, read_image, resize

PARAM = bundled("cifar_resnet20")
CARD = ClassifierCard.read(card_path(PARAM))
INPUT = normalise(resize(read_image(bundled_photo()), (32, 32)), CARD.mean, CARD.std)


def own() -> Callable[[], list[np.ndarray]]:
    """The network on your graph and your layers (or on the reference where an exercise is not solved)."""
    network = load_exercise("5.9").Engine(PARAM, PARAM.with_suffix(".bin"))
    return lambda: list(network(INPUT))


def reference() -> Callable[[], list[np.ndarray]]:
    """The same by kuiper."""
    network = kuiper.load(PARAM)
    return lambda: [np.asarray(network(INPUT))]


def words(answer: list[np.ndarray]) -> str:
    """What came out."""
    best = int(answer[0].argmax())
    said = _("ResNet-20 on a photo: the largest of {count} scores is that of '{name}'")
    return said.format(count=answer[0].size, name=CARD.labels[best])
