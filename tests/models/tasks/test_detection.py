"""The detector on models that pass the picture on, and on one exported from torch."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ImageError, KuiperError, ModelFormatError, ParameterError, ShapeError
from kuiper.models import Detection, Detector, bundled
from tests.models.little_models import relu_model, rows_model, write_model

if TYPE_CHECKING:
    from pathlib import Path

CARD = {"task": "detect", "labels": ["cat", "dog"], "size": [2, 7], "std": [1 / 255] * 3}
NOTHING = [0] * 7


def with_card(param: Path, **changes: Any) -> Path:
    card = {key: value for key, value in (CARD | changes).items() if value is not None}
    param.with_name("net.json").write_text(json.dumps(card), encoding="utf-8")
    return param


def picture(*rows: list[int], enlarged: int = 1) -> Image.Image:
    """A picture 2 high and 7 wide that ``rows_model`` turns into these rows, its pixels enlarged."""
    table = np.array([*rows, *[NOTHING] * (6 - len(rows))], np.uint8)
    pixels = table.reshape(3, 2, -1).transpose(1, 2, 0)
    return Image.fromarray(pixels.repeat(enlarged, 0).repeat(enlarged, 1))


def test_detector_gives_the_best_first_and_of_each_heap_the_best(tmp_path: Path) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)))
    photo = picture([3, 1, 4, 2, 1, 2, 1], [3, 1, 4, 2, 1, 3, 1], [6, 1, 2, 2, 1, 0, 4], [3, 1, 4, 2, 1, 0, 1])
    assert detector(photo) == [
        Detection("dog", 1, 4.0, (5, 0, 7, 2)),
        Detection("cat", 0, 3.0, (1, 0, 5, 2)),
        Detection("dog", 1, 1.0, (1, 0, 5, 2)),
    ]


def test_detector_gives_boxes_in_the_pixels_of_the_photo(tmp_path: Path) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)))
    found = detector(picture([3, 1, 4, 2, 1, 1, 0], enlarged=10))
    assert found == [Detection("cat", 0, 1.0, (10, 0, 50, 20))]


def test_detector_multiplies_objectness_and_class(tmp_path: Path) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)), confidence=1.0)
    found = detector(picture([3, 1, 4, 2, 2, 3, 5], [1, 1, 1, 1, 1, 1, 1]))
    assert [(one.label, one.score) for one in found] == [("dog", 10.0)]


def test_detector_lets_classes_compete_only_if_told_to(tmp_path: Path) -> None:
    param = with_card(rows_model(tmp_path, labels=2))
    photo = picture([3, 1, 4, 2, 1, 1, 0], [3, 1, 4, 2, 1, 0, 2])
    assert [one.label for one in Detector(param)(photo)] == ["dog", "cat"]
    assert [one.label for one in Detector(param, class_agnostic=True)(photo)] == ["dog"]


def test_detector_finds_no_more_than_it_may(tmp_path: Path) -> None:
    photo = picture([1, 1, 1, 1, 1, 1, 0], [3, 1, 1, 1, 1, 2, 0], [5, 1, 1, 1, 1, 3, 0])
    detector = Detector(with_card(rows_model(tmp_path, labels=2)), max_detections=2)
    assert [one.score for one in detector(photo)] == [3, 2]


def test_detector_takes_iou_and_confidence_from_card_and_caller(tmp_path: Path) -> None:
    photo = picture([2, 1, 4, 2, 2, 1, 0], [3, 1, 4, 2, 1, 1, 0])  # they share 3 of 5 columns
    param = with_card(rows_model(tmp_path, labels=2), iou=0.7, confidence=0.5)
    assert (Detector(param).iou, Detector(param).confidence) == (0.7, 0.5)
    assert len(Detector(param)(photo)) == 2
    assert len(Detector(param, iou=0.5)(photo)) == 1
    assert len(Detector(param, confidence=1)(photo)) == 1
    plain = with_card(param)
    assert (Detector(plain).iou, Detector(plain).confidence) == (0.45, 0.25)


def test_detector_leaves_out_what_lies_in_the_grey(tmp_path: Path) -> None:
    """A flat photo lies between two bars of grey: all rows say "around 114", where no photo is."""
    detector = Detector(with_card(rows_model(tmp_path, labels=2)), iou=1)
    assert detector(Image.new("RGB", (70, 1))) == []


def test_detector_takes_the_first_of_a_tuple(tmp_path: Path) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2, in_tuple=True)))
    assert [one.label for one in detector(picture([3, 1, 4, 2, 1, 1, 0]))] == ["cat"]


@pytest.mark.parametrize("optimize", [False, True])
def test_batch_agrees_with_one_by_one(tmp_path: Path, optimize: bool) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)), optimize=optimize)
    photos = [picture([3, 1, 4, 2, 1, 1, 0]), picture([5, 1, 2, 2, 1, 0, 1], enlarged=3), picture()]
    together = detector.batch(photos)
    assert together == [detector(photo) for photo in photos]
    assert [[one.label for one in found] for found in together] == [["cat"], ["dog"], []]
    assert detector.batch([]) == []


def test_batch_goes_one_by_one_where_the_graph_takes_no_more(tmp_path: Path) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)))
    original, sizes = detector.model, []

    def only_one(x: np.ndarray) -> Any:
        sizes.append(len(x))
        if len(x) > 1:
            raise ShapeError("reshape", "one picture", len(x))
        return original(x)

    detector.model = only_one  # type: ignore[assignment]
    photos = [picture([3, 1, 4, 2, 1, 1, 0]), picture([5, 1, 2, 2, 1, 0, 1])]
    for _ in range(2):
        assert [[one.label for one in found] for found in detector.batch(photos)] == [["cat"], ["dog"]]
    assert sizes == [2, 1, 1, 1, 1]  # it is not tried again


def test_detector_works_without_a_card(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("cat\ndog\n", encoding="utf-8")
    param = rows_model(tmp_path, labels=2)
    for labels in (names, str(names), ["cat", "dog"]):
        detector = Detector(param, labels=labels)
        assert (detector.labels, detector.size) == (("cat", "dog"), (2, 7))
    assert Detector(rows_model(tmp_path, labels=80), labels="coco").labels[79] == "toothbrush"


def test_detector_takes_labels_and_size_of_the_caller_before_those_of_the_card(tmp_path: Path) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)), labels=["a", "b"], size=64)
    assert (detector.labels, detector.size) == (("a", "b"), (64, 64))
    assert Detector(with_card(rows_model(tmp_path, labels=2)), size=(2, 14)).size == (2, 14)


def test_detector_needs_a_card_or_labels(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"net.json: expected a model card, or labels, got neither"):
        Detector(rows_model(tmp_path, labels=2))


def test_detector_needs_a_size_where_the_file_has_none(tmp_path: Path) -> None:
    param = relu_model(tmp_path)
    with pytest.raises(ParameterError, match="expected a size, as the file leaves height and width open, got none"):
        Detector(param, labels="coco")
    assert Detector(param, labels="coco", size=64).size == (64, 64)


@pytest.mark.parametrize("size", [(0, 5), (-1, -1), -3])
def test_detector_refuses_sizes_that_are_none(tmp_path: Path, size: Any) -> None:
    with pytest.raises(ParameterError, match="detector: expected a height and width above 0"):
        Detector(rows_model(tmp_path, labels=2), labels=["a", "b"], size=size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.5}, "expected confidence from 0 to 1, got 1.5"),
        ({"iou": -0.1}, "expected iou from 0 to 1, got -0.1"),
        ({"iou": float("nan")}, "expected iou from 0 to 1, got nan"),
        ({"max_detections": 0}, "expected max_detections >= 1, got 0"),
    ],
)
def test_detector_refuses_options_out_of_range(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Detector(with_card(rows_model(tmp_path, labels=2)), **options)


@pytest.mark.parametrize("labels", [["one"], ["one", "two", "three"]])
def test_detector_names_both_numbers_when_labels_do_not_fit(tmp_path: Path, labels: list[str]) -> None:
    detector = Detector(rows_model(tmp_path, labels=2), labels=labels)
    expected = (
        f"expected rows (1, n, {5 + len(labels)}): x, y, w, h, objectness and {len(labels)} labels, got (1, 6, 7)"
    )
    with pytest.raises(ShapeError, match=re.escape(expected)) as caught:
        detector(picture())
    assert caught.value.hint == f"the model tells 2 classes apart, but there are {len(labels)} labels"
    with pytest.raises(ShapeError, match=re.escape(expected)):
        detector.batch([picture(), picture()])


def test_detector_refuses_a_model_that_gives_no_rows(tmp_path: Path) -> None:
    detector = Detector(relu_model(tmp_path, "(1,3,8,8)"), labels=["a", "b"])
    expected = "expected rows (1, n, 7): x, y, w, h, objectness and 2 labels, got (1, 3, 8, 8)"
    with pytest.raises(ShapeError, match=re.escape(expected)):
        detector(picture())


def test_detector_refuses_a_model_of_pictures_with_one_channel(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match="expected a model that takes three channels: red, green, blue, got 1"):
        Detector(relu_model(tmp_path, "(1,1,8,8)"), labels="coco")


def test_detector_refuses_a_model_of_two_pictures(tmp_path: Path) -> None:
    body = (
        "pnnx.Input a 0 1 0\npnnx.Input b 0 1 1\npnnx.Expression sum 2 1 0 1 2 expr=add(@0,@1)\npnnx.Output out 1 0 2"
    )
    with pytest.raises(ShapeError, match="expected a model with one input, of pictures, got 2 inputs"):
        Detector(write_model(tmp_path, body), labels="coco")


def test_detector_refuses_a_card_of_another_task(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="expected a card with the task 'detect', got 'classify'"):
        Detector(bundled("cifar_resnet20"))


@pytest.mark.parametrize("content", [b"", b"no picture at all"])
def test_detector_passes_on_what_is_wrong_with_an_image(tmp_path: Path, content: bytes) -> None:
    detector = Detector(with_card(rows_model(tmp_path, labels=2)))
    (tmp_path / "photo.jpg").write_bytes(content)
    with pytest.raises(ImageError, match=r"photo.jpg: expected an image, got"):
        detector(tmp_path / "photo.jpg")
    with pytest.raises(ImageError, match="got a directory"):
        detector.batch([picture(), tmp_path])


@pytest.mark.parametrize("size", [(1, 1), (10000, 3), (3, 10000)])
def test_detector_takes_photos_of_extreme_shapes(tmp_path: Path, size: tuple[int, int]) -> None:
    assert isinstance(Detector(with_card(rows_model(tmp_path, labels=2)))(Image.new("RGB", size, "blue")), list)


@pytest.mark.torch
def test_detector_finds_what_torch_finds(tmp_path: Path) -> None:
    """A net with the head of a YOLOv5, from torch; what follows the head, written once more in torch."""
    torch = pytest.importorskip("torch")
    from kuiper.models.conversion import export
    from tests.fixtures.little_nets import LittleYolo, torch_detections

    torch.manual_seed(5)
    model = LittleYolo(labels=3).eval()
    param, _ = export(model, (torch.rand(1, 3, 64, 96),), tmp_path / "yolo")
    detector = Detector(param, labels=["a", "b", "c"], confidence=0.2, iou=0.5, max_detections=40)
    generator = np.random.default_rng(3)
    photos = [generator.integers(0, 256, (*size, 3), np.uint8) for size in ((64, 96), (50, 40), (200, 500))]
    found = detector.batch(photos)
    assert detector._rows._takes_several
    for photo, detections in zip(photos, found, strict=True):
        expected = torch_detections(model, photo, (64, 96), 0.2, 0.5, 40)
        assert 5 < len(expected) == len(detections)
        assert [one.class_id for one in detections] == expected[:, 5].astype(int).tolist()
        np.testing.assert_allclose([one.score for one in detections], expected[:, 4], rtol=0, atol=1e-5)
        boxes = np.array([one.box for one in detections])
        np.testing.assert_allclose(boxes, expected[:, :4], rtol=0, atol=1e-5 * max(photo.shape))


def test_every_error_is_one_of_kuiper(tmp_path: Path) -> None:
    with pytest.raises(KuiperError):
        Detector(tmp_path / "nowhere.pnnx.param", labels="coco")
