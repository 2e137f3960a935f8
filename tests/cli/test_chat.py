"""Talking with a model, line by line."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from kuiper.cli import main
from kuiper.models.text import language_model
from tests.models.text.test_conversation import model


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run ``kuiper chat`` on lines of input, with a model that answers "abc", or "ddd..." to a question with an h."""

    def run(lines: str, *words: str, fake: Any = None) -> int:
        monkeypatch.setattr(language_model, "load", lambda path: fake or model())
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        return main(["chat", "--model", "folder.param", "--temperature", "0", "--max-tokens", "6", *words])

    return run


def test_chat_answers_until_an_empty_line(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert talk("e\n f \n\ne\n") == 0
    said = capsys.readouterr()
    assert said.out == "> abc\n> abc\n> "
    assert said.err.count("tokens/s") == 2


def test_chat_ends_with_the_input(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert talk("h", "--stop", "dddd") == 0
    assert capsys.readouterr().out == "> \n> \n"


def test_chat_tells_the_model_what_the_system_says(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert talk("e\n", "--system", "h") == 0
    assert capsys.readouterr().out.startswith("> dddddd\n")


def test_chat_goes_on_after_a_question_that_is_too_long(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert talk(f"{'e' * 30}\ne\n", "--memory", "24") == 0
    said = capsys.readouterr()
    assert said.out == "> > abc\n> \n"
    assert said.err.startswith("question: expected at most 18 tokens with all that stands around it, got 33\n")


def test_chat_goes_on_after_an_answer_that_was_interrupted(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fake = model()
    answers, pressed = fake.rule, iter([False, False, True])

    def rule(read: list[int]) -> int:
        if next(pressed, False):
            raise KeyboardInterrupt
        return answers(read)

    fake.rule = rule
    assert talk("e\nf\n", fake=fake) == 0
    said = capsys.readouterr()
    assert said.out == "> ab\n> abc\n> \n"
    assert said.err.startswith("(interrupted)\n2 tokens, ")


def test_chat_needs_a_model_with_a_template(talk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fake = model()
    fake.chat = None
    assert talk("e\n", fake=fake) == 1
    assert capsys.readouterr().err == (
        "kuiper chat: chat: expected a model with a chat template, got one without; "
        "kuiper generate continues a text with any model\n"
    )
