"""The segmenter on models that pass the picture on, and on a UNet from torch."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ImageError, ModelFormatError, ParameterError, ShapeError
from kuiper.models import Segmentation, Segmenter
from kuiper.models.tasks.segmentation import best_class, class_names
from tests.models.little_models import relu_model, rows_model, shrinking_model

if TYPE_CHECKING:
    from pathlib import Path


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize("size", [(1, 1), (32, 64), (33, 7), (3, 1000)])
def test_segmenter_of_any_size_sees_every_pixel(tmp_path: Path, size: tuple[int, int]) -> None:
    """The model gives the picture back, so the class is the strongest colour, of equal ones the first."""
    photo = noise(*size)
    found = Segmenter(relu_model(tmp_path))(photo)
    assert found.map.dtype == np.uint8
    np.testing.assert_array_equal(found.map, photo.argmax(axis=2))
    assert found.labels == ("class 0", "class 1", "class 2")


@pytest.mark.parametrize(("multiple", "sizes"), [(1, (33, 70)), (8, (40, 72)), (32, (64, 96))])
def test_preprocess_repeats_the_edge_up_to_the_multiple(tmp_path: Path, multiple: int, sizes: tuple[int, int]) -> None:
    photo = Image.fromarray(noise(33, 70))
    x = Segmenter(relu_model(tmp_path), multiple=multiple).preprocess(photo)
    assert x.shape == (1, 3, *sizes)
    np.testing.assert_allclose(x[0, :, :33, :70] * 255, np.asarray(photo).transpose(2, 0, 1), rtol=1e-6)
    assert (x[:, :, 33:] == x[:, :, 32:33]).all()
    assert (x[:, :, :, 70:] == x[:, :, :, 69:70]).all()


def test_segmenter_of_a_fixed_size_shrinks_the_photo_and_enlarges_the_answer(tmp_path: Path) -> None:
    photo = np.zeros((40, 60, 3), np.uint8)
    photo[:20, :, 0] = photo[20:, :30, 1] = photo[20:, 30:, 2] = 255
    for model in (relu_model(tmp_path, "(1,3,4,6)"), shrinking_model(tmp_path, "(1,3,4,6)")):
        found = Segmenter(model, labels=["up", "left", "right"])(photo)
        assert found.map.shape == (40, 60)
        for inner in (np.s_[:10], np.s_[30:, :20], np.s_[30:, 40:]):  # far from the soft borders between them
            np.testing.assert_array_equal(found.map[inner], photo.argmax(axis=2)[inner])
        assert [region.label for region in found.regions()] == ["up", "left", "right"]


def test_segmenter_takes_size_labels_mean_and_std_of_the_card(tmp_path: Path) -> None:
    card = {"task": "segment", "labels": ["r", "g", "b"], "size": [8, 10], "mean": [0.5, 0, 0], "std": [1, 2, 4]}
    (tmp_path / "net.json").write_text(json.dumps(card), encoding="utf-8")
    segmenter = Segmenter(relu_model(tmp_path))
    x = segmenter.preprocess(Image.new("RGB", (50, 40), (255, 255, 255)))
    assert x.shape == (1, 3, 8, 10)
    assert x[0, :, 0, 0].tolist() == [0.5, 0.5, 0.25]
    assert segmenter(noise(5, 5)).labels == ("r", "g", "b")
    assert Segmenter(relu_model(tmp_path), labels=["1", "2", "3"]).labels == ("1", "2", "3")


def test_segmenter_of_one_channel_tells_foreground_from_background(tmp_path: Path) -> None:
    photo = np.zeros((4, 6, 3), np.uint8)
    photo[1:3, 2:5] = 255
    segmenter = Segmenter(relu_model(tmp_path, "(?,1,?,?)"), labels=["cell"])
    found = segmenter(photo)
    np.testing.assert_array_equal(found.map, photo[:, :, 0] // 255)
    assert [(region.label, region.share) for region in found.regions()] == [("background", 0.75), ("cell", 0.25)]


def test_best_class_by_hand() -> None:
    logits = np.float32([[[[0, 4]], [[1, 1]]]])  # the first overtakes the second a quarter of the way
    assert best_class(logits, (1, 2)).tolist() == [[1, 0]]
    assert best_class(logits, (2, 8)).tolist() == [[1, 1, 1, 0, 0, 0, 0, 0]] * 2


def test_best_class_of_equals_is_the_first() -> None:
    assert best_class(np.zeros((1, 5, 1, 1), np.float32), (2, 2)).tolist() == [[0, 0], [0, 0]]


def test_best_class_of_one_channel_is_its_sign() -> None:
    assert best_class(np.float32([[[[-1, 0, 1]]]]), (1, 3)).tolist() == [[0, 0, 1]]


def test_best_class_counts_beyond_256() -> None:
    logits = np.zeros((1, 300, 1, 1), np.float32)
    logits[0, 299] = 1
    assert best_class(logits, (1, 1)).tolist() == [[299]]


def test_regions_are_sorted_by_size_and_have_shares_of_one() -> None:
    regions = Segmentation(("a", "b", "c", "d"), np.uint8([[3, 1, 1], [1, 0, 3]])).regions()
    assert [(one.label, one.class_id) for one in regions] == [("b", 1), ("d", 3), ("a", 0)]
    assert sum(one.share for one in regions) == pytest.approx(1)


@pytest.mark.parametrize(
    ("labels", "channels", "expected"),
    [
        ((), 1, ("background", "foreground")),
        (("cell",), 1, ("background", "cell")),
        (("no", "yes"), 1, ("no", "yes")),
        (("a", "b", "c"), 3, ("a", "b", "c")),
        ((), 2, ("class 0", "class 1")),
    ],
)
def test_class_names(labels: tuple[str, ...], channels: int, expected: tuple[str, ...]) -> None:
    assert class_names(labels, channels, "net") == expected


@pytest.mark.parametrize(
    ("count", "channels", "got"),
    [(2, 3, "3 channels"), (4, 3, "3 channels"), (3, 1, "one channel, for two classes"), (1, 2, "2 channels")],
)
def test_class_names_gives_both_numbers_when_labels_do_not_fit(count: int, channels: int, got: str) -> None:
    with pytest.raises(
        ShapeError, match=f"net: expected an output with a channel for each of {count} labels, got {got}"
    ):
        class_names(("x",) * count, channels, "net")


def test_segmenter_refuses_an_output_that_is_no_map(tmp_path: Path) -> None:
    segmenter = Segmenter(rows_model(tmp_path, labels=2))
    with pytest.raises(ShapeError, match=re.escape("expected an output (1, classes, h, w), got (1, 6, 7)")):
        segmenter(noise(2, 7))


def test_segmenter_refuses_no_multiple_and_other_cards(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="segmenter: expected multiple >= 1, got 0"):
        Segmenter(relu_model(tmp_path), multiple=0)
    (tmp_path / "net.json").write_text('{"task": "detect"}', encoding="utf-8")
    with pytest.raises(ModelFormatError, match="expected a card with the task 'segment', got 'detect'"):
        Segmenter(relu_model(tmp_path))


def test_segmenter_passes_on_what_is_wrong_with_an_image(tmp_path: Path) -> None:
    (tmp_path / "notes.jpg").write_text("no picture")
    with pytest.raises(ImageError, match=r"notes.jpg: expected an image, got a file of another kind"):
        Segmenter(relu_model(tmp_path))(tmp_path / "notes.jpg")


@pytest.mark.torch
def test_best_class_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(4)
    for shape, size in (((7, 9), (50, 33)), ((20, 30), (10, 90)), ((1, 1), (4, 5)), ((5, 5), (5, 5))):
        logits = generator.standard_normal((1, 6, *shape), np.float32)
        scores = torch.nn.functional.interpolate(torch.tensor(logits), size=size, mode="bilinear", align_corners=False)
        assert_best(best_class(logits, size), scores[0].numpy())


@pytest.mark.torch
@pytest.mark.parametrize("classes", [1, 4])
def test_segmenter_sees_what_torch_sees(tmp_path: Path, classes: int) -> None:
    torch = pytest.importorskip("torch")
    from kuiper.models.conversion import export
    from tests.fixtures.little_nets import LittleUNet

    torch.manual_seed(2)
    model = LittleUNet(classes).eval()
    inputs, others = (torch.rand(1, 3, 32, 64),), (torch.rand(1, 3, 64, 32),)
    fixed, _ = export(model, inputs, tmp_path / "fixed")
    free, _ = export(model, inputs, tmp_path / "free", other_inputs=others)
    photo = noise(50, 70)

    def scores(pixels: np.ndarray) -> Any:
        with torch.no_grad():
            return model(torch.tensor(pixels).permute(2, 0, 1)[None].float() / 255)

    padded = np.pad(photo, [(0, 14), (0, 26), (0, 0)], mode="edge")
    assert_best(Segmenter(free)(photo).map, scores(padded)[0, :, :50, :70].numpy())
    shrunk = np.array(Image.fromarray(photo).resize((64, 32), Image.Resampling.BILINEAR))
    enlarged = torch.nn.functional.interpolate(scores(shrunk), size=(50, 70), mode="bilinear", align_corners=False)
    assert_best(Segmenter(fixed)(photo).map, enlarged[0].numpy())


def assert_best(regions: np.ndarray, scores: np.ndarray) -> None:
    """The class of each pixel has the largest score, (classes, h, w), but for rounding; more than one is there."""
    if len(scores) == 1:
        scores = np.concatenate([np.zeros_like(scores), scores])
    rows, columns = np.indices(regions.shape)
    assert (scores.max(axis=0) - scores[regions, rows, columns]).max() <= 1e-5 * np.abs(scores).max()
    assert (regions == scores.argmax(axis=0)).mean() > 0.999
