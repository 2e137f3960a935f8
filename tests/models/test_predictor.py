"""The predictor in this process, in another one, and on pictures that are none."""

from __future__ import annotations

import json
import pickle
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

import kuiper
from kuiper.errors import ImageError, KuiperError, ModelFormatError, ParameterError
from kuiper.models import Classifier, Detector, bundled, bundled_photo
from kuiper.models.many.processes import over_processes
from kuiper.models.predictor import Predictor, failure
from kuiper.models.tasks.batches import Batches
from tests.models.little_models import relu_model, rows_model

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(bundled("cifar_resnet20"), top=2)


def detector(folder: Path, **options: Any) -> Predictor:
    """Each picture 2 high and 7 wide is the rows that it finds, see ``rows_model``."""
    param = rows_model(folder, labels=2)
    card = {"task": "detect", "labels": ["cat", "dog"], "size": [2, 7], "std": [1 / 255] * 3}
    param.with_name("net.json").write_text(json.dumps(card), encoding="utf-8")
    return Predictor(param, **options)


def picture(first_row: list[int]) -> Image.Image:
    pixels = np.zeros((2, 7, 3), np.uint8)
    pixels[0, :, 0] = first_row
    return Image.fromarray(pixels)


def test_predictor_answers_as_the_classifier_does(predictor: Predictor) -> None:
    expected = Classifier(bundled("cifar_resnet20"))(bundled_photo(), top=2)
    with Image.open(bundled_photo()) as image:
        assert predictor(image) == expected
        assert predictor(np.asarray(image)) == expected
    assert predictor(bundled_photo()) == predictor(str(bundled_photo())) == expected


def test_predictor_answers_about_a_list_as_about_each(predictor: Predictor) -> None:
    photo = Image.open(bundled_photo()).convert("RGB")
    sources = [photo.crop((i, 0, i + 200, 200)) for i in range(35)]  # more than go through the model at once
    together = predictor(sources)
    assert [[label for label, _ in best] for best in together] == [
        [label for label, _ in predictor(source)] for source in sources
    ]
    probabilities = np.array([[probability for _, probability in best] for best in together])
    one_by_one = np.array([[probability for _, probability in predictor(source)] for source in sources])
    np.testing.assert_allclose(probabilities, one_by_one, rtol=0, atol=1e-4)
    assert predictor([]) == []


def test_predictor_takes_the_task_from_the_card(tmp_path: Path) -> None:
    assert Predictor(bundled("cifar_resnet20")).task == "classify"
    found = detector(tmp_path)(picture([3, 1, 4, 2, 1, 0, 1]))
    assert [(one.label, one.box) for one in found] == [("dog", (1, 0, 5, 2))]


def test_predictor_takes_the_task_from_the_caller(tmp_path: Path) -> None:
    predictor = Predictor(relu_model(tmp_path), task="segment", labels=["r", "g", "b"])
    record = predictor.record(np.full((2, 4, 3), (1, 0, 0), np.uint8))
    assert record["regions"] == [{"label": "r", "class_id": 0, "share": 1.0}]
    assert [answer.map.shape for answer in predictor([np.zeros((2, 4, 3), np.uint8)] * 2)] == [(2, 4), (2, 4)]


def test_predictor_of_a_card_for_another_task_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="expected a card with the task 'detect', got 'classify'"):
        Predictor(bundled("cifar_resnet20"), task="detect")
    with pytest.raises(ParameterError, match="expected a task: one of classify, detect, segment, got dance"):
        detector(tmp_path, task="dance")


def test_predictor_that_cannot_load_says_so_at_once(tmp_path: Path) -> None:
    with pytest.raises(KuiperError, match=r"nowhere\.json: expected a model card with the task 'classify'"):
        Predictor(tmp_path / "nowhere.pnnx.param")


def test_record_of_a_classifier_is_ready_for_json(predictor: Predictor) -> None:
    record = predictor.record(bundled_photo())
    assert json.loads(json.dumps(record)) == record
    assert list(record) == ["image", "width", "height", "labels"]
    assert (record["image"], record["width"], record["height"]) == (str(bundled_photo()), 451, 300)
    assert [(entry["label"], entry["probability"]) for entry in record["labels"]] == predictor(bundled_photo())


