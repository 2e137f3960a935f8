"""kuiper convert: what it refuses before it starts, what it prints, what it leaves behind."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from tests.cli.program import command

if TYPE_CHECKING:
    from pathlib import Path

run = command("convert")

NETWORKS = "tests.models.conversion.networks"
IMAGE = "1,3,6,8"


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What a failed command printed on stderr: one line."""
    error = capsys.readouterr().err
    assert error.startswith("kuiper convert: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("missing", "model", "line"),
    [
        ("torch", "net:Net", "net:Net: expected PyTorch, got no module torch; pip install torch pnnx"),
        ("torch", "net.pt", "net.pt: expected PyTorch, got no module torch; pip install torch pnnx"),
        ("onnx", "net.onnx", "net.onnx: expected the onnx package, which reads .onnx files, got none; pip install"),
    ],
)
def test_a_missing_extra_is_named(
    missing: str,
    model: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.pt").touch()
    monkeypatch.setitem(sys.modules, missing, None)
    assert run(model, "--input", IMAGE) == 1
    assert line in error_line(capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["net:Net", "--input", "1,a"],
            "--input: expected sizes, perhaps an element type and a range, like 1,3,224,224",
        ),
        (["net:Net", "--input", "1:f31"], "--input: expected an element type of f32, f64"),
        (["net:Net", "--args", "width=2"], "--args: expected a JSON object or list, got 'width=2'"),
        (["net:Net", "--seed", "-1"], "--seed: expected an integer from 0 on, got '-1'"),
        (["net:Net", "--tolerance", "nan"], "--tolerance: expected a number above 0, got 'nan'"),
        (["net:Net", "--optlevel", "3"], "--optlevel: invalid choice"),
        ([], "the following arguments are required: MODEL"),
    ],
)
def test_wrong_use_is_answered_with_exit_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(*words)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["net.py"], "net.py: expected a class in it, net.py:Class, got none"),
        (["net"], "net: expected a class in it, net:Class, got none"),
        (["net.pt", "--weights", "w.pth"], "--weights and --args: expected a class, package.module:Class, got net.pt"),
        (["net.onnx", "--args", "[1]"], "--weights and --args: expected a class, package.module:Class, got net.onnx"),
    ],
)
def test_a_model_that_is_none_is_refused_before_pytorch_is_asked_for(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(*words) == 1
    assert message in error_line(capsys)


@pytest.mark.torch
@pytest.mark.timeout(600)
class TestConversion:
    """Through pnnx."""

    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("torch")
        pytest.importorskip("pnnx")
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.chdir(tmp_path)

    def test_a_class_becomes_two_files_that_run(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("--input", IMAGE, "--input2", "2,3,9,8", "--args", '{"width": 3}', "-o", "out/small")
        assert run(f"{NETWORKS}:Cnn", *words) == 0
        out = capsys.readouterr().out
        assert "kuiper beside PyTorch" in out
        assert out.count("agrees") == 4  # the numbers it was made with, others, opposite ones, those of --input2
        assert "wrote out/small.pnnx.param (" in out
        assert "run it: kuiper run out/small.pnnx.param INPUT.npy\n" in out
        model = kuiper.load(tmp_path / "out" / "small.pnnx.param")
        assert model(np.zeros((3, 3, 7, 8), np.float32)).shape == (3, 5)
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["small.pnnx.bin", "small.pnnx.param"]

    def test_weights_and_seed_decide_what_is_in_the_file(self, tmp_path: Path) -> None:
        import torch

        module = f"{NETWORKS}:Cnn"
        torch.save({"state_dict": {"module.head.bias": torch.zeros(5)}}, "part.pth")
        torch.manual_seed(3)
        from tests.models.conversion.networks import Cnn

        torch.save(Cnn().state_dict(), "same.pth")
        for words in (["-o", "a", "--seed", 3], ["-o", "b", "--seed", 4], ["-o", "c", "--weights", "same.pth"]):
            assert run(module, "--input", IMAGE, *words) == 0
        a, b, c = (tmp_path.joinpath(f"{name}.pnnx.bin").read_bytes() for name in "abc")
        assert a == c
        assert a != b
        assert run(module, "--input", IMAGE, "--weights", "part.pth") == 1

    @pytest.mark.parametrize("keep", [False, True])
    def test_what_does_not_agree_leaves_no_files_unless_they_are_to_be_kept(
        self, keep: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        earlier = tmp_path / "LargeNumber.pnnx.param"
        earlier.write_text("of an earlier conversion")
        words = ["--keep"] if keep else []
        assert run(f"{NETWORKS}:LargeNumber", "--input", "2,3:i64", "--by", "pnnx", *words) == 1
        captured = capsys.readouterr()
        assert "differs" in captured.out
        assert "the first operator that computes something else is pnnx.Expression" in captured.err
        assert ("written all the same: LargeNumber.pnnx.param" in captured.err) == keep
        assert ("nothing was written" in captured.err) != keep
        assert (earlier.read_text() == "of an earlier conversion") != keep
        assert (tmp_path / "LargeNumber.pnnx.bin").exists() == keep

    def test_a_condition_is_found_by_other_signs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(f"{NETWORKS}:Branching", "--input", "2,3") == 1
        captured = capsys.readouterr()
        assert "note: networks.py:" in captured.out
        assert "it agrees on the inputs it was made with" in captured.err

    def test_operators_that_kuiper_lacks_are_listed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(f"{NETWORKS}:Outputs", "--input", "2,3", "--input", "2,3", "--moduleop", "no.Such", "-o", "./") == 0
        assert "note: the graph holds no operator no.Such" in capsys.readouterr().out
        assert run(f"{NETWORKS}:Nested", "--input", "2,3", "--moduleop", f"{NETWORKS}.Rounding") == 1
        assert f"operator types that kuiper knows, got {NETWORKS}.Rounding '0'" in error_line(capsys)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["Cnn"], "--input: expected one for each argument of forward, like --input 1,3,224,224, got none"),
            (["Cnn", "--input", "1,4,6,8"], "Cnn: expected a forward pass on (1, 4, 6, 8) float32, got RuntimeError"),
            (
                ["Cnn", "--input", IMAGE, "--input2", "3,6,8"],
                "--input2: expected as many axes as in 1,3,6,8, got 3,6,8",
            ),
            (["Raising", "--input", "2"], "Raising: expected a forward pass on (2,) float32, got ValueError: not"),
            (["Random", "--input", "2,30"], "expected the same answer to the same inputs, got two"),
            (["Width", "--input", "2,3"], "it takes (width); --args"),
        ],
    )
    def test_what_cannot_be_converted_is_one_line(
        self, words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(f"{NETWORKS}:{words[0]}", *words[1:]) == 1
        assert message in error_line(capsys)
        assert list(tmp_path.iterdir()) == []

    def test_a_converter_that_crashes_is_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        import pnnx

        script = tmp_path / "converter"
        script.write_text("#!/bin/sh\necho 'terminate called' >&2\nkill -SEGV $$\n")
        script.chmod(0o755)
        monkeypatch.setattr(pnnx, "EXEC_PATH", str(script))
        assert run(f"{NETWORKS}:Cnn", "--input", IMAGE, "-o", "out", "--by", "pnnx") == 1
        line = error_line(capsys)
        assert "got none (the converter crashed: SIGSEGV); it said: terminate called" in line
        assert list(tmp_path.iterdir()) == [script]

    def test_without_pnnx_one_line_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "pnnx", None)
        assert run(f"{NETWORKS}:Cnn", "--input", IMAGE) == 1
        assert "Cnn: expected pnnx, got no module pnnx; pip install pnnx" in error_line(capsys)

    def test_by_onnx_is_another_way_and_the_report_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("onnxscript")
        assert run(f"{NETWORKS}:Cnn", "--input", IMAGE, "--input2", "2,3,9,10", "--by", "onnx", "-o", "net") == 0
        out = capsys.readouterr().out
        assert "route: torch.onnx.export, read as ONNX (--by onnx)" in out
        assert "open sizes: x (?, 3, ?, ?); --input2 with other sizes opens further axes" in out
        assert kuiper.load(tmp_path / "net.pnnx.param")(np.zeros((3, 3, 6, 6))).shape == (3, 5)

    def test_what_pnnx_cannot_do_goes_by_onnx(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("onnxscript")
        assert run(f"{NETWORKS}:BatchStatistics", "--input", IMAGE, "-o", "net") == 0
        out = capsys.readouterr().out
        assert "note: nn.BatchNorm2d 'norm'" in out or "note: pnnx: " in out  # refused, or crashed at
        assert "trying PyTorch's ONNX exporter instead (--by onnx)" in out
        assert (tmp_path / "net.pnnx.param").exists()
        assert run(f"{NETWORKS}:BatchStatistics", "--input", IMAGE, "-o", "other", "--by", "pnnx") == 1
        assert not (tmp_path / "other.pnnx.param").exists()

    def test_a_number_as_input_is_refused_before_pnnx_aborts(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(f"{NETWORKS}:Outputs", "--input", "2,3", "--input", "()", "--by", "pnnx") == 1
        assert "pnnx: expected inputs that have axes, got a number, (); --by onnx takes numbers" in error_line(capsys)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--moduleop", "a.B"], "--by onnx: expected neither --moduleop nor --state, which go by pnnx, got one"),
            (["--state"], "expected"),
        ],
    )
    def test_by_onnx_takes_no_option_of_pnnx(
        self, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(f"{NETWORKS}:Cnn", "--input", IMAGE, "--by", "onnx", *words) == 1
        assert message in error_line(capsys)

    def test_a_decoder_with_caches_becomes_one_that_keeps_them(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        caches = ["--input", "1,2,6,4"] * 4
        decoder = "tests.fixtures.export_cached_decoders:Rotary"
        assert run(decoder, "--input", "1,4:i64:0..30", *caches, "--state", "-o", "net") == 0
        out = capsys.readouterr().out
        assert "30 tokens in a session" in out
        assert "run it: kuiper run net.pnnx.param INPUT.npy\n" in out
        session = kuiper.load(tmp_path / "net.pnnx.param").start(max_length=40)
        assert session(np.arange(30)).shape == (30, 31)

    def test_what_has_no_caches_is_refused_with_state(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(f"{NETWORKS}:Tied", "--input", "1,4:i64", "--state") == 1
        assert "expected tokens (b, s) of integers, and caches" in error_line(capsys)
