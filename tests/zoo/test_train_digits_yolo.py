"""The training script: what it learns from, and that an interrupted training goes on as if nothing had happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pnnx")

from zoo import train_digits_yolo  # noqa: E402
from zoo.digit_scenes import Digits  # noqa: E402
from zoo.train_digits_yolo import Scenes, Training, collate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.torch

ONE = Digits(np.pad(np.ones((1, 8, 2), np.float32), ((0, 0), (0, 0), (3, 3))), np.array([1]))


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two steps an epoch, of two little scenes each, in one thread."""
    for name, value in {"SIDE": 64, "SCENES": 4, "BATCH": 2, "WORKERS": 0}.items():
        monkeypatch.setattr(train_digits_yolo, name, value)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_scenes_are_never_the_same_and_have_grey_bars() -> None:
    first, again, later = Scenes(ONE, 1, 0), Scenes(ONE, 1, 0), Scenes(ONE, 1, 1)
    pixels = first[1][0]
    assert torch.equal(pixels, again[1][0])
    assert not torch.equal(pixels, later[1][0])
    assert pixels.shape == (3, 64, 64)
    assert (pixels[:, :4] == 114).all()  # scene 1 is 56 high
    assert (pixels[:, -4:] == 114).all()
    assert not (pixels[:, 4:8] == 114).all()


def test_collate_numbers_the_pictures_of_the_boxes() -> None:
    pixels = torch.zeros(3, 8, 8, dtype=torch.uint8)
    images, truth = collate([(pixels, torch.zeros(2, 6)), (pixels, torch.zeros(0, 6)), (pixels, torch.ones(1, 6))])
    assert images.shape == (3, 3, 8, 8)
    assert truth[:, 0].tolist() == [0, 0, 2]
    assert truth[:, 1:].tolist() == [[0] * 5, [0] * 5, [1] * 5]


def test_training_goes_on_from_a_checkpoint_as_if_never_interrupted(tmp_path: Path) -> None:
    whole = Training(epochs=3, seed=7)
    whole.run_epoch(ONE)
    torch.save(whole.state(), tmp_path / "checkpoint.pt")
    resumed = Training.restore(tmp_path / "checkpoint.pt")
    assert (resumed.epoch, resumed.epochs, resumed.seed) == (1, 3, 7)
    assert resumed.run_epoch(ONE) == pytest.approx(whole.run_epoch(ONE), rel=1e-4)
    x = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected, got = whole.detector()(x), resumed.detector()(x)
    assert expected.shape == (1, 3 * (64 + 16 + 4), 15)
    assert (got - expected).abs().max() <= 1e-3 * expected.abs().max()
