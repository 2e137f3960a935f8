"""Scenes of digits: reproducible, with boxes tight around the ink, of digits that were or were not learnt from."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from zoo.digit_scenes import VISIBLE, Box, Digits, compose, draw_digit, load_digits, main, write_group
from zoo.scene_background import FIELDS, LUMA, MIN_OF_INK, background, ink_on
from zoo.scene_clutter import CLUTTER

if TYPE_CHECKING:
    from pathlib import Path

SEVEN = np.float32(
    [
        [0.0, 0.6, 1.0, 1.0, 1.0, 1.0, 0.9, 0.0],
        [0.0, 0.3, 0.4, 0.4, 0.5, 1.0, 0.8, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.6, 1.0, 0.2, 0.0],
        [0.0, 0.0, 0.4, 0.9, 1.0, 0.9, 0.5, 0.0],
        [0.0, 0.0, 0.2, 0.8, 1.0, 0.4, 0.1, 0.0],
        [0.0, 0.0, 0.2, 1.0, 0.5, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.7, 1.0, 0.1, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.9, 0.6, 0.0, 0.0, 0.0, 0.0],
    ]
)
SEVENS = Digits(SEVEN[np.newaxis], np.array([7]))


def is_tight(mask: Image.Image, box: Box) -> bool:
    """Whether there is visible ink in the first and last row and column of the box."""
    ink = np.asarray(mask)[box.top : box.bottom, box.left : box.right] >= VISIBLE
    return bool(ink[0].any() and ink[-1].any() and ink[:, 0].any() and ink[:, -1].any())


@pytest.mark.parametrize("angle", [-20, 0, 35, 90])
@pytest.mark.parametrize("height", [12, 40, 140])
def test_draw_digit_is_cut_to_its_ink(height: int, angle: float) -> None:
    mask = draw_digit(SEVEN, height, angle, 0.2, 0.45, 1.0)
    assert is_tight(mask, Box(7, 0, 0, mask.width, mask.height))
    assert 0.6 * height < max(mask.size) < 1.3 * height


def test_draw_digit_turns_against_the_clock() -> None:
    """The bar of a seven is on top; after a quarter turn it is on the left."""
    upright = np.asarray(draw_digit(SEVEN, 80, 0, 0, 0.45, 1.0)) >= VISIBLE
    turned = np.asarray(draw_digit(SEVEN, 80, 90, 0, 0.45, 1.0)) >= VISIBLE
    assert upright[:10].mean() > 2 * upright[-10:].mean()
    assert turned[:, :10].mean() > 2 * turned[:, -10:].mean()


def test_write_group_has_all_its_ink_in_boxes_that_are_tight() -> None:
    lengths = set()
    for seed in range(40):
        mask, boxes = write_group(SEVENS, 30, np.random.default_rng(seed))
        lengths.add(len(boxes))
        outside = np.array(mask)
        for box in boxes:
            assert is_tight(mask, box)
            outside[box.top : box.bottom, box.left : box.right] = 0
        assert outside.max() < VISIBLE
    assert lengths == {1, 2, 3, 4}


def test_compose_marks_where_the_picture_differs_from_its_paper() -> None:
    """The ink is where the boxes say: their rims and their middles differ more than the paper from pixel to pixel."""
    differences = []
    for number in range(10):
        scene = compose(SEVENS, 3, number)
        grey = np.asarray(scene.image.convert("L"), np.float32)
        differences += [float(np.ptp(grey[box.top : box.bottom, box.left : box.right])) for box in scene.boxes]
    assert len(differences) > 30
    assert np.median(differences) > MIN_OF_INK * 0.75


def test_compose_depends_on_seed_and_number_alone() -> None:
    first, again = compose(SEVENS, 5, 1), compose(SEVENS, 5, 1)
    assert first.image.tobytes() == again.image.tobytes()
    assert first.boxes == again.boxes
    others = [compose(SEVENS, 5, 2), compose(SEVENS, 6, 1)]
    assert all(other.image.tobytes() != first.image.tobytes() for other in others)


@pytest.mark.parametrize("size", [None, (448, 640), (64, 200)])
def test_compose_keeps_boxes_apart_and_inside(size: tuple[int, int] | None) -> None:
    for number in range(12):
        scene = compose(SEVENS, 0, number, size)
        width, height = scene.image.size
        assert (height, width) == (size or (height, width))
        assert size or (max(width, height) == 320 and min(width, height) >= 192)
        for box in scene.boxes:
            assert 0 <= box.left < box.right <= width
            assert 0 <= box.top < box.bottom <= height
        for a, b in combinations(scene.boxes, 2):
            assert a.right < b.left or b.right < a.left or a.bottom < b.top or b.bottom < a.top


@pytest.mark.parametrize("field", FIELDS)
def test_fields_are_shares(field: object) -> None:
    assert callable(field)
    for seed in range(5):
        values = field((70, 90), np.random.default_rng(seed))
        assert values.shape == (70, 90)
        assert values.dtype == np.float32
        assert 0 <= values.min() <= values.max() <= 1


def test_ink_can_be_told_from_its_paper() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        paper = background((40, 60), rng)
        assert abs(float((ink_on(paper, rng) - paper.mean((0, 1))) @ LUMA)) >= MIN_OF_INK * 0.999


@pytest.mark.parametrize("draw", sorted(set(CLUTTER), key=lambda draw: draw.__name__))
def test_clutter_has_ink_at_every_size(draw: object) -> None:
    assert callable(draw)
    for seed, height in enumerate((13, 14, 30, 60, 140)):
        mask = draw(height, np.random.default_rng(seed))
        assert mask.mode == "L"
        assert np.asarray(mask).max() > VISIBLE


@pytest.mark.torch  # which brings scikit-learn too
def test_held_out_digits_are_never_learnt_from() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    learnt, held_out = load_digits(held_out=False), load_digits(held_out=True)
    assert (len(learnt.labels), len(held_out.labels)) == (1437, 360)
    seen = {image.tobytes() for image in learnt.images}
    assert seen.isdisjoint(image.tobytes() for image in held_out.images)
    whole = datasets.load_digits()
    assert np.sort(np.concatenate([learnt.labels, held_out.labels])).tolist() == sorted(whole.target.tolist())
    assert min(np.bincount(held_out.labels)) > 20


@pytest.mark.torch  # which brings scikit-learn too
def test_main_writes_pictures_and_their_boxes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    assert main(["--out", str(tmp_path / "new"), "--count", "2", "--seed", "4", "--size", "96", "160"]) == 0
    assert "wrote 2 scenes and" in capsys.readouterr().out
    truth = json.loads((tmp_path / "new" / "boxes.json").read_text(encoding="utf-8"))
    assert list(truth) == ["0000.png", "0001.png"]
    expected = compose(load_digits(held_out=True), 4, 1, (96, 160))
    assert [Box(int(item["label"]), *item["box"]) for item in truth["0001.png"]] == expected.boxes
    with Image.open(tmp_path / "new" / "0001.png") as image:
        assert image.tobytes() == expected.image.tobytes()


def test_without_sklearn_one_line_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert main(["--out", str(tmp_path)]) == 1
    expected = "digit_scenes: expected scikit-learn, got no module sklearn; pip install scikit-learn\n"
    assert capsys.readouterr().err == expected


@pytest.mark.torch  # which brings scikit-learn too
def test_a_folder_that_cannot_be_written_to_is_one_line_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn")
    (tmp_path / "file").write_text("here first", encoding="utf-8")
    assert main(["--out", str(tmp_path / "file"), "--count", "1"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("digit_scenes: expected a folder to write to, got ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--count", "0"], ["--seed", "-1"], ["--size", "63", "640"]])
def test_wrong_use_is_answered_with_exit_code_2(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--out", str(tmp_path), *arguments])
    assert stopped.value.code == 2
    assert "expected --count above 0" in capsys.readouterr().err
