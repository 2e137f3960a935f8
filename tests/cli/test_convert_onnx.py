"""``kuiper convert model.onnx``: no PyTorch, no pnnx."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import helper

import kuiper
from tests.cli.program import command
from tests.onnx.little_models import model, scaled_convolution, tensor

if TYPE_CHECKING:
    from pathlib import Path

run = command("convert")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a model."""
    monkeypatch.chdir(tmp_path)
    onnx.save(scaled_convolution(), "net.onnx")


def test_convert_makes_up_open_sizes_and_leaves_them_open(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("net.onnx") == 0
    out = capsys.readouterr().out
    assert "note: sizes that the file leaves open, made up: 1,3,64,64:f32; ():f32 (--input chooses others)" in out
    assert "2,3,96,96:f32 ():f32" in out  # compared too
    assert "open sizes: image (?, 3, ?, ?), scale ()" in out
    assert "run it: kuiper run net.pnnx.param INPUT0.npy INPUT1.npy" in out
    assert kuiper.load("net.pnnx.param")(np.zeros((2, 3, 5, 7)), 1).shape == (2, 4, 5, 7)


def test_convert_takes_sizes_and_constants(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--input", "1,3,9,9", "--input2", "3,3,5,6", "--constant", "scale=2", "-o", "out/twice"]
    assert run("net.onnx", *words) == 0
    out = capsys.readouterr().out
    assert "converting net.onnx for 1,3,9,9:f32\n" in out
    assert "3,3,5,6:f32 (--input2)" in out
    x = np.random.default_rng(0).standard_normal((1, 3, 4, 4)).astype(np.float32)
    twice, once = kuiper.load("out/twice.pnnx.param")(x), kuiper.load("net.onnx", constants={"scale": 1})(x)
    np.testing.assert_allclose(twice, 2 * np.asarray(once), rtol=1e-5, atol=1e-6)


def test_convert_without_a_check_needs_no_oracle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kuiper.models.onnx.oracle.Oracle.answers", None)
    assert run("net.onnx", "--no-check") == 0
    assert "not compared with net.onnx (--no-check)" in capsys.readouterr().out
    assert kuiper.load("net.pnnx.param")(np.zeros((1, 3, 5, 7)), 1).shape == (1, 4, 5, 7)


def test_convert_says_that_a_file_opens_no_size(capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", 2, 3)], [tensor("y", 2, 3)]), "fixed.onnx")
    assert run("fixed.onnx") == 0
    assert "open sizes: none, as the file says: x (2, 3)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["net.onnx", "--input", "1,4,9,9", "--input", "()"],
            "expected inputs like image (N, 3, height, width) f32; scale",
        ),
        (["net.onnx", "--moduleop", "a.B"], "--moduleop and --optlevel: expected a model in PyTorch, got net.onnx"),
        (["net.onnx", "--by", "onnx"], "--by: expected a model in PyTorch, got net.onnx"),
        (["net.onnx", "--state"], "--state: expected a model in PyTorch, got net.onnx"),
        (["net.onnx", "--no-check", "--state"], "--no-check: expected no --state"),
        (["net.onnx", "--constant", "rate=2"], "constants among the inputs image, scale, got rate"),
        (["text:Net", "--constant", "rate=2"], "--constant: expected a model in ONNX, got text:Net"),
    ],
)
def test_convert_says_in_one_line_what_is_wrong(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.glob("*.param"))


def test_convert_refuses_what_only_onnx_has(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=onnx.TensorProto.UINT16),
        helper.make_node("Cast", ["whole"], ["y"], to=onnx.TensorProto.FLOAT),
    ]
    net = model(nodes, [tensor("x", 2)], [tensor("y", 2)])
    net.graph.value_info.append(tensor("whole", 2, kind=onnx.TensorProto.UINT16))
    onnx.save(net, "whole.onnx")
    assert run("whole.onnx", "--input", "2:f32:0..9") == 1
    assert "uint" in (error := capsys.readouterr().err) or "u16" in error
    assert "load the .onnx file itself" in error
