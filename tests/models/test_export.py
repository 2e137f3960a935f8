"""The export script: what it writes, and how it answers mistakes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.errors import ParameterError
from kuiper.models.zoo.export import ARCHITECTURES, create, main

if TYPE_CHECKING:
    from pathlib import Path


def test_list_names_every_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ARCHITECTURES)
    assert "resnet18             (1, 3, 224, 224)" in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected the NAME of an architecture, got none"),
        (["resnet19"], "invalid choice: 'resnet19'"),
        (["resnet18", "--moduleop"], "--moduleop: expected a YOLOv5, got resnet18"),
        (["resnet18", "--batch", "0"], "--batch and --size: expected numbers above 0"),
        (["resnet18", "--seed", "1", "--weights", "w.pth"], "not allowed with argument"),
    ],
)
def test_wrong_use_is_answered_with_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_create_names_the_architectures_there_are() -> None:
    with pytest.raises(ParameterError, match=r"zoo: expected one of cifar_resnet20, .*, got alexnet"):
        create("alexnet")


@pytest.mark.parametrize("missing", ["torch", pytest.param("pnnx", marks=pytest.mark.torch)])
def test_without_the_extra_one_line_says_what_to_install(missing: str, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"from kuiper.models.zoo.export import main; sys.exit(main(['squeezenet1_1', '-o', {str(tmp_path)!r}]))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    expected = f"export: expected PyTorch and pnnx, got no module {missing}; pip install torch pnnx"
    assert finished.stderr.startswith(expected)
    assert finished.stderr.count("\n") == 1


@pytest.mark.torch
def test_check_stores_input_and_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cifar_resnet20", "-o", str(tmp_path / "new"), "--seed", "3", "--batch", "2", "--check"]) == 0
    assert "kuiper differs from torch by" in capsys.readouterr().out
    stored = np.load(tmp_path / "new" / "cifar_resnet20.npz")
    assert stored["input_0"].shape == (2, 3, 32, 32)
    y = kuiper.load(tmp_path / "new" / "cifar_resnet20.pnnx.param")(stored["input_0"])
    np.testing.assert_allclose(np.asarray(y), stored["output_0"], rtol=0, atol=1e-5 * np.abs(stored["output_0"]).max())


@pytest.mark.torch
def test_the_seed_decides_the_weights(tmp_path: Path) -> None:
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["cifar_resnet20", "-o", str(tmp_path / folder), "--seed", seed]) == 0
    a, b, c = ((tmp_path / folder / "cifar_resnet20.pnnx.bin").read_bytes() for folder in "abc")
    assert a == b
    assert a != c


@pytest.mark.torch
def test_dynamic_leaves_batch_height_and_width_open(tmp_path: Path) -> None:
    assert main(["cifar_resnet20", "-o", str(tmp_path), "--dynamic"]) == 0
    text = (tmp_path / "cifar_resnet20.pnnx.param").read_text(encoding="utf-8")
    assert "#0=(?,3,?,?)f32" in text


@pytest.mark.torch
def test_bad_weights_are_one_line_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cifar_resnet20", "-o", str(tmp_path), "--weights", str(tmp_path / "none.pth")]) == 1
    error = capsys.readouterr().err
    assert "none.pth: expected a file of weights" in error
    assert error.count("\n") == 1
