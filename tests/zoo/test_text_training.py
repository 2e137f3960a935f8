"""The trainings of small language models: they learn, they go on where they stopped, and what they write is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kuiper.models.text.characters import Characters  # noqa: E402
from kuiper.models.text.checkpoint import Checkpoint  # noqa: E402
from kuiper.models.zoo.architectures.llama import LlamaConfig, LlamaForCausalLM  # noqa: E402
from zoo import text_training, train_shakespeare, train_tang  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

TINY = LlamaConfig(6, 16, 32, 1, 2, 1, 8, max_position_embeddings=16)
CYCLE = torch.arange(600) % 6
"""A text whose next token follows from the last one."""


def options(folder: Path, *words: str) -> Any:
    given = ["--data", "x", "--out", str(folder), "--checkpoint", str(folder / "x.pt"), *words]
    return text_training.parse(None, "x", given)


def task() -> text_training.Task:
    def batch(generator: torch.Generator) -> torch.Tensor:
        starts = torch.randint(0, 500, (4, 1), generator=generator)
        return CYCLE[starts + torch.arange(9)]

    return text_training.Task(batch, lambda: [CYCLE[:90].view(10, 9)])


def trained(folder: Path, *words: str) -> tuple[Any, text_training.State]:
    torch.manual_seed(1)
    model = LlamaForCausalLM(TINY)
    return model, text_training.train(model, task(), options(folder, *words))


def test_train_learns_and_keeps_the_best(tmp_path: Path) -> None:
    model, state = trained(tmp_path, "--steps", "60", "--rate", "0.01")
    assert state.step == 60
    assert state.tokens == 60 * 4 * 8
    assert state.best_loss < 0.2
    assert text_training.validation_loss(model, task().validation()) == pytest.approx(state.best_loss, rel=1e-5)


def test_train_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "stopped").mkdir()
    whole, _ = trained(tmp_path, "--steps", "8")

    class Stopped(Exception):
        """Ctrl-C, after the checkpoint of the fifth step."""

    def stop(training: Any, task: Any) -> None:
        if training.state.step == 5:
            training.keep()
            raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_training.Training, "check", stop)
        with pytest.raises(Stopped):
            trained(tmp_path / "stopped", "--steps", "8")
    again, state = trained(tmp_path / "stopped", "--steps", "8")
    assert state.step == 8
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], value)


def test_rate_rises_and_falls() -> None:
    rates = [text_training.rate_at(done / 1000) for done in range(1001)]
    top = rates.index(max(rates))
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert (rates[0], rates[top], rates[-1]) == (pytest.approx(0.01), pytest.approx(1), pytest.approx(0.02))


def test_parse_wants_one_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--steps", "1", "--minutes", "1"]):
        with pytest.raises(SystemExit):
            options(tmp_path, *words)
    assert options(tmp_path, "--minutes", "0.5").minutes == 0.5


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that are trained in a moment."""
    for script in (train_shakespeare, train_tang):
        monkeypatch.setattr(
            script, "config", lambda size: LlamaConfig(size, 16, 32, 1, 2, 1, 8, max_position_embeddings=96)
        )
    monkeypatch.setattr(train_shakespeare, "CONTEXT", 96)
    monkeypatch.setattr(train_shakespeare, "SAMPLE_LENGTH", 20)
    monkeypatch.setattr(train_tang, "SAMPLE_POEMS", 8)
    monkeypatch.setattr(train_tang, "LEAST", 1)
    monkeypatch.setattr("zoo.tang_verse.MIN_POEMS", 1)


def run(script: Any, folder: Path, text: str) -> tuple[dict[str, Any], Checkpoint]:
    (folder / "text").write_text(text, encoding="utf-8")
    words = ["--data", str(folder / "text"), "--out", str(folder / "out"), "--checkpoint", str(folder / "c.pt")]
    script.main([*words, "--steps", "2", "--seed", "4"])
    card = json.loads((folder / "out" / f"{script.NAME}.json").read_text(encoding="utf-8"))
    return card, Checkpoint(folder / "out")


@pytest.mark.usefixtures("little")
def test_train_shakespeare_writes_a_folder_that_is_read(tmp_path: Path) -> None:
    card, checkpoint = run(train_shakespeare, tmp_path, "ROMEO: what light\n" * 120)
    characters = Characters.of_card(card, "shakespeare.json")
    assert "".join(sorted(characters.names)) == "\n :EMORaghiltw"
    assert checkpoint.config["vocab_size"] == len(characters.names) == len(checkpoint["model.embed_tokens.weight"])
    assert checkpoint.config["eos_token_id"] is None
    assert (card["task"], card["seed"], card["steps"]) == ("generate", 4, 2)
    assert card["bits_per_character"] == pytest.approx(card["validation_loss"] / np.log(2), rel=1e-3)
    assert card["sample"]["text"].startswith("ROMEO:")
    assert len(card["sample"]["text"]) == 26


POEMS = ("春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。", "白日依山盡，黃河入海流。欲窮千里目，更上一層樓。")
LONGER = "朝辭白帝彩雲間，千里江陵一日還。兩岸猿聲啼不住，輕舟已過萬重山。"


@pytest.mark.usefixtures("little")
def test_train_tang_writes_a_folder_that_is_read(tmp_path: Path) -> None:
    long_ones = [LONGER, LONGER + LONGER, POEMS[0] + POEMS[1]]
    card, checkpoint = run(train_tang, tmp_path, "\n".join([*POEMS, *long_ones] * 30))
    characters = Characters.of_card(card, "tang.json")
    assert checkpoint.config["vocab_size"] == len(characters.names)
    assert checkpoint.config["eos_token_id"] == characters.names.index("<end>")
    assert [characters.names[token] for token in characters.prefix[0]] == ["<5x4>", "<5x8>", "<7x4>", "<7x8>"]
    assert any({"鳥", "少"} <= set(group) for group in card["rhyme_groups"])
    assert [characters.names[token] for token in characters.prefix[1]] == [
        f"<rhyme {group[0]}>" for group in card["rhyme_groups"]
    ]
    assert 0 <= card["form_kept"] <= 1
    assert len(card["sample"]["text"].split("\n")) == 4
