"""What your engine can do after this course: it says what is on a photo. ``kuiper race photo``

Your preprocessing (5.1) makes a picture file's pixels the input of ResNet-20, which your engine (5.9) runs on your graph,
your layers and your language, and your softmax and top_k (5.2) make names of its scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kuiper
from kuiper.course import load_exercise
from kuiper.course.lecture import operator
from kuiper.models import ClassifierCard, bundled, bundled_photo
from kuiper.models.cards.model_card import card_path
from kuiper.models.pictures.preprocess import read_image

PARAM = bundled("cifar_resnet20")
CARD = ClassifierCard.read(card_path(PARAM))
PHOTO = np.asarray(read_image(bundled_photo()))
SIZE, BEST = 32, 3


def own() -> Callable[[], list[np.ndarray]]:
    """From the photo to the likeliest names, by your exercises (or by the reference where one is not solved)."""
    preprocess, scores = load_exercise("5.1").preprocess, load_exercise("5.2")
    network = load_exercise("5.9").Engine(PARAM, PARAM.with_suffix(".bin"))

    def run() -> list[np.ndarray]:
        (logits,) = network(preprocess(PHOTO, SIZE, SIZE, CARD.mean, CARD.std))
        return list(scores.top_k(scores.softmax(logits), BEST))

    return run


def reference() -> Callable[[], list[np.ndarray]]:
    """The same by kuiper and NumPy."""
    network = kuiper.load(PARAM)
    h, w = PHOTO.shape[:2]
    size = (h * SIZE // min(h, w), w * SIZE // min(h, w))
    top, left = (size[0] - SIZE) // 2, (size[1] - SIZE) // 2

    def run() -> list[np.ndarray]:
        x = PHOTO.transpose(2, 0, 1)[None].astype(np.float32)
        x = operator("F.interpolate", x, mode="bilinear", size=size)
        x = x[:, :, top : top + SIZE, left : left + SIZE] / 255
        mean, std = (np.array(numbers, np.float32).reshape(3, 1, 1) for numbers in (CARD.mean, CARD.std))
        powers = np.exp(np.asarray(network((x - mean) / std), np.float64))
        places = np.argsort(-powers)[:, :BEST]
        return [np.take_along_axis(powers / powers.sum(), places, 1), places]

    return run


def words(answer: list[np.ndarray]) -> str:
    """What came out."""
    shares, places = answer
    return ", ".join(f"{CARD.labels[place]} {share:.0%}" for share, place in zip(shares[0], places[0], strict=True))
