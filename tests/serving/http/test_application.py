"""The protocol, asked in this process: answers, streams, and everything that a client can do wrong."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler
from kuiper.serving.http.application import create_application
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.served import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

ROMEO = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": 20, "seed": 1}
HELLO = {"model": "shakespeare", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 12, "seed": 3}

LIMITS = Limits(body_bytes=20_000, body_seconds=5.0, choices=4, texts=6)


@pytest.fixture(scope="module")
def models() -> Iterator[dict[str, Served]]:
    served = {
        name: Served(name, language_model.load(bundled(name)), memory=8 << 20, limits=LIMITS)
        for name in ("shakespeare", "tang")
    }
    yield served
    for model in served.values():
        model.worker.stop(finish=False)
        assert model.worker.engine.batch.pool.in_use == 0
        assert model.open == 0


@pytest.fixture
def client(models: dict[str, Served]) -> TestClient:
    return TestClient(create_application([*models.values()], limits=LIMITS), raise_server_exceptions=False)


class Template:
    """A chat template without a process."""

    def prompt(self, messages: list[dict[str, str]]) -> str:
        return "".join(f"{message['role']}: {message['content']}\n" for message in messages) + "assistant:"


@pytest.fixture
def chats(models: dict[str, Served], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the model of characters have a template."""
    model = models["shakespeare"].model
    monkeypatch.setitem(model.__dict__, "chat", Template())


def expected(models: dict[str, Served], prompt: str, seed: int, tokens: int, **more: Any) -> str:
    """The text that one reader gets."""
    model = models["shakespeare"].model
    sampler = Sampler(seed=seed, **more)
    return "".join(Generation(model, model.vocabulary.encode(prompt), sampler, max_tokens=tokens))


def events(text: str) -> list[Any]:
    """The objects of a stream, whose last event says that it is done."""
    lines = text.removesuffix("\n\n").split("\n\n")
    assert lines.pop() == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_models_are_listed(client: TestClient) -> None:
    found = client.get("/v1/models").json()
    assert found["object"] == "list"
    assert [model["id"] for model in found["data"]] == ["shakespeare", "tang"]
    assert client.get("/v1/models/tang").json()["owned_by"] == "kuiper"


def test_a_completion_is_the_text_of_a_generation(client: TestClient, models: dict[str, Served]) -> None:
    found = client.post("/v1/completions", json={**ROMEO, "temperature": 0.7, "top_p": 0.9}).json()
    (choice,) = found["choices"]
    text = expected(models, "ROMEO:", 1, 20, temperature=0.7, top_p=0.9)
    assert choice == {"index": 0, "text": text, "logprobs": None, "finish_reason": "length"}
    counts = {"prompt_tokens": 6, "completion_tokens": 20, "total_tokens": 26}
    assert found["usage"] == {**counts, "prompt_tokens_details": {"cached_tokens": 0}}
    assert (found["object"], found["model"]) == ("text_completion", "shakespeare")


def test_prompts_and_choices_are_numbered(client: TestClient, models: dict[str, Served]) -> None:
    tokens = models["shakespeare"].model.vocabulary.encode("ROMEO:")
    found = client.post("/v1/completions", json={**ROMEO, "prompt": ["JULIET:", tokens], "n": 2}).json()
    texts = [choice["text"] for choice in found["choices"]]
    assert texts == [expected(models, prompt, seed, 20) for prompt in ("JULIET:", "ROMEO:") for seed in (1, 2)]
    assert [choice["index"] for choice in found["choices"]] == [0, 1, 2, 3]
    assert found["usage"]["prompt_tokens"] == 13


def test_a_stream_has_the_same_text_and_the_usage_last(client: TestClient, models: dict[str, Served]) -> None:
    asked = {**ROMEO, "n": 2, "stream": True, "stream_options": {"include_usage": True}}
    answer = client.post("/v1/completions", json=asked)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    *parts, last = events(answer.text)
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 40)
    assert all(part["usage"] is None for part in parts)
    for index in range(2):
        mine = [part["choices"][0] for part in parts if part["choices"][0]["index"] == index]
        assert "".join(choice["text"] for choice in mine) == expected(models, "ROMEO:", 1 + index, 20)
        assert [choice["finish_reason"] for choice in mine if choice["finish_reason"]] == ["length"]


def test_usage_says_what_of_a_prompt_was_found_in_pages(client: TestClient) -> None:
    asked = {**ROMEO, "prompt": "JULIET:\n" * 20, "max_tokens": 3}  # 160 tokens: two pages and a half
    found = [client.post("/v1/completions", json=asked).json()["usage"] for _ in range(2)]
    assert [usage["prompt_tokens_details"]["cached_tokens"] for usage in found] == [0, 128]
    found = client.post("/v1/completions", json={**asked, "prompt": [asked["prompt"]] * 2, "n": 2}).json()["usage"]
    assert (found["prompt_tokens"], found["prompt_tokens_details"]["cached_tokens"]) == (320, 256)


