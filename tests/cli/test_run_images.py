"""``kuiper run`` with pictures in and pictures out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from kuiper.models import bundled
from tests.cli.program import command
from tests.models.little_models import relu_model, shrinking_model, write_model

if TYPE_CHECKING:
    from pathlib import Path

run = command("run")


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    smooth = Image.fromarray(np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8))
    smooth.resize((40, 30), Image.Resampling.BICUBIC).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture, np.int64)


@pytest.mark.parametrize("optimize", [True, False])
def test_run_of_a_model_that_changes_nothing_writes_the_same_picture(
    photo: Path, tmp_path: Path, optimize: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [] if optimize else ["--no-optimize"]
    assert run(relu_model(tmp_path), photo, "--image-out", tmp_path / "out.png", *words) == 0
    out = capsys.readouterr().out
    assert "output 0: (1, 3, 30, 40) float32" in out
    assert f"wrote {tmp_path / 'out.png'}" in out
    np.testing.assert_array_equal(pixels(tmp_path / "out.png"), pixels(photo))


def test_run_normalises_as_the_card_says_and_back(photo: Path, tmp_path: Path) -> None:
    card = {"task": "image", "mean": [-1, -2, -3], "std": [0.5, 2, 4]}  # all above 0, which the model lets through
    (tmp_path / "net.json").write_text(json.dumps(card), encoding="utf-8")
    words = "-o", tmp_path / "y.npy", "--image-out", tmp_path / "out.png"
    assert run(relu_model(tmp_path), photo, *words) == 0
    np.testing.assert_array_equal(pixels(tmp_path / "out.png"), pixels(photo))
    stored = np.load(tmp_path / "y.npy")
    np.testing.assert_allclose(stored[0, 1], (pixels(photo)[:, :, 1] / 255 + 2) / 2, rtol=1e-6)


def test_run_of_one_channel_works_on_brightness_and_keeps_the_colours(photo: Path, tmp_path: Path) -> None:
    assert run(relu_model(tmp_path, "(1,1,8,8)"), photo, "--image-out", tmp_path / "out.png") == 0
    assert np.abs(pixels(tmp_path / "out.png") - pixels(photo)).max() <= 3  # to YCbCr and back
    assert run(shrinking_model(tmp_path, "(1,1,8,8)"), photo, "--image-out", tmp_path / "out.png") == 0
    small = pixels(tmp_path / "out.png")
    assert small.shape == (15, 20, 3)
    assert np.abs(small - pixels(photo)[::2, ::2]).mean() < 20


def test_run_takes_pictures_beside_arrays(photo: Path, tmp_path: Path) -> None:
    operators = (
        "pnnx.Input a 0 1 0\npnnx.Input b 0 1 1\npnnx.Expression e 2 1 0 1 2 expr=mul(@0,@1)\npnnx.Output out 1 0 2"
    )
    np.save(tmp_path / "half.npy", np.full((1, 3, 1, 1), 0.5, np.float32))
    model = write_model(tmp_path, operators)
    for inputs in ((photo, tmp_path / "half.npy"), (tmp_path / "half.npy", photo)):
        assert run(model, *inputs, "--image-out", tmp_path / "out.png") == 0
        np.testing.assert_array_equal(pixels(tmp_path / "out.png"), np.rint(np.float32(pixels(photo)) / 2))


def test_run_makes_a_picture_from_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.float32([[[[0, 0.5, 2]]]]))
    assert run(relu_model(tmp_path, "(1,1,8,8)"), tmp_path / "x.npy", "--image-out", tmp_path / "out.png") == 0
    assert pixels(tmp_path / "out.png").tolist() == [[0, 128, 255]]


@pytest.mark.parametrize("size", [(1, 1), (10000, 3)])
def test_run_takes_pictures_of_extreme_shapes(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.new("RGB", size, "red").save(tmp_path / "odd.png")
    assert run(relu_model(tmp_path), tmp_path / "odd.png", "--image-out", tmp_path / "out.png") == 0
    assert pixels(tmp_path / "out.png").shape == (size[1], size[0], 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("photo.png", "--image-out", "out.txt"), "--image-out: expected a picture's file name, such as OUT.png"),
        (("photo.png", "--image-out", "out"), "--image-out: expected a picture's file name, such as OUT.png"),
        (("notes.jpg",), "notes.jpg: expected an image, got a file of another kind"),
        (("empty.jpg",), "empty.jpg: expected an image, got an empty file"),
        (("nowhere.png",), "nowhere.png: expected a file, got nothing there"),
        (("folder",), "folder: expected a .npy file, got a directory"),
        (("photo.png", "photo.png"), "expected 1 inputs ('in'), got 2"),
    ],
)
def test_run_says_in_one_line_what_is_wrong(
    words: tuple[str, ...],
    message: str,
    photo: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(photo.parent)
    (tmp_path / "notes.jpg").write_text("no picture")
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "folder").mkdir()
    assert run(relu_model(tmp_path), *words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("kuiper run: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_run_refuses_an_output_that_is_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (32, 32)).save(tmp_path / "photo.png")
    assert run(bundled("cifar_resnet20"), tmp_path / "photo.png", "--image-out", tmp_path / "out.png") == 1
    error = capsys.readouterr().err
    assert "expected floats (1, 3, h, w) or (1, 1, h, w) to make a picture of, got float32 of shape (1, 10)" in error
    assert not (tmp_path / "out.png").exists()


def test_run_says_what_a_format_cannot_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (1, 1)).save(tmp_path / "photo.png")
    np.save(tmp_path / "x.npy", np.zeros((1, 1, 1, 70000), np.float32))
    assert run(relu_model(tmp_path, "(1,1,8,8)"), tmp_path / "x.npy", "--image-out", tmp_path / "out.jpg") == 1
    assert "out.jpg: expected a format that can hold 70000x1 pixels, got" in capsys.readouterr().err


@pytest.mark.torch
def test_run_enlarges_brightness_as_torch_does(photo: Path, tmp_path: Path) -> None:
    """Super-resolution as in PyTorch's own example: Y through the network, Cb and Cr bicubically."""
    torch = pytest.importorskip("torch")
    from kuiper.models.conversion import export
    from tests.fixtures.little_nets import LittleEspcn

    torch.manual_seed(1)
    model = LittleEspcn().eval()
    param, _ = export(model, (torch.rand(1, 1, 24, 24),), tmp_path / "espcn")
    assert run(param, photo, "--image-out", tmp_path / "out.png") == 0
    with Image.open(photo) as picture:
        y, cb, cr = picture.convert("YCbCr").split()
    with torch.no_grad():
        large = model(torch.tensor(np.array(y, np.float32) / 255)[None, None])
    levels = (large[0, 0].clamp(0, 1) * 255).round().to(torch.uint8).numpy()
    brightness = Image.fromarray(levels)
    colours = [channel.resize(brightness.size, Image.Resampling.BICUBIC) for channel in (cb, cr)]
    expected = np.asarray(Image.merge("YCbCr", (brightness, *colours)).convert("RGB"), np.int64)
    got = pixels(tmp_path / "out.png")
    assert got.shape == (90, 120, 3)
    assert_same_but_for_rounding(got, expected)


@pytest.mark.torch
def test_run_of_a_unet_writes_what_torch_computes(photo: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from kuiper.models.conversion import export
    from tests.fixtures.little_nets import LittleUNet

    torch.manual_seed(1)
    model = LittleUNet(3).eval()
    inputs, others = (torch.rand(1, 3, 32, 64),), (torch.rand(1, 3, 64, 32),)
    param, _ = export(model, inputs, tmp_path / "unet", other_inputs=others)
    assert run(param, photo, "--image-out", tmp_path / "out.png") == 0
    with torch.no_grad():
        y = model(torch.tensor(pixels(photo)).permute(2, 0, 1)[None].float() / 255)
    expected = (y[0].permute(1, 2, 0).clamp(0, 1) * 255).round().to(torch.int64).numpy()
    assert expected.std() > 5
    assert_same_but_for_rounding(pixels(tmp_path / "out.png"), expected)


def assert_same_but_for_rounding(got: np.ndarray, expected: np.ndarray) -> None:
    """A value that lies on the border between two levels, 1e-5 aside, may fall to either side."""
    assert np.abs(got - expected).max() <= 2  # a step of brightness is up to two of a colour
    assert (got == expected).mean() > 0.995
