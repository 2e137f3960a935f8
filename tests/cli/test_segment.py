"""``kuiper segment`` as a user calls it, on a model that takes the strongest colour for the class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from kuiper.cli.segment import places
from kuiper.errors import ParameterError
from kuiper.models import bundled, bundled_photo
from kuiper.models.tasks.drawing import colour_of
from kuiper.models.tasks.segmentation import Segmenter
from tests.cli.program import command
from tests.models.little_models import relu_model
from zoo.shape_scenes import LABELS, compose

if TYPE_CHECKING:
    from pathlib import Path

run = command("segment")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    return relu_model(folder)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A quarter of it is red, the rest is blue."""
    pixels = np.zeros((60, 80, 3), np.uint8)
    pixels[:, :20, 0] = pixels[:, 20:, 2] = 255
    Image.fromarray(pixels).save(tmp_path / "flag.png")
    return tmp_path / "flag.png"


def test_segment_prints_shares_and_draws(
    model: Path, photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "names.txt").write_text("red\ngreen\nblue\n")
    out = tmp_path / "out.png"
    assert run(photo, "--model", model, "--labels", tmp_path / "names.txt", "-o", out, "--alpha", 1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{photo}  ")
    assert [line.split()[:2] for line in lines[1:3]] == [["blue", "75.0%"], ["red", "25.0%"]]
    assert f"wrote {out}" in lines
    with Image.open(out) as drawn:
        assert drawn.getpixel((10, 30)) == colour_of(0)
        assert drawn.getpixel((50, 30)) == colour_of(2)
        assert drawn.height > 60


def test_segment_tells_drawn_shapes_by_the_bundled_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = compose(seed=3, number=2, size=(192, 256))
    np.testing.assert_array_equal(np.asarray(Image.open(bundled_photo("shapes"))), np.asarray(scene.image))
    got = Segmenter(bundled("shapes_unet"))(scene.image).map
    assert np.mean(got == scene.classes) > 0.95
    assert run(bundled_photo("shapes"), "-o", tmp_path / "regions.png") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in LABELS)


def test_segment_prints_json(model: Path, photo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(photo, "--model", model, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record == {
        "image": str(photo),
        "width": 80,
        "height": 60,
        "regions": [
            {"label": "class 2", "class_id": 2, "share": 0.75},
            {"label": "class 0", "class_id": 0, "share": 0.25},
        ],
    }


def test_segment_of_several_fills_a_folder_and_goes_on_after_a_bad_one(
    model: Path, photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.jpg").write_text("no picture")
    Image.new("RGB", (1, 1), "red").save(tmp_path / "one.bmp")
    assert run(tmp_path / "notes.jpg", photo, tmp_path / "one.bmp", "--model", model, "-o", tmp_path / "out") == 1
    out = capsys.readouterr().out
    assert "notes.jpg: expected an image, got a file of another kind" in out
    assert "class 0 100.0%" in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["flag.png", "one.bmp.png"]
    assert run(tmp_path / "notes.jpg", photo, "--model", model, "--json") == 1
    assert [sorted(json.loads(line)) for line in capsys.readouterr().out.splitlines()] == [
        ["error", "image"],
        ["height", "image", "regions", "width"],
    ]


def test_segment_of_a_folder_leaves_its_own_output_out(model: Path, photo: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run(tmp_path, "--model", model, "-o", tmp_path / "out") == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["flag.png"]


def test_places_keeps_the_order_of_folders(tmp_path: Path) -> None:
    pictures = [str(tmp_path / name) for name in ("may/1.jpg", "june/1.jpg", "2.png")]
    drawn = places(pictures, tmp_path / "out")
    assert drawn == [tmp_path / "out" / name for name in ("may/1.jpg.png", "june/1.jpg.png", "2.png")]
    assert places(pictures, None) == [None] * 3
    with pytest.raises(ParameterError, match="-o: expected a folder for 3 pictures"):
        places(pictures, tmp_path / "out.png")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("flag.png", "-o", "out.txt"), "-o: expected a picture's file name, such as OUT.png, got"),
        (("flag.png", "--alpha", "2"), "--alpha: expected a number from 0 to 1, got 2.0"),
        (("flag.png", "--labels", "few.txt"), "expected an output with a channel for each of 2 labels, got 3 channels"),
        (
            ("flag.png", "--labels", "no.txt"),
            "no.txt: expected a file with one label a line, or coco, got nothing there",
        ),
        (("flag.png", "--multiple", "0"), "expected multiple >= 1, got 0"),
        (("notes.jpg",), "notes.jpg: expected an image, got a file of another kind"),
        (("empty.jpg",), "empty.jpg: expected an image, got an empty file"),
        (("nowhere.jpg",), "nowhere.jpg: expected a file, got nothing there"),
        (("folder",), "expected a folder with pictures, got none in it"),
        (("flag.png", "-o", "nowhere/out.xyz"), "expected a picture's file name"),
    ],
)
def test_segment_says_in_one_line_what_is_wrong(
    words: tuple[str, ...],
    message: str,
    model: Path,
    photo: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(photo.parent)
    (tmp_path / "few.txt").write_text("red\ngreen\n")
    (tmp_path / "notes.jpg").write_text("no picture")
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "folder").mkdir()
    assert run(*words, "--model", model) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("kuiper segment: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_segment_refuses_a_classifier(photo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(photo, "--model", bundled("cifar_resnet20")) == 1
    assert "expected a card with the task 'segment', got 'classify'" in capsys.readouterr().err


def test_segment_takes_pictures_of_extreme_shapes(model: Path, tmp_path: Path) -> None:
    for size in ((1, 1), (10000, 3)):
        Image.new("RGB", size, "red").save(tmp_path / "odd.png")
        assert run(tmp_path / "odd.png", "--model", model, "-o", tmp_path / "out.png") == 0
