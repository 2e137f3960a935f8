"""``kuiper explore`` as a user calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kuiper.cli import main
from kuiper.cli.race import explore_command
from kuiper.course.manifest import read_syllabus
from kuiper.course.race import Result
from kuiper.explore import timing
from kuiper.models import bundled_photo
from tests.course.made_up import made_up, solve
from tests.course.test_race import ADAPTERS
from tests.models.little_models import relu_model

WHOLE_HEAD = str(Path(__file__).parents[1] / "fixtures/models/digits_yolo_moduleop.pnnx.param")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)


def data_of(path: Path) -> dict[str, Any]:
    (text,) = re.findall(r'id="network">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def test_explore_without_arguments_shows_the_cat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore"]) == 0
    data = data_of(tmp_path / "cifar_resnet20.html")
    assert data["answers"]["top"][0]["label"] == "cat"
    assert data["input"]["size"] == [32, 32]
    assert "wrote cifar_resnet20.html: 4" in capsys.readouterr().out


def test_explore_of_a_detector_has_boxes_in_the_input_and_on_the_photo(tmp_path: Path) -> None:
    assert main(["explore", WHOLE_HEAD, str(bundled_photo("digits")), "-o", "page.html"]) == 0
    answers = data_of(tmp_path / "page.html")["answers"]
    assert len(answers["after"]) < len(answers["before"]) == answers["candidates"]
    with Image.open(bundled_photo("digits")) as photo:
        scale = 320 / max(photo.size)
    for entry in answers["after"]:
        sides = [
            (entry["box"][i + 2] - entry["box"][i]) / (entry["photo_box"][i + 2] - entry["photo_box"][i])
            for i in (0, 1)
        ]
        assert sides == pytest.approx([scale, scale], rel=1e-3)
    assert (tmp_path / "page.html").stat().st_size < 10e6


def test_explore_of_a_segmenter_has_its_regions(tmp_path: Path) -> None:
    picture = Image.open(bundled_photo("shapes")).resize((64, 64))
    picture.save("small.png")
    assert main(["explore", "shapes_unet", "small.png", "-o", "page.html"]) == 0
    answers = data_of(tmp_path / "page.html")["answers"]
    assert sum(entry["share"] for entry in answers["classes"]) == pytest.approx(1)
    assert answers["map"]["shape"] == [64, 64]


def test_explore_of_a_language_model_names_the_next_token(tmp_path: Path) -> None:
    assert main(["explore", "shakespeare", "--text", "ROME", "-o", "page.html"]) == 0
    data = data_of(tmp_path / "page.html")
    assert data["answers"]["meaning"] == "next token"
    assert data["answers"]["top"][0]["label"] == "O"
    assert data["values"][data["model"]["inputs"][0]["value"]]["shape"] == [1, 4]


def test_explore_takes_arrays_as_they_are(tmp_path: Path) -> None:
    model = relu_model(tmp_path)
    x = np.full((1, 3, 8, 8), -2, np.float32)
    np.save("x.npy", x)
    assert main(["explore", str(model), "x.npy", "-o", "page.html"]) == 0
    data = data_of(tmp_path / "page.html")
    assert data["values"][data["model"]["inputs"][0]["value"]]["low"] == -2
    assert data["input"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "page.txt"], "a file name that ends in .html"),
        (["no_such_model"], "a .param or an .onnx file, or one of"),
        (["cifar_resnet20", "missing.npy"], "no such file"),
        (["shapes_unet"], "a shape with all sizes"),
        (["cifar_resnet20", "--shape", "1,3,32,32", "--shape", "1"], "1 times --shape"),
        (["cifar_resnet20", "--shape", "1,3,5"], "4 axes"),
        (["cifar_resnet20", "--text", "words"], "a model of text"),
    ],
)
def test_explore_says_in_one_line_what_is_wrong(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *words]) == 1
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_explore_mine_leads_to_the_wrong_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace("points = 2", 'points = 2\nprovides = { "F.relu" = "Relu" }'))
    (manifest.parent / "adapters.py").write_text(ADAPTERS)
    solve(read_syllabus(tmp_path), "1.1", ("x * 2", "x * 3"))
    folder = tmp_path / "model"
    folder.mkdir()
    model = relu_model(folder)
    np.save("x.npy", np.arange(192, dtype=np.float32).reshape(1, 3, 8, 8))
    assert main(["explore", str(model), "x.npy", "--mine", "-o", "page.html"]) == 0
    data = data_of(tmp_path / "page.html")
    first = data["mine"]["first"]
    assert data["mine"]["operators"][first]["exercise"] == "1.1 double"
    assert first in data["operators"]
    assert data["runs"][-1]["kind"] == "mine"
    assert f"first divergence: {first}" in capsys.readouterr().out


def test_race_names_the_command_for_models_from_files() -> None:
    assert explore_command(Result("resnet20", [], [])) == "kuiper explore --mine"
    assert explore_command(Result("a.pnnx.param", [], [])) == "kuiper explore --mine a.pnnx.param"
    assert explore_command(Result("expressions", [], [])) == ""
