"""Probabilities of tokens, answers that hold to a schema, and chats behind a template of a model's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.protocols import Spelling
from kuiper.models.text.sampling import Sampler
from kuiper.serving.drawing import Chance
from kuiper.serving.http import served as served_module
from kuiper.serving.http.application import create_application
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.logprobs import ChatLogprobs, CompletionLogprobs
from kuiper.serving.http.served import Served
from tests.models.text.folders import chat_folder
from tests.serving.http.test_application import events

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = Limits(choices=4)
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Größe?"}]
PROMPT = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nGröße?<|im_end|>\n<|im_start|>assistant\n"
CHAT = {"model": "chat", "messages": MESSAGES, "max_tokens": 24, "seed": 6}
TEXT = {"model": "chat", "prompt": "Größe?", "max_tokens": 24, "seed": 5}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "small", "strict": True, "schema": SCHEMA}}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    model = language_model.load(chat_folder(tmp_path_factory.mktemp("models") / "chat"))
    found = Served("chat", model, memory=8 << 20, limits=LIMITS)
    yield found
    found.worker.stop(finish=False)
    assert found.worker.engine.batch.pool.in_use == 0


@pytest.fixture
def client(served: Served) -> TestClient:
    return TestClient(create_application([served], limits=LIMITS), raise_server_exceptions=False)


def generated(served: Served, prompt: str, tokens: int) -> str:
    encoded = served.model.vocabulary.encode(prompt, is_complete=True)
    return "".join(Generation(served.model, encoded, Sampler(seed=6), max_tokens=tokens))


def shares_of(served: Served, tokens: list[int]) -> Any:
    """The probabilities of the next token behind each of these."""
    rows = np.asarray(served.model.start(max_length=512)(np.array(tokens)), np.float64)
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_a_chat_answers_behind_the_template_of_its_folder(client: TestClient, served: Served) -> None:
    found = client.post("/v1/chat/completions", json=CHAT).json()
    assert found["choices"][0]["message"]["content"] == generated(served, PROMPT, 24)
    bytes_of_text = len(PROMPT.encode()) - 3 * len("<|im_start|>") - 2 * len("<|im_end|>")
    assert found["usage"]["prompt_tokens"] == bytes_of_text + 5
    parts = events(client.post("/v1/chat/completions", json={**CHAT, "stream": True, "n": 2}).text)
    mine = [part["choices"][0] for part in parts if part["choices"][0]["index"] == 0]
    text = "".join(choice["delta"].get("content", "") for choice in mine)
    assert text == found["choices"][0]["message"]["content"]


def test_a_stop_string_ends_a_chat(client: TestClient) -> None:
    whole = client.post("/v1/chat/completions", json=CHAT).json()["choices"][0]["message"]["content"]
    (choice,) = client.post("/v1/chat/completions", json={**CHAT, "stop": [whole[4:6]]}).json()["choices"]
    assert choice["message"]["content"] == whole[: whole.index(whole[4:6])]
    assert choice["finish_reason"] == "stop"


def test_a_template_that_refuses_messages_is_a_bad_request(client: TestClient, served: Served) -> None:
    chat = served.model.chat
    assert chat is not None
    template = type(chat)(chat.where, "{{ raise_exception('roles must alternate') }}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(served.model.__dict__, "chat", template)
        answer = client.post("/v1/chat/completions", json=CHAT)
    assert answer.status_code == 400
    assert "roles must alternate" in answer.json()["error"]["message"]
    assert str(chat.where) not in answer.text


def test_completions_tell_how_likely_their_tokens_are(client: TestClient, served: Served) -> None:
    (choice,) = client.post("/v1/completions", json={**TEXT, "logprobs": 3}).json()["choices"]
    found = choice["logprobs"]
    spellings = served.model.vocabulary.spellings
    prompt = served.model.vocabulary.encode("Größe?")
    texts = {served_text(one.written): token for token, one in enumerate(spellings)}
    tokens = [texts[text] for text in found["tokens"]]
    assert b"".join(spellings[token].written for token in tokens).decode(errors="replace") == choice["text"]
    shares = shares_of(served, [*prompt, *tokens])[len(prompt) - 1 : -1]
    for token, logprob, best, row in zip(tokens, found["token_logprobs"], found["top_logprobs"], shares, strict=True):
        assert abs(np.exp(logprob) - row[token]) <= 1e-5
        assert {texts[text] for text in best} == {token, *np.argsort(-row)[:3].tolist()}
        assert all(abs(np.exp(each) - row[texts[text]]) <= 1e-5 for text, each in best.items())
    assert found["text_offset"][0] == 0
    assert found["text_offset"] == sorted(found["text_offset"])
    assert found["text_offset"][-1] < len(choice["text"])
    assert client.post("/v1/completions", json=TEXT).json()["choices"][0]["logprobs"] is None


def test_a_token_that_cannot_come_has_a_number_that_json_has() -> None:
    spellings = [Spelling(b"a", True)]
    chance = Chance(0, -np.inf, [(0, -np.inf)])
    assert CompletionLogprobs(spellings).of([chance])["token_logprobs"] == [-9999.0]
    assert ChatLogprobs(spellings).of([chance])["content"][0]["top_logprobs"][0]["logprob"] == -9999.0


def served_text(written: bytes) -> str:
    return written.decode() if written.isascii() else "bytes:" + "".join(f"\\x{byte:02x}" for byte in written)


def test_a_stream_tells_the_same_of_its_tokens(client: TestClient) -> None:
    asked = {**TEXT, "logprobs": 2}
    whole = client.post("/v1/completions", json=asked).json()["choices"][0]["logprobs"]
    parts = events(client.post("/v1/completions", json={**asked, "stream": True}).text)
    told = [part["choices"][0]["logprobs"] for part in parts if part["choices"][0]["logprobs"]]
    assert {name: [one for part in told for one in part[name]] for name in whole} == whole


@pytest.mark.parametrize("stream", [False, True])
def test_chats_tell_how_likely_their_tokens_are(client: TestClient, stream: bool) -> None:
    chat = {**CHAT, "seed": 5, "max_tokens": 400}
    tokens = client.post("/v1/chat/completions", json=chat).json()["usage"]["completion_tokens"]
    answer = client.post("/v1/chat/completions", json={**chat, "logprobs": True, "top_logprobs": 2, "stream": stream})
    choices = [part["choices"][0] for part in (events(answer.text) if stream else [answer.json()])]
    content = [one for choice in choices if choice["logprobs"] for one in choice["logprobs"]["content"]]
    assert choices[-1]["finish_reason"] == "stop"
    assert len(content) == tokens - 1  # without the token that ends it
    said = "".join(choice["delta"].get("content", "") if stream else choice["message"]["content"] for choice in choices)
    assert bytes(byte for one in content for byte in one["bytes"]).decode(errors="replace") == said
    for one in content:
        assert len(one["top_logprobs"]) == 2
        assert one["top_logprobs"][0]["logprob"] >= one["top_logprobs"][1]["logprob"]
        assert one["logprob"] <= one["top_logprobs"][0]["logprob"]
    plain = client.post("/v1/chat/completions", json={**chat, "logprobs": True}).json()["choices"][0]["logprobs"]
    assert [one["logprob"] for one in plain["content"]] == [one["logprob"] for one in content]
    assert all(one["top_logprobs"] == [] for one in plain["content"])


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_holds_to_a_schema(client: TestClient, path: str, stream: bool) -> None:
    asked = {**(CHAT if "chat" in path else TEXT), "response_format": FORMAT, "max_tokens": 80, "n": 4}
    answer = client.post(path, json={**asked, "stream": stream})
    texts, ends = [""] * 4, [""] * 4
    for part in events(answer.text) if stream else [answer.json()]:
        for choice in part["choices"]:
            held = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
            texts[choice["index"]] += held.get("content") or ""
            ends[choice["index"]] = choice["finish_reason"] or ""
    assert ends == ["stop"] * 4
    for text in texts:
        found = json.loads(text)
        assert set(found) == {"a", "b"}
        assert found["a"] in ("x", "y")
        assert isinstance(found["b"], bool)
    assert len(set(texts)) > 1


def test_any_object_may_be_asked_for(client: TestClient) -> None:
    asked = {**CHAT, "response_format": {"type": "json_object"}, "max_tokens": 40, "temperature": 1.5}
    for seed in range(4):
        (choice,) = client.post("/v1/chat/completions", json={**asked, "seed": seed}).json()["choices"]
        text = choice["message"]["content"]
        assert text.startswith("{")
        if choice["finish_reason"] == "stop":
            assert isinstance(json.loads(text), dict)


def test_text_is_what_is_written_without_a_format(client: TestClient) -> None:
    plain = client.post("/v1/completions", json=TEXT).json()["choices"]
    assert client.post("/v1/completions", json={**TEXT, "response_format": {"type": "text"}}).json()["choices"] == plain


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("json", "an object with the type text, json_object or json_schema"),
        ({"type": "yaml"}, "an object with the type text, json_object or json_schema"),
        ({"type": "json_object", "schema": {}}, "the fields of json_object"),
        ({"type": "json_schema"}, "an object with a name and a schema"),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, "an object with a name and a schema"),
        ({"type": "json_schema", "json_schema": {"schema": {}}}, "a name of 1 to 64 characters"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": 1}}, "strict to be true or"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "more": 1}}, "to have no other fields"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "no"}}}, "that answers can hold to"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": ["a" * 40_000]}}}, "32768 characters"),
    ],
)
def test_a_format_that_cannot_be_held_to_is_refused(client: TestClient, given: Any, message: str) -> None:
    answer = client.post("/v1/completions", json={**TEXT, "response_format": given})
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, "response_format")
    assert message in error["message"]
    assert "\n" not in error["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_that_leads_nowhere_is_a_bad_request(
    client: TestClient, served: Served, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    """As with a vocabulary that lacks a character which is needed later on."""
    grammar = served.grammar(SCHEMA)
    count = 0

    class Stuck(type(grammar)):  # type: ignore[misc]
        def forbid(self, scores: Any) -> None:
            nonlocal count
            count += 1
            super().forbid(scores if count < 4 else scores[:0])

    grammar.__class__ = Stuck
    monkeypatch.setattr(type(grammar), "copy", lambda self: self)
    monkeypatch.setattr(served, "grammar", lambda schema: grammar)
    answer = client.post("/v1/completions", json={**TEXT, "response_format": FORMAT, "stream": stream})
    if stream:
        error = json.loads(answer.text.strip().split("\n\n")[-1].removeprefix("data: "))["error"]
    else:
        assert answer.status_code == 400
        error = answer.json()["error"]
    assert error["param"] == "response_format"
    assert "that the model's tokens can follow" in error["message"]


def test_the_package_for_schemas_may_be_missing(
    client: TestClient, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(vocabulary: object) -> None:
        raise ImportError("response_format: expected the package llguidance, got none; pip install llguidance")

    monkeypatch.setattr(served, "_answers", None)
    monkeypatch.setattr(served_module, "JsonAnswers", missing)
    answer = client.post("/v1/completions", json={**TEXT, "response_format": FORMAT})
    assert (answer.status_code, answer.json()["error"]["type"]) == (501, "server_error")


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        ("/v1/completions", {"logprobs": 21}, "logprobs: expected a whole number from 0 to 20, got 21"),
        ("/v1/completions", {"logprobs": True}, "logprobs: expected a whole number from 0 to 20, got True"),
        ("/v1/completions", {"echo": True}, "echo: expected no such field"),
        ("/v1/chat/completions", {"logprobs": 3}, "logprobs: expected true or false, got 3"),
        ("/v1/chat/completions", {"top_logprobs": 3}, "top_logprobs: expected logprobs to be true, got False"),
        ("/v1/chat/completions", {"logprobs": True, "top_logprobs": 21}, "top_logprobs: expected a whole number"),
    ],
)
def test_wrong_fields_of_probabilities_are_named(
    client: TestClient, path: str, change: dict[str, Any], message: str
) -> None:
    answer = client.post(path, json={**(CHAT if "chat" in path else TEXT), **change})
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
