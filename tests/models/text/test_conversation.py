"""Conversations: what is remembered, what is read anew, and what is forgotten when there is no more room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ParameterError
from kuiper.models.text.characters import Characters
from kuiper.models.text.conversation import Conversation
from kuiper.models.text.sampling import Sampler
from tests.models.text.fakes import FakeModel

if TYPE_CHECKING:
    from kuiper.models.text.chat import Message

NAMES = ("<end>", *"abcdefgh[]>")


class Brackets:
    """A template without a process: [question]answer[question]>."""

    def prompt(self, messages: list[Message]) -> str:
        shown = {"system": "{}", "user": "[{}]", "assistant": "{}<end>"}
        return "".join(shown[message["role"]].format(message["content"]) for message in messages) + ">"


def model(context: int = 64) -> FakeModel:
    """Says "abc" and ends, or says a letter after the other if it was asked for "h"."""
    after = {">": "a", "a": "b", "b": "c", "c": "<end>"}

    def rule(read: list[int]) -> int:
        name = NAMES[read[-1]]
        return NAMES.index(after[name]) if "h" not in [NAMES[token] for token in read] else NAMES.index("d")

    return FakeModel(Characters(NAMES, frozenset({0})), rule, context, Brackets())  # type: ignore[arg-type]


def conversation(fake: FakeModel, system: str = "", max_tokens: int = 5, length: int = 64) -> Conversation:
    return Conversation(fake, Sampler(temperature=0), system=system, max_tokens=max_tokens, length=length)


def test_ask_remembers_questions_and_answers_and_reads_only_what_is_new() -> None:
    fake = model()
    talk = conversation(fake, system="g")
    assert "".join(talk.ask("e")) == "abc"
    fake.reads.clear()
    assert "".join(talk.ask("f")) == "abc"
    assert [message["content"] for message in talk.messages] == ["g", "e", "abc", "f", "abc"]
    read = "".join(NAMES[token] for tokens in fake.reads for token in tokens)
    # The prompt after a question ends with ">", and the answer's place in the history does not, so it is read anew.
    assert read == "abc<end>[f]>abc"
    assert fake.lengths == [64]


def test_ask_forgets_the_oldest_when_there_is_no_room() -> None:
    talk = conversation(model(), system="g", length=24)
    for question in "efdef":
        assert "".join(talk.ask(question)) == "abc"
    contents = [message["content"] for message in talk.messages]
    assert contents[0] == "g"
    assert contents[1:] == ["d", "abc", "e", "abc", "f", "abc"][-len(contents) + 1 :]
    assert len(contents) < 11


def test_ask_refuses_a_question_that_is_too_long_and_forgets_it() -> None:
    talk = conversation(model(), length=16)
    with pytest.raises(
        ParameterError, match="question: expected at most 11 tokens with all that stands around it, got 15"
    ):
        list(talk.ask("e" * 12))
    assert talk.messages == []
    assert "".join(talk.ask("e")) == "abc"


def test_interrupted_answer_is_kept_as_far_as_it_came() -> None:
    talk = conversation(model(), max_tokens=20)
    answer = talk.ask("h")
    assert [next(answer), next(answer)] == ["d", "d"]
    answer.close()  # type: ignore[attr-defined]
    assert [message["content"] for message in talk.messages] == ["h", "dd"]


def test_conversation_needs_a_template_and_room() -> None:
    fake = model()
    with pytest.raises(
        ParameterError, match="max_tokens: expected fewer than the 64 tokens of the conversation, got 64"
    ):
        conversation(fake, max_tokens=64)
    fake.chat = None
    with pytest.raises(
        ParameterError, match="chat: expected a model with a chat template, got one without; kuiper generate"
    ):
        conversation(fake)
