"""Commands that take a model take an .onnx file, too."""

from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from PIL import Image

import kuiper
from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.many.record_file import header_of
from kuiper.models.predictor import Predictor
from tests.cli.program import run
from tests.onnx.little_models import classifier, scaled_convolution

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model with an input of open sizes and one that is a number, and arrays for both."""
    onnx.save(scaled_convolution(), tmp_path / "net.onnx")
    generator = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", generator.standard_normal((2, 3, 6, 5)).astype(np.float32))
    np.save(tmp_path / "two.npy", np.float32(2))
    return tmp_path / "net.onnx"


def test_show_lists_inputs_with_types_and_open_axes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", path) == 0
    lines = [line.split(maxsplit=3) for line in capsys.readouterr().out.splitlines()[:3]]
    assert lines == [
        ["input", "image", "f32", "(N, 3, height, width)"],
        ["input", "scale", "f32", "()"],
        ["output", "scores", "f32", "(N, 4, height, width)"],
    ]


def test_run_takes_inputs_in_order_by_name_and_as_constants(path: Path, tmp_path: Path) -> None:
    x, two, out = tmp_path / "x.npy", tmp_path / "two.npy", tmp_path / "out.npy"
    answers = []
    for words in (
        [x, two],
        [f"scale={two}", f"image={x}"],
        [f"scale={two}", x],
        [x, "--constant", "scale=2"],
        [x, "--constant", f"scale={two}", "--no-optimize"],
    ):
        assert run("run", path, *words, "-o", out) == 0
        answers.append(np.load(out))
    expected = np.asarray(kuiper.load(path, optimize=False)(np.load(x), 2))
    for answer in answers:
        np.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "net.onnx", "scale=two.npy"], "a file for each of image, scale, got none for image"),
        (["run", "net.onnx", "mask=two.npy"], "an input named one of image, scale, got mask"),
        (["run", "net.onnx", "scale=two.npy", "scale=two.npy"], "expected each input once"),
        (["run", "net.onnx", "x.npy", "--constant", "rate=2"], "constants among the inputs image, scale, got rate"),
        (["run", "net.onnx", "x.npy", "--constant", "scale=1,2"], "'scale': expected 0 axes"),
        (["run", "net.onnx", "x.npy", "two.npy", "--bin", "net.bin"], "no bin beside an .onnx file"),
        (["bench", "net.onnx"], "give one for each input: --shape 1,3,?,? --shape '()'"),
        (["bench", "net.onnx", "--random-weights"], "--random-weights: expected a .param file"),
        (["show", "nowhere.onnx"], "nowhere.onnx: expected a file, got nothing there"),
    ],
)
def test_commands_say_in_one_line_what_is_wrong(
    words: list[str],
    message: str,
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*words) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("text", ["scale", "=2", "scale=", "scale=two"])
def test_constant_refuses_what_is_no_number(text: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("run", path, "--constant", text)
    assert "expected NAME=NUMBER" in capsys.readouterr().err


def test_commands_that_time_and_draw_take_the_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = ["--shape", "1,3,8,8", "--constant", "scale=0.5"]
    for words in (["plan", *sizes], ["profile", *sizes], ["bench", "--runs", 1, *sizes], ["explore", *sizes]):
        assert run(words[0], path, *words[1:]) == 0
    assert run("draw", path, "-o", "net.svg") == 0
    assert (tmp_path / "net.svg").exists()
    assert (tmp_path / "net.html").exists()
    assert "mul" in capsys.readouterr().out


def test_quantize_writes_the_weights_of_an_onnx_file(path: Path, tmp_path: Path) -> None:
    assert run("quantize", path, "-o", tmp_path / "small") == 0
    x = np.load(tmp_path / "x.npy")
    small = np.asarray(kuiper.load(tmp_path / "small" / "net-8bit.pnnx.param")(x, 1))
    whole = np.asarray(kuiper.load(path)(x, 1))
    assert np.abs(small - whole).max() < 0.02 * np.abs(whole).max()


def test_pictures_are_classified_and_segmented_with_the_card_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(classifier(), tmp_path / "colours.onnx")
    card = {"labels": ["red", "green", "blue"], "mean": [0, 0, 0], "std": [1, 1, 1], "size": 8}
    (tmp_path / "colours.json").write_text(json.dumps(card))
    Image.new("RGB", (9, 9), (0, 200, 10)).save(tmp_path / "leaf.png")
    assert run("classify", tmp_path / "leaf.png", "--model", tmp_path / "colours.onnx", "--top", 1) == 0
    assert "green" in capsys.readouterr().out
    records = tmp_path / "records.jsonl"
    words = ["-o", records, "--processes", 1]
    assert run("classify", tmp_path / "leaf.png", "--model", tmp_path / "colours.onnx", *words) == 0
    assert set(json.loads(records.read_text().splitlines()[0])["sha256"]) == {"onnx", "json"}
    onnx.save(classifier(), tmp_path / "colours.onnx", save_as_external_data=True, location="c.data", size_threshold=0)
    predictor = Predictor(tmp_path / "colours.onnx")
    assert [path.name for path in predictor.files()] == ["colours.onnx", "c.data", "colours.json"]
    assert set(header_of(predictor)["sha256"]) == {"onnx", "c.data", "json"}
    assert predictor(tmp_path / "leaf.png")[0][0] == "green"


def test_load_without_the_onnx_package_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name.partition(".")[0] == "onnx":
            raise ModuleNotFoundError("No module named 'onnx'", name="onnx")
        return found(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelFormatError, match=r"the onnx package.*pip install onnx"):
        kuiper.load(path)
    with pytest.raises(ParameterError, match=r"constants for an .onnx file"):
        kuiper.load("net.pnnx.param", constants={"x": 1})