def test_record_of_a_detector_is_ready_for_json(tmp_path: Path) -> None:
    record = detector(tmp_path).record(picture([3, 1, 4, 2, 1, 0, 1]))
    assert json.loads(json.dumps(record)) == record
    found = {"label": "dog", "class_id": 1, "score": 1.0, "box": [1.0, 0.0, 5.0, 2.0]}
    assert record == {"image": None, "width": 7, "height": 2, "detections": [found]}


def test_record_of_a_bad_image_is_an_error_in_one_line(predictor: Predictor, tmp_path: Path) -> None:
    text, empty, folder = tmp_path / "text.jpg", tmp_path / "empty.jpg", tmp_path / "x.png"
    text.write_text("no picture", encoding="utf-8")
    empty.touch()
    folder.mkdir()
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(bundled_photo().read_bytes()[:1000])
    expected = ["another kind", "an empty file", "a directory", "truncated", "nothing there"]
    for path, words in zip([text, empty, folder, cut, tmp_path / "none.jpg"], expected, strict=True):
        record = predictor.record(path)
        assert list(record) == ["image", "error"]
        assert record["image"] == str(path)
        assert words in record["error"]
        assert "\n" not in record["error"]


def test_record_survives_whatever_a_decoder_raises(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(source: object) -> None:
        raise KeyError("tag\n  271")

    monkeypatch.setattr("kuiper.models.predictor.read_image", broken)
    assert predictor.record("a.tif") == {"image": "a.tif", "error": "'tag\\n 271'"}


def test_record_has_no_numbers_that_json_has_not(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Classifier, "__call__", lambda self, image, top: [("cat", float("nan"))])
    record = predictor.record(bundled_photo())
    assert "not JSON compliant" in record["error"]


def test_failure_has_a_word_even_for_an_error_without_one() -> None:
    assert failure(None, MemoryError()) == {"image": None, "error": "MemoryError"}


def test_predictor_calls_with_a_list_pass_on_what_is_wrong(predictor: Predictor, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="got a directory"):
        predictor([bundled_photo(), tmp_path])


def test_predictor_is_pickled_without_its_model(predictor: Predictor) -> None:
    pickled = pickle.dumps(predictor)
    assert len(pickled) < 1000
    copy = pickle.loads(pickled)
    assert copy(bundled_photo()) == predictor(bundled_photo())


def test_predictors_of_one_process_share_a_model(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = [pickle.loads(pickle.dumps(predictor)) for _ in range(3)]
    assert len({id(copy.load()) for copy in copies}) == 1
    monkeypatch.setattr(kuiper, "load", lambda *args, **options: pytest.fail("loaded again"))
    pickle.loads(pickle.dumps(predictor)).record(bundled_photo())


def test_predictor_of_a_model_written_anew_loads_it(tmp_path: Path) -> None:
    for path in Predictor(bundled("cifar_resnet20")).files():
        shutil.copyfile(path, tmp_path / path.name)
    param = tmp_path / bundled("cifar_resnet20").name
    before = Predictor(param)
    card = tmp_path / "cifar_resnet20.json"
    content = json.loads(card.read_text(encoding="utf-8"))
    card.write_text(json.dumps(content | {"labels": [f"class {i}" for i in range(10)]}), encoding="utf-8")
    assert before(bundled_photo())[0][0] == "cat"
    assert Predictor(param)(bundled_photo())[0][0] == "class 3"


def test_predictor_works_in_other_processes(predictor: Predictor, tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{i}.jpg") for i in range(3)]
    for path in paths:
        shutil.copyfile(bundled_photo(), path)
    records = over_processes(predictor.record, paths, processes=1)
    assert sorted(records, key=lambda record: record["image"]) == [predictor.record(path) for path in paths]


def test_detector_options_reach_the_detector(tmp_path: Path) -> None:
    strict = detector(tmp_path, confidence=0.99)
    assert isinstance(strict.load(), Detector)
    assert strict.load().confidence == 0.99


def test_batches_goes_one_by_one_after_the_graph_has_refused() -> None:
    sizes = []

    def only_one(x: np.ndarray) -> np.ndarray:
        sizes.append(len(x))
        if len(x) > 1:
            raise ParameterError("view", "1", len(x))
        return x + 1

    batches = Batches(only_one)
    inputs = [np.full((1, 2), i, np.float32) for i in range(3)]
    for _ in range(2):
        np.testing.assert_array_equal(batches(inputs), [[1, 1], [2, 2], [3, 3]])
    assert sizes == [3, 1, 1, 1, 1, 1, 1]
    with pytest.raises(ParameterError):
        Batches(only_one)([np.zeros((2, 2), np.float32)])
