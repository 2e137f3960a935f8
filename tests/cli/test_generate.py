"""Text from the command line, with a model that says what it was told to say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.cli import main
from kuiper.models.text import language_model
from kuiper.models.text.characters import Characters
from tests.models.text.fakes import FakeModel, counting, reciting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeModel], list[str]]:
    """Let every name of a model mean this one, and list the names that are asked for."""

    def put(model: FakeModel) -> list[str]:
        names: list[str] = []

        def load(param: Path) -> FakeModel:
            names.append(language_model.graph_name(param))
            return model

        monkeypatch.setattr(language_model, "load", load)
        return names

    return put


def test_generate_prints_the_prompt_and_what_follows(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    names = use(reciting("to be or not"))
    assert main(["generate", "t", "--temperature", "0", "--seed", "5"]) == 0
    said = capsys.readouterr()
    assert said.out == "tto be or not\n"
    assert said.err.startswith("13 tokens, ")
    assert said.err.endswith(" ms; seed 5\n")
    assert "tokens/s; the prompt: 1 tokens, " in said.err
    assert names == ["shakespeare"]


def test_generate_takes_a_model_a_length_and_stop_strings(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    names = use(counting(64))
    assert main(["generate", "3", "--model", "tang", "--max-tokens", "4", "--top-k", "1"]) == 0
    assert main(["generate", "3", "--temperature", "0", "--stop", "zz", "--stop", "78"]) == 0
    assert capsys.readouterr().out == "34567\n3456\n"
    assert names == ["tang", "shakespeare"]


def test_generate_takes_backslash_n_for_an_end_of_line(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    use(reciting("to be\n\nor not"))
    assert main(["generate", "t", "--temperature", "0", "--stop", "\\n\\n"]) == 0
    assert capsys.readouterr().out == "tto be\n"


def test_generate_tells_a_seed_that_gives_the_same_text_again(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model = counting(64)
    model.rule = lambda read: 10  # one token that stands for all: each is as likely
    model.vocabulary = Characters((*"0123456789", "<no>"))
    use(model)
    words = ["generate", "3", "--temperature", "1000", "--top-p", "1", "--max-tokens", "40"]
    main(words)
    first = capsys.readouterr()
    seed = first.err.split("seed ")[1].strip()
    main([*words, "--seed", seed])
    assert capsys.readouterr().out == first.out
    main([*words, "--seed", str(int(seed) + 1)])
    assert capsys.readouterr().out != first.out


def test_generate_prints_json(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    use(reciting("東\n"))
    assert main(["generate", "東", "--json", "--seed", "1", "--temperature", "0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["prompt"], found["text"], found["end"]) == ("東", "東\n", "token")
    assert (found["seed"], found["tokens"], found["prompt_tokens"]) == (1, 3, 1)
    assert {"tokens_per_second", "prompt_seconds"} < set(found)


def test_generate_shows_nothing_that_a_terminal_acts_upon(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    use(reciting("a\x1b[31m\tb\r\n\u202ec"))
    main(["generate", "a", "--temperature", "0"])
    assert capsys.readouterr().out == "aa\\x1b[31m    b\\r\n\\u202ec\n"


def test_generate_shows_no_names_of_the_prompt(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    use(FakeModel(Characters(("<end>", "<f>", "x"), frozenset({0}), ((1,),)), lambda read: 2 if len(read) < 4 else 0))
    main(["generate", "<f>x", "--temperature", "0"])
    assert capsys.readouterr().out == "xxx\n"


def test_generate_ends_cleanly_when_it_is_interrupted(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def rule(read: list[int]) -> int:
        if len(read) == 4:
            raise KeyboardInterrupt
        return 7

    use(FakeModel(Characters(tuple("0123456789")), rule))
    assert main(["generate", "3", "--seed", "2", "--temperature", "0"]) == 130
    said = capsys.readouterr()
    assert said.out == "3777\n"
    assert said.err.splitlines()[0].startswith("3 tokens, ")
    assert said.err.splitlines()[1:] == ["kuiper generate: interrupted"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["3", "--top-p", "0"], "--top-p: expected a number above 0, and at most 1, got 0.0"),
        (["3", "--temperature", "-1"], "--temperature: expected a number of at least 0, got -1.0"),
        (["3", "--repetition-penalty", "0"], "--repetition-penalty: expected a number above 0, got 0.0"),
        (["3", "--max-tokens", "0"], "max_tokens: expected a number of at least 1, got 0"),
        (["x"], "prompt: expected characters that the model has learned, got 'x'"),
        ([], "prompt: expected at least one token to begin with, got none"),
    ],
)
def test_generate_says_what_is_wrong(
    use: Any, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    use(counting(64))
    assert main(["generate", *words]) == 1
    assert capsys.readouterr().err == f"kuiper generate: {message}\n"
