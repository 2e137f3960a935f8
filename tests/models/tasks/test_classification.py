"""The classifier on the bundled photo, and its arithmetic by hand."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ImageError, ModelFormatError, ParameterError, ShapeError
from kuiper.models import Classifier, bundled, bundled_photo
from kuiper.models.tasks.classification import largest, softmax

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier(bundled("cifar_resnet20"))


def copy_model(folder: Path, **changes: object) -> Path:
    """The bundled model with changes to its card."""
    source = bundled("cifar_resnet20")
    for path in (source, source.with_suffix(".bin")):
        shutil.copyfile(path, folder / path.name)
    card = json.loads(source.with_name("cifar_resnet20.json").read_text(encoding="utf-8")) | changes
    (folder / "cifar_resnet20.json").write_text(json.dumps(card), encoding="utf-8")
    return folder / source.name


def test_softmax_by_hand() -> None:
    np.testing.assert_allclose(softmax(np.log(np.array([1, 2, 5], np.float32))), [0.125, 0.25, 0.625], rtol=1e-6)


def test_softmax_does_not_overflow() -> None:
    assert softmax(np.array([3e38, -3e38], np.float32)).tolist() == [1, 0]


def test_largest_keeps_the_order_of_equals() -> None:
    assert largest(np.array([0.1, 0.4, 0.1, 0.4, 0.0]), 4) == [1, 3, 0, 2]
    assert largest(np.array([2.0, 1.0]), 5) == [0, 1]


@pytest.mark.parametrize("optimize", [False, True])
def test_classifier_sees_the_cat(optimize: bool) -> None:
    best = Classifier(bundled("cifar_resnet20"), optimize=optimize)(bundled_photo())
    assert len(best) == 5
    assert best[0][0] == "cat"
    assert best[0][1] > 0.5
    assert sorted(best, key=lambda pair: -pair[1]) == best


def test_classifier_answers_path_text_picture_and_array_alike(classifier: Classifier) -> None:
    path = bundled_photo()
    expected = classifier(path)
    with Image.open(path) as image:
        array = np.asarray(image)
        assert classifier(image) == expected
    assert classifier(str(path)) == expected
    assert classifier(array) == expected


def test_classifier_gives_as_many_labels_as_asked_for(classifier: Classifier) -> None:
    assert [len(classifier(bundled_photo(), top=top)) for top in (1, 3, 10, 99)] == [1, 3, 10, 10]
    assert sum(probability for _, probability in classifier(bundled_photo(), top=10)) == pytest.approx(1)


def test_classifier_refuses_to_name_nothing(classifier: Classifier) -> None:
    with pytest.raises(ParameterError, match="classifier: expected top >= 1, got 0"):
        classifier(bundled_photo(), top=0)


def test_classifier_passes_on_what_is_wrong_with_an_image(classifier: Classifier, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="got a directory"):
        classifier(tmp_path)


def test_preprocess_takes_the_middle_at_the_size_of_the_card(classifier: Classifier) -> None:
    pixels = np.zeros((64, 192, 3), np.uint8)
    pixels[:, 64:128] = 255  # the middle square is white
    x = classifier.preprocess(pixels)
    assert x.shape == (1, 3, 32, 32)
    white = (1 - np.array(classifier.card.mean)) / np.array(classifier.card.std)
    np.testing.assert_allclose(x[0, :, 8:24, 8:24], np.broadcast_to(white.reshape(3, 1, 1), (3, 16, 16)), rtol=1e-5)


def test_classifier_of_several_images_at_once_agrees_with_one_by_one(classifier: Classifier) -> None:
    x = np.random.default_rng(5).standard_normal((4, 3, 32, 32), dtype=np.float32)
    together = classifier.logits(x)
    assert together.shape == (4, 10)
    for i in range(4):
        np.testing.assert_allclose(classifier.logits(x[i : i + 1])[0], together[i], rtol=0, atol=1e-4)


def test_classifier_refuses_a_card_for_another_model(tmp_path: Path) -> None:
    model = Classifier(copy_model(tmp_path, labels=["yes", "no"]))
    with pytest.raises(
        ShapeError, match=re.escape("expected one output of shape (1, 2), as its card says, got (1, 10)")
    ):
        model(bundled_photo())


def test_classifier_needs_a_card(tmp_path: Path) -> None:
    param = copy_model(tmp_path)
    (tmp_path / "cifar_resnet20.json").unlink()
    with pytest.raises(ModelFormatError, match="expected a model card with the task 'classify', got nothing there"):
        Classifier(param)


def test_batch_of_photos_agrees_with_one_by_one(classifier: Classifier) -> None:
    photos = [bundled_photo(), np.zeros((40, 60, 3), np.uint8)]
    together = classifier.batch(photos, top=3)
    assert len(together) == 2
    for best, photo in zip(together, photos, strict=True):
        alone = classifier(photo, top=3)
        assert [label for label, _ in best] == [label for label, _ in alone]
        np.testing.assert_allclose([share for _, share in best], [share for _, share in alone], atol=1e-5)
    assert classifier.batch([]) == []
