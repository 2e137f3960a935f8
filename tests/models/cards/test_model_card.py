"""Model cards: what is read, and what each mistake is called."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import ModelFormatError
from kuiper.models.cards.model_card import ClassifierCard, DetectorCard, ImageCard, SegmenterCard, card_path

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD = {"labels": ["cat", "dog"], "mean": [0.5, 0.25, 0], "std": [1, 0.5, 0.25], "size": 224}


def write(folder: Path, content: object) -> Path:
    path = folder / "card.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_read_takes_what_a_classifier_needs(tmp_path: Path) -> None:
    card = ClassifierCard.read(write(tmp_path, GOOD | {"seed": 3}))
    assert card == ClassifierCard(("cat", "dog"), (0.5, 0.25, 0.0), (1.0, 0.5, 0.25), size=224, resize=224)


def test_read_takes_a_resize_larger_than_the_crop(tmp_path: Path) -> None:
    assert ClassifierCard.read(write(tmp_path, GOOD | {"resize": 256})).resize == 256


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": []}, "expected 'labels': a list of names, got []"),
        ({"labels": ["cat", 1]}, "expected 'labels': a list of names, got ['cat', 1]"),
        ({"labels": None}, "expected 'labels': a list of names, got None"),
        ({"mean": [1, 2]}, "expected 'mean': three numbers, for red, green and blue, of at most 1,000,000, got [1, 2]"),
        ({"mean": 0.5}, "expected 'mean': three numbers, for red, green and blue, of at most 1,000,000, got 0.5"),
        ({"std": [1, 0, 1]}, "expected 'std' above 0, and at least 1e-06, got (1.0, 0.0, 1.0)"),
        ({"size": 0}, "expected 'size': a number of pixels from 1 to 8192, got 0"),
        ({"size": True}, "expected 'size': a number of pixels from 1 to 8192, got True"),
        ({"size": "32"}, "expected 'size': a number of pixels from 1 to 8192, got '32'"),
        ({"resize": 100}, "expected 'resize' >= 'size' (224), got 100"),
    ],
)
def test_read_names_the_wrong_entry(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = write(tmp_path, GOOD | changes)
    with pytest.raises(ModelFormatError, match=re.escape(f"{path}: {message}")):
        ClassifierCard.read(path)


@pytest.mark.parametrize(
    ("content", "message"), [("{", "a model card in JSON"), ("[]", "a JSON object, got a list"), ("", "in JSON")]
)
def test_read_refuses_what_is_no_card(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        ClassifierCard.read(write(tmp_path, content))


def test_read_refuses_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="expected a model card in JSON"):
        ClassifierCard.read(tmp_path)


@pytest.mark.parametrize("name", ["net.pnnx.param", "net.param"])
def test_card_path_lies_beside_the_graph(name: str) -> None:
    assert card_path(Path("folder", name)) == Path("folder", "net.json")


DETECT = {"task": "detect", "labels": ["cat", "dog"], "size": [320, 640]}


def test_detector_card_has_the_thresholds_of_yolov5_unless_told(tmp_path: Path) -> None:
    card = DetectorCard.read(write(tmp_path, DETECT | {"precision": 0.9}))
    assert card == DetectorCard(("cat", "dog"), (320, 640), confidence=0.25, iou=0.45, mean=(0, 0, 0), std=(1, 1, 1))
    changes = {"confidence": 0, "iou": 1, "mean": [0.5, 0, 0], "std": [2, 1, 1]}
    card = DetectorCard.read(write(tmp_path, DETECT | changes))
    assert (card.confidence, card.iou, card.mean, card.std) == (0, 1, (0.5, 0, 0), (2, 1, 1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 640}, "expected 'size': [height, width], each from 1 to 8192 pixels, got 640"),
        ({"size": [640]}, "expected 'size': [height, width], each from 1 to 8192 pixels, got [640]"),
        ({"size": [640, 0]}, "expected 'size': [height, width], each from 1 to 8192 pixels, got [640, 0]"),
        ({"labels": {}}, "expected 'labels': a list of names, got {}"),
        ({"confidence": 2}, "expected 'confidence' from 0 to 1, got 2"),
        ({"iou": "0.5"}, "expected 'iou' from 0 to 1, got '0.5'"),
        ({"iou": True}, "expected 'iou' from 0 to 1, got True"),
        ({"task": "classify"}, "expected a card with the task 'detect', got 'classify'"),
        ({"task": 5}, "expected a card with the task 'detect', got 5"),
    ],
)
def test_detector_card_names_the_wrong_entry(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = write(tmp_path, DETECT | changes)
    with pytest.raises(ModelFormatError, match=re.escape(f"{path}: {message}")):
        DetectorCard.read(path)


def test_detector_card_has_to_name_its_task(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="expected a card with the task 'detect', got 'classify'"):
        DetectorCard.read(write(tmp_path, {key: value for key, value in DETECT.items() if key != "task"}))


def test_segmenter_card_may_leave_the_size_to_the_file(tmp_path: Path) -> None:
    card = {"task": "segment", "labels": ["sky", "sea"]}
    assert SegmenterCard.read(write(tmp_path, card)) == SegmenterCard(("sky", "sea"))
    assert SegmenterCard.read(write(tmp_path, card | {"size": [4, 6]})).size == (4, 6)
    with pytest.raises(ModelFormatError, match="'size'"):
        SegmenterCard.read(write(tmp_path, card | {"size": None}))


def test_image_card_takes_mean_and_std_of_any_card(tmp_path: Path) -> None:
    param = tmp_path / "card.pnnx.param"
    assert ImageCard.beside(param) == ImageCard((0, 0, 0), (1, 1, 1))
    for content in ({"task": "image", "mean": [0.5, 0.25, 0], "std": [1, 0.5, 0.25]}, GOOD):
        write(tmp_path, content)
        assert ImageCard.beside(param) == ImageCard((0.5, 0.25, 0), (1, 0.5, 0.25))
    write(tmp_path, {"task": "image", "std": [0, 1, 1]})
    with pytest.raises(ModelFormatError, match="'std' above 0"):
        ImageCard.beside(param)


READERS = [
    (ClassifierCard.read, GOOD),
    (DetectorCard.read, DETECT),
    (SegmenterCard.read, {"task": "segment", "labels": ["a"], "size": [4, 6]}),
    (lambda path: ImageCard.beside(path.with_name("card.pnnx.param")), {"task": "image"}),
]


@pytest.mark.parametrize(("read", "good"), READERS, ids=["classify", "detect", "segment", "image"])
@pytest.mark.parametrize(
    "entry",
    [
        '"mean": [NaN, 0, 0]',
        '"mean": [1e999, 0, 0]',
        '"mean": [-1e999, 0, 0]',
        '"mean": [1e30, 0, 0]',
        f'"mean": [1{"0" * 400}, 0, 0]',
        '"mean": [true, 0, 0]',
        '"mean": ["0", 0, 0]',
        '"std": [1, Infinity, 1]',
        '"std": [1, 1e-320, 1]',
        '"std": [1, -1, 1]',
        '"std": {"r": 1}',
        f'"std": {"[" * 100_000}{"]" * 100_000}',
        f'"std": {"[" * 30}{"]" * 30}',
        '"std": [1, 1, 1], "std": [1, 1, 1]',
        '"labels": ["\xff',
    ],
)
def test_cards_with_hostile_colours_are_one_error_with_the_path(
    tmp_path: Path, read: Callable[[Path], object], good: dict[str, object], entry: str
) -> None:
    kept = json.dumps({key: value for key, value in good.items() if f'"{key}"' not in entry})
    path = tmp_path / "card.json"
    path.write_text(f"{kept[:-1]}, {entry}}}", encoding="latin-1")
    with pytest.raises(ModelFormatError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: expected ")
    assert len(str(caught.value)) < 1000 + len(str(path))


@pytest.mark.parametrize(("read", "good"), READERS[:3], ids=["classify", "detect", "segment"])
@pytest.mark.parametrize("size", [10**6, 8193, 2**63, 10**400, 0, -1, 1e3, float("nan"), True, "32", None, {}, [[]]])
@pytest.mark.parametrize("labels", [["a"]])
def test_cards_with_hostile_sizes_are_one_error_with_the_path(
    tmp_path: Path, read: Callable[[Path], object], good: dict[str, object], size: object, labels: list[str]
) -> None:
    path = write(tmp_path, good | {"labels": labels, "size": size if "task" not in good else [size, 8]})
    with pytest.raises(ModelFormatError, match=re.escape(f"{path}: expected ")):
        read(path)


@pytest.mark.parametrize(("read", "good"), READERS[:3], ids=["classify", "detect", "segment"])
def test_cards_of_a_hundred_thousand_labels_are_read(
    tmp_path: Path, read: Callable[[Path], Any], good: dict[str, object]
) -> None:
    assert len(read(write(tmp_path, good | {"labels": ["label"] * 100_000})).labels) == 100_000
    with pytest.raises(ModelFormatError) as caught:
        read(write(tmp_path, good | {"labels": [1] * 100_000}))
    assert len(str(caught.value)) < 1000
