"""Find things on photos: tables, drawings, records, on a model that reads its boxes from the picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.cli.program import command
from tests.models.little_models import rows_model

run = command("detect", "--model")

CAT, DOG = [3, 1, 4, 2, 1, 1, 0], [3, 1, 4, 2, 2, 0, 1]
"""x, y, w, h, objectness, cat, dog: both lie at (10, 0, 50, 20) of a photo."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    param = rows_model(tmp_path, labels=2)
    card = {"task": "detect", "labels": ["cat", "dog"], "size": [2, 7], "std": [1 / 255] * 3}
    param.with_name("net.json").write_text(json.dumps(card), encoding="utf-8")
    return param


def photo(path: Path, *rows: list[int]) -> Path:
    """A picture of 70 x 20 on which the model finds these rows; of a lossless kind."""
    table = np.array([*rows, *[[0] * 7] * (6 - len(rows))], np.uint8)
    pixels = table.reshape(3, 2, -1).transpose(1, 2, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.repeat(10, 0).repeat(10, 1)).save(path)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pictures in different folders, and a bad one."""
    photos = tmp_path / "photos"
    photo(photos / "cat.png", CAT)
    photo(photos / "more" / "dog.tif", DOG)
    (photos / "bad.png").write_text("no picture", encoding="utf-8")
    return photos


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def is_drawn(drawing: Path, photo: Path) -> bool:
    """Whether a picture is the photo with something on it."""
    with Image.open(drawing) as ours, Image.open(photo) as original:
        assert ours.size == original.size
        return not np.array_equal(np.asarray(ours.convert("RGB")), np.asarray(original.convert("RGB")))


def test_detect_prints_a_table(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = photo(tmp_path / "a.png", CAT, DOG)
    assert run(model, path) == 0
    title, *table = capsys.readouterr().out.splitlines()
    assert title.startswith(f"{path}  70x20  ")
    assert title.endswith(" threads")
    assert [line.split() for line in table if line] == [
        ["label", "score", "left", "top", "right", "bottom"],
        ["dog", "200.0%", "10.0", "0.0", "50.0", "20.0"],
        ["cat", "100.0%", "10.0", "0.0", "50.0", "20.0"],
    ]


def test_detect_says_so_if_it_finds_nothing(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(model, photo(tmp_path / "a.png")) == 0
    assert capsys.readouterr().out.splitlines()[1] == "  nothing found"


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ([], ["dog", "cat"]),
        (["--class-agnostic"], ["dog"]),
        (["--confidence", "1"], ["dog"]),
        (["--labels", "LABELS"], ["wolf", "lynx"]),
        (["--size", "7"], []),  # a row of the picture is no longer a row of the model's output
    ],
)
def test_detect_passes_its_options_on(
    words: list[str], labels: list[str], model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tmp_path / "names.txt"
    names.write_text("lynx\nwolf\n", encoding="utf-8")
    words = [str(names) if word == "LABELS" else word for word in words]
    assert run(model, photo(tmp_path / "a.png", CAT, DOG), "--json", *words) == 0
    record = json.loads(capsys.readouterr().out)
    assert [entry["label"] for entry in record["detections"]] == labels


def test_detect_takes_iou(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = photo(tmp_path / "a.png", [2, 1, 4, 2, 2, 1, 0], [3, 1, 4, 2, 1, 1, 0])  # they share 3 of 5 columns
    for threshold, count in (("0.5", 1), ("0.7", 2)):
        assert run(model, path, "--json", "--iou", threshold) == 0
        assert len(json.loads(capsys.readouterr().out)["detections"]) == count


def test_detect_draws_one_picture(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = photo(tmp_path / "a.png", CAT), tmp_path / "boxes.jpg"
    assert run(model, path, "-o", output) == 0
    assert capsys.readouterr().out.endswith(f"wrote {output}\n")
    assert is_drawn(output, path)
    with Image.open(output) as drawn:
        assert drawn.format == "JPEG"


def test_detect_draws_and_prints_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = photo(tmp_path / "a.png", CAT), tmp_path / "boxes.png"
    assert run(model, path, "-o", output, "--json") == 0
    found = {"label": "cat", "class_id": 0, "score": 1.0, "box": [10.0, 0.0, 50.0, 20.0]}
    expected = {"image": str(path), "width": 70, "height": 20, "detections": [found]}
    assert json.loads(capsys.readouterr().out) == expected
    assert is_drawn(output, path)


def test_detect_goes_on_after_a_bad_picture(model: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(model, folder) == 1
    out = capsys.readouterr().out
    assert "bad.png: expected an image" in out
    assert out.index("cat ") < out.index("dog ")


@pytest.mark.thorough
def test_detect_writes_records_of_many(model: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = folder.parent / "out.jsonl"
    assert run(model, folder, "-o", output, "--processes", "1", "--class-agnostic", "--labels", "coco") == 1
    assert "expected" not in capsys.readouterr().err
    assert all("error" in entry for entry in entries(output))  # the model does not tell 80 classes apart
    output.unlink()
    assert run(model, folder, "-o", output, "--processes", "1") == 1
    assert capsys.readouterr().err.startswith("2 done, 0 skipped, 1 failed, ")
    found = {
        Path(entry["image"]).name: [one["label"] for one in entry.get("detections", [])] for entry in entries(output)
    }
    assert found == {"cat.png": ["cat"], "dog.tif": ["dog"], "bad.png": []}


@pytest.mark.thorough
def test_detect_draws_many_into_a_folder_and_goes_on_there(
    model: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = folder / "drawn"  # which is not taken for more photos
    assert run(model, folder, "-o", drawn, "--processes", "1") == 1
    assert capsys.readouterr().err.startswith("2 done, 0 skipped, 1 failed, ")
    places = sorted(path.relative_to(drawn).as_posix() for path in drawn.rglob("*") if path.is_file())
    assert places == ["cat.png", "detections.jsonl", "more/dog.tif.png"]
    assert is_drawn(drawn / "cat.png", folder / "cat.png")
    assert is_drawn(drawn / "more" / "dog.tif.png", folder / "more" / "dog.tif")
    found = {entry["image"]: entry.get("drawing") for entry in entries(drawn / "detections.jsonl")}
    assert found[str(folder / "cat.png")] == str(drawn / "cat.png")

    photo(folder / "2.png", DOG)
    assert run(model, folder, "-o", drawn, "--processes", "1", "--retry-errors") == 1
    assert capsys.readouterr().err.startswith("1 done, 2 skipped, 1 failed, ")
    assert is_drawn(drawn / "2.png", folder / "2.png")


def test_detect_draws_only_where_nothing_else_lies(
    model: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "cat.png").read_bytes()
    assert run(model, folder / "more", "-o", folder) == 1
    message = f"-o: expected an empty folder, or one with detections.jsonl of an earlier run, got {folder}"
    assert capsys.readouterr().err == f"kuiper detect: {message}\n"
    assert run(model, folder / "cat.png", "-o", folder / "more" / ".." / "cat.png") == 1
    assert "-o: expected another file than the photo itself, got" in capsys.readouterr().err
    assert (folder / "cat.png").read_bytes() == before


def test_detect_refuses_photos_from_elsewhere_in_the_same_folder(
    model: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = folder.parent / "drawn"
    assert run(model, folder / "more", "-o", drawn, "--processes", "1") == 0
    capsys.readouterr()
    assert run(model, photo(folder.parent / "other" / "dog.tif", CAT), "-o", drawn) == 1
    assert "expected drawn_from as this file was begun with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "many.png"], "-o: expected a folder or a .jsonl file for 3 pictures, got many.png"),
        (["--confidence", "2"], "detector: expected confidence from 0 to 1, got 2.0"),
        (["--labels", "nowhere.txt"], "nowhere.txt: expected a file with one label a line, or coco, got nothing there"),
        (["--processes", "1"], "--processes: expected -o or --json beside it, got neither"),
    ],
)
def test_detect_refuses_wrong_options_in_one_line(
    words: list[str],
    message: str,
    model: Path,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    assert run(model, folder, *words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"kuiper detect: {message}\n"
    assert not any(Path.cwd().iterdir())


def test_detect_of_one_bad_picture_is_one_line_on_stderr(
    model: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = folder.parent / "boxes.png"
    for words in ([], ["-o", output]):
        assert run(model, folder / "bad.png", *words) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
    assert not output.exists()
