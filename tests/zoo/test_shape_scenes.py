"""Scenes of drawn shapes: reproducible, with the class of each pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from zoo.shape_scenes import LABELS, MAX_SHAPES, compose, main, outline, shape_count

if TYPE_CHECKING:
    from pathlib import Path


def test_compose_gives_the_same_scene_for_the_same_seed() -> None:
    first, again, other = compose(3, 1), compose(3, 1), compose(3, 2)
    assert first.image.tobytes() == again.image.tobytes()
    assert np.array_equal(first.classes, again.classes)
    assert first.image.tobytes() != other.image.tobytes()


def test_scenes_have_every_shape_sooner_or_later() -> None:
    classes = np.concatenate([compose(0, number).classes.ravel() for number in range(20)])
    assert np.unique(classes).tolist() == list(range(len(LABELS)))


@pytest.mark.parametrize("label", LABELS[1:])
def test_outline_stays_in_its_circle(label: str) -> None:
    for seed in range(20):
        corners = np.array(outline(label, (1, 1), np.random.default_rng(seed)))
        assert np.ptp(corners, axis=0).max() < 2 * 18 + 1e-6


def test_shape_count_grows_with_the_scene() -> None:
    counts = [shape_count((128, 128), np.random.default_rng(seed)) for seed in range(50)]
    assert min(counts) >= 2 * MAX_SHAPES
    assert max(counts) == 4 * MAX_SHAPES


def test_main_writes_pictures_and_their_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path / "new"), "--count", "2", "--seed", "4", "--size", "48", "80"]) == 0
    assert "wrote 2 scenes to" in capsys.readouterr().out
    expected = compose(4, 1, (48, 80))
    with Image.open(tmp_path / "new" / "0001.png") as image:
        assert image.tobytes() == expected.image.tobytes()
    with Image.open(tmp_path / "new" / "0001_classes.png") as classes:
        assert np.array_equal(np.asarray(classes), expected.classes)


def test_a_folder_that_cannot_be_written_to_is_one_line_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("here first", encoding="utf-8")
    assert main(["--out", str(tmp_path / "file"), "--count", "1"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("shape_scenes: expected a folder to write to, got ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("words", [["--count", "0"], ["--seed", "-1"], ["--size", "8", "64"]])
def test_wrong_numbers_are_wrong_usage(words: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--out", str(tmp_path), *words])
    assert caught.value.code == 2
