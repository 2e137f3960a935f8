"""The bundled detector, and the same with its head as one operator: cards, and what they read on held-out digits."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import kuiper
from kuiper.models import Detector, Letterbox, bundled
from kuiper.models.pictures.preprocess import normalise, read_image
from kuiper.models.tasks.boxes import iou

ROOT = Path(__file__).parents[2]
WHOLE_HEAD = ROOT / "tests/fixtures/models/digits_yolo_moduleop.pnnx.param"
PARAMS = {"digits_yolo": bundled("digits_yolo"), "digits_yolo_moduleop": WHOLE_HEAD}
NAMES = list(PARAMS)
PICTURE = Path(kuiper.__file__).parent / "models" / "assets" / "digits.png"
TRUTH = json.loads(Path(__file__).with_name("digits_truth.json").read_text(encoding="utf-8"))["digits.png"]


@cache
def rows(name: str, optimize: bool) -> npt.NDArray[np.float32]:
    """What a graph says about the picture: (1, boxes, 5 + classes)."""
    photo = read_image(PICTURE)
    pixels = normalise(Letterbox.fit((photo.height, photo.width), (320, 320)).apply(photo))
    return np.asarray(kuiper.load(PARAMS[name], optimize=optimize)(pixels))


@pytest.mark.parametrize("name", NAMES)
def test_files_are_small_and_described(name: str) -> None:
    param = PARAMS[name]
    assert param.with_suffix(".bin").stat().st_size < 1.1e6
    card = json.loads((param.parent / f"{name}.json").read_text(encoding="utf-8"))
    assert card["name"] == name
    assert card["task"] == "detect"
    assert card["labels"] == list("0123456789")
    assert card["size"] == [320, 320]
    assert card["map50"] >= 0.9
    assert {"map50_95", "seed", "epochs", "data"} <= card.keys()
    readme = (PARAMS["digits_yolo"].parent / "README.md").read_text(encoding="utf-8")
    assert "`digits_yolo`" in readme
    assert f"mAP50 {card['map50']:.3f}, mAP50-95 {card['map50_95']:.3f} on 500 scenes" in readme
    assert f"now they are {card['map50']} and {card['map50_95']}." in readme
    assert f"{card['parameters']:,}" in readme


def test_one_graph_has_the_head_whole_and_the_other_its_operators() -> None:
    expanded, whole = (param.read_text(encoding="utf-8") for param in PARAMS.values())
    assert "\nmodels.yolo.Detect " in whole
    assert "models.yolo.Detect" not in expanded


def test_lecture_shows_the_graph_that_is_tested_here() -> None:
    assert (ROOT / "notebooks/data" / WHOLE_HEAD.name).read_bytes() == WHOLE_HEAD.read_bytes()


@pytest.mark.parametrize(("name", "optimize"), [(NAMES[0], True), (NAMES[1], False), (NAMES[1], True)])
def test_both_graphs_say_the_same(name: str, optimize: bool) -> None:
    expected = rows(NAMES[0], optimize=False)
    assert expected.shape == (1, 3 * (40 * 40 + 20 * 20 + 10 * 10), 5 + 10)
    got = rows(name, optimize)
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_detector_reads_the_bundled_scene(name: str, optimize: bool) -> None:
    """Every digit is found where it is and read as what it is, and nothing else is taken for a digit."""
    found = Detector(PARAMS[name], optimize=optimize)(PICTURE)
    overlaps = iou(
        np.array([item["box"] for item in TRUTH], np.float32),
        np.array([detection.box for detection in found], np.float32),
    )
    best = overlaps.argmax(1)
    assert [found[i].label for i in best] == [item["label"] for item in TRUTH]
    assert overlaps.max(1).min() > 0.5
    assert sorted(best.tolist()) == list(range(len(TRUTH))) == list(range(len(found)))


def test_the_picture_states_its_licence() -> None:
    readme = PICTURE.with_name("README.md").read_text(encoding="utf-8")
    assert "`digits.png`" in readme
    assert "CC BY 4.0" in readme
