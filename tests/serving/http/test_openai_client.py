"""OpenAI's own client, and its classes of errors, on a running server."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.models.text.folders import chat_folder
from tests.serving.http.servers import KEY, address, client_of, key_file, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

openai = pytest.importorskip("openai")  # in the extra "dev"
__all__ = ["address", "key_file"]  # fixtures

ROMEO = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": 20, "seed": 1}


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    with closing(openai.OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)) as client:
        yield client


def test_completions_and_streams_are_read(client: Any) -> None:
    assert [model.id for model in client.models.list()] == ["shakespeare"]
    found = client.completions.create(**ROMEO, n=2, stop=["zz"], temperature=0.9, top_p=0.9)
    assert [choice.finish_reason for choice in found.choices] == ["length", "length"]
    assert found.usage.total_tokens == 46
    options = {"include_usage": True}
    *parts, last = client.completions.create(**ROMEO, temperature=0.9, top_p=0.9, stream=True, stream_options=options)
    assert "".join(part.choices[0].text for part in parts) == found.choices[0].text
    assert last.usage.completion_tokens == 20


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory, key_file: Path) -> Iterator[Any]:
    """A client of a server with a model that has a template."""
    folder = chat_folder(tmp_path_factory.mktemp("models") / "chat")
    server, address = start(key_file, str(folder))
    client_of(address).close()
    with closing(openai.OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)) as client:
        yield client
    server.kill()
    server.communicate()


def test_chats_and_their_streams_are_read(chat: Any) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Größe?"}]
    asked = {"model": "chat", "messages": messages, "max_completion_tokens": 30, "seed": 2, "n": 2}
    found = chat.chat.completions.create(**asked, logprobs=True, top_logprobs=3)
    assert [choice.message.role for choice in found.choices] == ["assistant"] * 2
    assert found.usage.completion_tokens == 60
    parts = [*chat.chat.completions.create(**asked, stream=True)]
    for index, choice in enumerate(found.choices):
        mine = [part.choices[0].delta.content or "" for part in parts if part.choices[0].index == index]
        assert "".join(mine) == choice.message.content
        told = choice.logprobs.content
        assert bytes(byte for one in told for byte in one.bytes).decode(errors="replace") == choice.message.content
        assert all(len(one.top_logprobs) == 3 for one in told)


def test_answers_are_parsed_into_the_class_that_was_asked_for(chat: Any) -> None:
    pydantic = pytest.importorskip("pydantic")  # which openai brings

    class Animal(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        model_config = pydantic.ConfigDict(extra="forbid")
        is_big: bool
        legs: Literal[2, 4]

    messages = [{"role": "user", "content": "An animal, please."}]
    asked = {"model": "chat", "messages": messages, "temperature": 1.0, "max_completion_tokens": 99}
    for seed in range(3):
        found = chat.chat.completions.parse(**asked, response_format=Animal, seed=seed)
        assert found.choices[0].finish_reason == "stop"
        assert found.choices[0].message.parsed.legs in (2, 4)
    broken = {"type": "json_schema", "json_schema": {"name": "broken", "schema": {"type": "nothing"}}}
    with pytest.raises(openai.BadRequestError, match="that answers can hold to") as refused:
        chat.chat.completions.create(model="chat", messages=messages, response_format=broken)
    assert refused.value.param == "response_format"


def test_completions_tell_how_likely_their_tokens_are(client: Any) -> None:
    (choice,) = client.completions.create(**ROMEO, logprobs=2).choices
    assert "".join(choice.logprobs.tokens) == choice.text
    assert choice.logprobs.text_offset == [*range(20)]
    assert all(logprob <= 0 for logprob in choice.logprobs.token_logprobs)
    assert all(2 <= len(best) <= 3 for best in choice.logprobs.top_logprobs)


def test_errors_are_of_the_classes_of_the_client(client: Any, address: str) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.completions.create(model="gpt", prompt="a")
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")
    assert missing.value.request_id
    with pytest.raises(openai.BadRequestError, match="characters that the model has learned"):
        client.completions.create(model="shakespeare", prompt="é")
    with pytest.raises(openai.BadRequestError, match="expected one with a chat template"):
        client.chat.completions.create(model="shakespeare", messages=[{"role": "user", "content": "a"}])
    with pytest.raises(openai.BadRequestError, match="fields of this request, got 'colour'"):
        client.completions.create(**ROMEO, extra_body={"colour": 1})
    with (
        closing(openai.OpenAI(base_url=f"{address}/v1", api_key="wrong", max_retries=0)) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.models.list()