def test_a_stop_string_ends_a_text(client: TestClient, models: dict[str, Served]) -> None:
    text = expected(models, "ROMEO:", 1, 20)
    (choice,) = client.post("/v1/completions", json={**ROMEO, "stop": text[8:10]}).json()["choices"]
    assert (choice["text"], choice["finish_reason"]) == (text[: text.index(text[8:10])], "stop")


def test_a_prompt_may_be_empty_where_the_vocabulary_begins_by_itself(client: TestClient) -> None:
    found = client.post("/v1/completions", json={"model": "tang", "prompt": "", "seed": 1, "max_tokens": 90}).json()
    assert found["choices"][0]["finish_reason"] == "stop"
    assert len(found["choices"][0]["text"]) > 20


@pytest.mark.usefixtures("chats")
def test_a_chat_answers_behind_its_template(client: TestClient, models: dict[str, Served]) -> None:
    text = expected(models, "user: Hello\nassistant:", 3, 12)
    found = client.post("/v1/chat/completions", json=HELLO).json()
    assert found["object"] == "chat.completion"
    assert found["choices"][0]["message"] == {"role": "assistant", "content": text, "refusal": None}
    parts = events(client.post("/v1/chat/completions", json={**HELLO, "stream": True}).text)
    deltas = [part["choices"][0]["delta"] for part in parts]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == text
    in_parts = [{"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]}]
    asked = {**HELLO, "messages": in_parts, "max_tokens": None, "max_completion_tokens": 12}
    assert client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"] == text


def test_a_chat_needs_a_template(client: TestClient) -> None:
    answer = client.post("/v1/chat/completions", json=HELLO)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("model: expected one with a chat template, got one without")


@pytest.mark.parametrize(
    ("change", "status", "param", "message"),
    [
        ({"model": None}, 400, "model", "model: expected a text, got None"),
        ({"model": "gpt"}, 404, "model", "model: expected one of shakespeare, tang, got 'gpt'"),
        ({"prompt": None}, 400, "prompt", "got None"),
        ({"prompt": 3}, 400, "prompt", "got 3"),
        ({"prompt": []}, 400, "prompt", "got []"),
        ({"prompt": [[1, "a"]]}, 400, "prompt", "texts or lists of tokens"),
        ({"prompt": ""}, 400, "prompt", "at least one token, got none"),
        ({"prompt": [1, 65]}, 400, "prompt", "tokens below 65, got 65"),
        ({"prompt": [1, -1]}, 400, "prompt", "texts or lists of tokens"),
        ({"prompt": "é"}, 400, "prompt", "characters that the model has learned, got 'é'"),
        ({"prompt": "\ud800"}, 400, "prompt", "characters that the model has learned"),
        ({"prompt": "a" * 257}, 400, "prompt", "at most 256 tokens, got 257"),
        ({"max_tokens": 0}, 400, "max_tokens", "a whole number from 1 to 1048576, got 0"),
        ({"max_tokens": "many"}, 400, "max_tokens", "got 'many'"),
        ({"max_tokens": True}, 400, "max_tokens", "got True"),
        ({"temperature": -1}, 400, "temperature", "a number from 0 to 2, got -1"),
        ({"temperature": 10**400}, 400, "temperature", "a number from 0 to 2"),
        ({"top_p": 0}, 400, "top_p", "a number above 0 to 1, got 0"),
        ({"seed": -1}, 400, "seed", "got -1"),
        ({"seed": 1.5}, 400, "seed", "got 1.5"),
        ({"n": 5}, 400, "n", "from 1 to 4, got 5"),
        ({"n": 4, "prompt": ["a", "b"]}, 400, "n", "at most 4 texts of all prompts, got 8"),
        ({"stop": ""}, 400, "stop", "texts of 1 to 256 characters"),
        ({"stop": ["a"] * 17}, 400, "stop", "at most 16 texts"),
        ({"stop": {"a": 1}}, 400, "stop", "at most 16 texts"),
        ({"stream": "yes"}, 400, "stream", "true or false, got 'yes'"),
        ({"stream_options": {"include_usage": True}}, 400, "stream_options", "stream to be true"),
        ({"echo": True}, 400, "echo", "this server does not have it, got True"),
        ({"presence_penalty": 0.5}, 400, "presence_penalty", "this server does not have it"),
        ({"temprature": 1}, 400, "temprature", "expected fields of this request, got 'temprature'"),
    ],
)
def test_a_wrong_field_is_named(
    client: TestClient, change: dict[str, Any], status: int, param: str, message: str
) -> None:
    answer = client.post(
        "/v1/completions", content=json.dumps({**ROMEO, **change}), headers={"content-type": "application/json"}
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (status, param, "invalid_request_error")
    assert message in error["message"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'{"n": NaN}', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 10_000, "application/json", 400),
        (b'{"model": "tang", "model": "tang"}', "application/json", 400),
        (b'{"n": ' + b"9" * 9999 + b"}", "application/json", 400),
        (b" " * 20_001, "application/json", 413),
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
    ],
)
def test_a_body_that_is_no_request_is_refused(client: TestClient, content: bytes, kind: str, status: int) -> None:
    answer = client.post("/v1/completions", content=content, headers={"content-type": kind})
    assert answer.status_code == status
    assert "expected" in answer.json()["error"]["message"]


def test_a_body_without_a_length_is_bounded_as_well(client: TestClient) -> None:
    def pieces() -> Any:
        for _ in range(30):
            yield b" " * 1000

    answer = client.post("/v1/completions", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_paths_and_methods_that_are_not_there(client: TestClient) -> None:
    assert client.get("/v1/nothing").status_code == 404
    assert "got GET /v1/nothing" in client.get("/v1/nothing").json()["error"]["message"]
    assert client.get("/v1/completions").status_code == 405
    assert client.get("/v1/models/gpt").json()["error"]["code"] == "model_not_found"


def test_the_key_is_asked_for_everywhere_but_of_a_balancer(models: dict[str, Served]) -> None:
    client = TestClient(create_application([models["tang"]], api_key="s3cret"))
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic s3cret"}, {"authorization": "é"}):
        answer = client.get("/v1/models", headers={name: value.encode() for name, value in headers.items()})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert client.get("/metrics").status_code == 401
    assert client.get("/v1/models", headers={"authorization": "Bearer s3cret"}).status_code == 200
    assert client.get("/v2/health/ready").status_code == 200


def test_more_texts_than_there_are_seats_are_sent_away(client: TestClient, models: dict[str, Served]) -> None:
    with models["shakespeare"].seats(3):
        answer = client.post("/v1/completions", json={**ROMEO, "n": 4})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert answer.json()["error"]["code"] == "rate_limit_exceeded"
        assert client.post("/v1/completions", json={**ROMEO, "n": 3}).status_code == 200
    assert models["shakespeare"].open == 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_fails_is_an_error_with_an_id_and_the_next_request_works(
    client: TestClient, models: dict[str, Served], monkeypatch: pytest.MonkeyPatch, stream: bool, caplog: Any
) -> None:
    def fails(pieces: object) -> None:
        raise MemoryError("/secret/place")

    with monkeypatch.context() as patch:
        patch.setattr(models["shakespeare"].worker.engine.batch, "step", fails)
        answer = client.post("/v1/completions", json={**ROMEO, "stream": stream})
    assert (answer.status_code, answer.json()["error"]["type"]) == (500, "server_error")
    identity = answer.headers["x-request-id"]
    assert identity in answer.json()["error"]["message"]
    assert "secret" not in answer.text
    assert "/secret/place" in caplog.text
    assert identity in caplog.text
    assert client.post("/v1/completions", json=ROMEO).status_code == 200


def test_a_model_that_fails_in_a_stream_says_so_in_it(
    client: TestClient, models: dict[str, Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, count = models["shakespeare"].worker.engine.batch, 0
    step = batch.step

    def fails_later(pieces: Any) -> Any:
        nonlocal count
        count += 1
        if count > 5:
            raise MemoryError
        return step(pieces)

    monkeypatch.setattr(batch, "step", fails_later)
    answer = client.post("/v1/completions", json={**ROMEO, "stream": True})
    last = answer.text.removesuffix("\n\n").split("\n\n")[-1]
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "internal_error"


def test_metrics_count_what_was_done(models: dict[str, Served]) -> None:
    client = TestClient(create_application([models["shakespeare"]]))
    client.post("/v1/completions", json=ROMEO)
    text = client.get("/metrics").text
    assert len(re.findall(r'^kuiper_server_info\{id="[0-9a-f]{16}",version=".+"\} 1.0$', text, re.MULTILINE)) == 1
    for line in (
        'kuiper_tokens_total{model="shakespeare"} 20.0',
        'kuiper_prompt_tokens_total{model="shakespeare"} 6.0',
        'kuiper_texts_total{end="length",model="shakespeare"} 1.0',
        'kuiper_time_to_first_token_seconds_count{model="shakespeare"} 1.0',
        'kuiper_time_per_token_seconds_count{model="shakespeare"} 19.0',
        'kuiper_running{model="shakespeare"} 0.0',
    ):
        assert line in text.splitlines()
