"""``kuiper quantize`` as a user calls it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from kuiper.graph import pnnx
from kuiper.models import bundled_photo
from kuiper.models.text import language_model
from kuiper.models.text.random_decoder import random_decoder
from tests.cli import program
from tests.models.text.folders import tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

run = program.command("quantize")


@pytest.mark.parametrize(("bits", "group"), [(8, None), (8, 32), (4, None)])
def test_quantize_of_a_folder_writes_a_model_that_generates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bits: int, group: int | None
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_folder(tmp_path / "tiny")
    (tmp_path / "text.txt").write_text("a text of some forty characters, or so\n" * 4, encoding="utf-8")
    assert run("tiny", "--bits", bits, "--text", "text.txt", *(["--group", group] if group else [])) == 0
    printed = capsys.readouterr().out
    assert f"15 weights in {bits} bits" in printed
    found = re.search(r"perplexity of text.txt: ([\d.]+) before, ([\d.]+) after", printed)
    assert found
    assert float(found[1]) == pytest.approx(float(found[2]), rel=0.02 if bits == 8 else 0.5)
    name = f"tiny-{bits}bit{f'-group{group}' if group else ''}"
    model = language_model.load(tmp_path / name / f"{name}.pnnx.param")
    weights = [weight for op in model.graph.operators if (weight := op.quantized("weight")) is not None]
    assert {(weight.bits, weight.in_groups) for weight in weights} == {(bits, bits == 4 or group == 32)}
    assert (model.context, model.vocabulary.ends) == (64, {257})
    assert model.vocabulary.encode("ab") == language_model.load("tiny").vocabulary.encode("ab")


def test_quantize_of_a_model_of_pictures_keeps_its_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cifar_resnet20", "-o", tmp_path / "small") == 0
    assert "22 weights in 8 bits: 1.1 MB to 0.3 MB" in capsys.readouterr().out
    param = tmp_path / "small" / "cifar_resnet20-8bit.pnnx.param"
    assert program.run("classify", bundled_photo("cat"), "--model", param) == 0
    assert "cat" in capsys.readouterr().out


def test_quantize_keeps_the_characters_of_a_card(tmp_path: Path) -> None:
    pnnx.save(random_decoder(seed=3, hidden_size=32), tmp_path / "tiny.pnnx.param")
    card = {"task": "generate", "context": 48, "vocabulary": [chr(9728 + i) for i in range(32)]}
    (tmp_path / "tiny.json").write_text(json.dumps(card), encoding="utf-8")
    assert run(tmp_path / "tiny.pnnx.param", "-o", tmp_path / "out", "--bits", 4) == 0
    model = language_model.load(tmp_path / "out" / "tiny-4bit.pnnx.param")
    assert model.vocabulary.encode("☁☂") == [1, 2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "expected a .param or an .onnx file, or one of"),
        (["cifar_resnet20", "--text", "missing.txt"], "missing.txt"),
        (["shakespeare", "--bits", "4"], "expected a model that is not quantised yet, got one that is"),
    ],
)
def test_quantize_says_in_one_line_what_is_wrong(
    tmp_path: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*words) == 1
    error = capsys.readouterr().err
    assert error.startswith("kuiper quantize: ")
    assert message in error
    assert error.count("\n") == 1


def test_quantize_refuses_a_card_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pnnx.save(random_decoder(seed=3, hidden_size=32), tmp_path / "tiny.pnnx.param")
    (tmp_path / "tiny.json").write_text("{", encoding="utf-8")
    assert run(tmp_path / "tiny.pnnx.param", "-o", tmp_path / "out") == 1
    assert "tiny.json: expected a model card in JSON" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_quantize_of_what_has_no_weights_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "7767517\n3 2\npnnx.Input a 0 1 0\nnn.ReLU b 1 1 0 1\npnnx.Output c 1 0 1\n"
    (tmp_path / "plain.pnnx.param").write_text(text, encoding="utf-8")
    assert run(tmp_path / "plain.pnnx.param", "-o", tmp_path / "out") == 1
    assert "expected a model with weights that 8 bits can hold, got none" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
