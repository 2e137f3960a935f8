"""How the command line answers mistakes: one line, and the way out."""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks.__main__ import main
from kuiper.machine import this_machine


def test_unknown_model_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--models", "alexnet"])
    assert stopped.value.code == 2
    assert "invalid choice: 'alexnet'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threads", "0"], f"--threads: expected 1 to {this_machine().cores}, the cores of this machine, got [0]\n"),
        (["--batch", "0"], "--batch and --runs: expected numbers above 0, got [0, 30]\n"),
        (["kernels", "--only", "alexnet"], "--only: expected a text in the name of a layer, got 'alexnet'\n"),
        (["operators", "--threads", "0"], "--threads: expected a number above 0, got 0\n"),
    ],
)
def test_impossible_numbers_are_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    assert capsys.readouterr().err == message


def test_missing_package_is_one_line_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ncnn" else object())
    assert main(["--peers", "kuiper", "ncnn"]) == 1
    assert capsys.readouterr().err == (
        "benchmarks: expected torch, pnnx, onnx, psutil, kuiper, ncnn, got no ncnn; "
        "pip install torch==2.13.0, then pip install -e '.[bench]' (or: make bench)\n"
    )
