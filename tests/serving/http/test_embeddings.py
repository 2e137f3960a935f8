"""Vectors of texts over HTTP: asked with OpenAI's client, and everything that a client can do wrong."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import Queue
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from kuiper.models import bundled
from kuiper.models.text import embedding_model, language_model
from kuiper.serving.http.application import create_application
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.served import Served
from kuiper.serving.http.served_encoder import ServedEncoder
from tests.encoders import sentence_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = Limits(inputs=40, open_inputs=60)
WAIT = 60.0  # seconds, after which a test that hangs fails
TEXTS = ["a cat sleeps", "", "Grüße"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedEncoder]:
    model = embedding_model.load(sentence_folder(tmp_path_factory.mktemp("models") / "tiny"))
    served = ServedEncoder("tiny", model, limits=LIMITS)
    yield served
    served.stop()
    assert (served.worker.waiting, served.open) == (0, 0)


@pytest.fixture(scope="module")
def writer() -> Iterator[Served]:
    model = Served("shakespeare", language_model.load(bundled("shakespeare")), memory=8 << 20, limits=LIMITS)
    yield model
    model.worker.stop(finish=False)


@pytest.fixture
def client(served: ServedEncoder, writer: Served) -> TestClient:
    return TestClient(create_application([writer, served], limits=LIMITS), raise_server_exceptions=False)


def post(client: TestClient, **asked: Any) -> Any:
    content = json.dumps({"model": "tiny", "input": "a cat sleeps", **asked})  # which lets half a character through
    return client.post("/v1/embeddings", content=content, headers={"content-type": "application/json"})


def test_openai_s_client_gets_the_vectors_of_the_model(client: TestClient, served: ServedEncoder) -> None:
    openai = pytest.importorskip("openai")  # in the extra "dev"
    expected = served.model.encode(TEXTS)
    with closing(
        openai.OpenAI(base_url="http://testserver/v1", api_key="none", http_client=client, max_retries=0)
    ) as theirs:
        assert [model.id for model in theirs.models.list()] == ["shakespeare", "tiny"]
        for options in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}, {"dimensions": 32}):
            found = theirs.embeddings.create(model="tiny", input=TEXTS, **options)
            vectors = [one.embedding for one in found.data]
            if options.get("encoding_format") == "base64":  # which the client leaves as it is, if it is asked for
                import base64

                vectors = [np.frombuffer(base64.b64decode(vector), "<f4") for vector in vectors]
            np.testing.assert_array_equal(np.float32(vectors), expected)
            assert [one.index for one in found.data] == [0, 1, 2]
            assert found.usage.prompt_tokens == found.usage.total_tokens == 14 + 2 + 9
        with pytest.raises(openai.BadRequestError, match="dimensions: expected 32, those of the model, got 8"):
            theirs.embeddings.create(model="tiny", input="a", dimensions=8)
        with pytest.raises(openai.NotFoundError):
            theirs.embeddings.create(model="gpt", input="a")


def test_an_input_is_a_text_or_tokens_or_a_list_of_them(client: TestClient, served: ServedEncoder) -> None:
    tokens = served.model.tokens(["a cat sleeps"])[0].ids
    vectors = [
        post(client, input=given).json()["data"][0]["embedding"]
        for given in ("a cat sleeps", tokens, ["a cat sleeps"], [tokens])
    ]
    np.testing.assert_array_equal(vectors, [vectors[0]] * 4)
    found = post(client, input=[tokens, [5]], user="me").json()
    assert (found["object"], found["model"], len(found["data"])) == ("list", "tiny", 2)


def test_many_clients_at_once_get_what_each_gets_alone(client: TestClient, served: ServedEncoder) -> None:
    texts = [f"text {at} {'x' * (at % 7)}" for at in range(24)]
    expected = served.model.encode(texts)
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda text: post(client, input=text).json()["data"][0]["embedding"], texts)]
    np.testing.assert_array_equal(np.float32(found), expected)


@pytest.mark.parametrize(
    ("change", "status", "param", "message"),
    [
        ({"model": None}, 400, "model", "model: expected a text, got None"),
        ({"model": "gpt"}, 404, "model", "model: expected one of shakespeare, tiny, got 'gpt'"),
        ({"model": "shakespeare"}, 400, "model", "expected one that makes vectors, got 'shakespeare'"),
        ({"input": None}, 400, "input", "got None"),
        ({"input": 3}, 400, "input", "got 3"),
        ({"input": []}, 400, "input", "a list of 1 to 40 of these, got []"),
        ({"input": ["a"] * 41}, 400, "input", "a list of 1 to 40 of these"),
        ({"input": ["a", 3]}, 400, "input", "texts or lists of tokens, got 3"),
        ({"input": [[1], []]}, 400, "input", "texts or lists of tokens, got []"),
        ({"input": [1, -1]}, 400, "input", "texts or lists of tokens"),
        ({"input": [1, 259]}, 400, "input", "tokens below 259, got 259"),
        ({"input": "a" * 31}, 400, "input", "1 to 32 tokens of a text, got 33"),
        ({"input": [1] * 33}, 400, "input", "1 to 32 tokens of a text, got 33"),
        ({"input": "\ud800"}, 400, "input", "half a character"),
        ({"encoding_format": "hex"}, 400, "encoding_format", "one of float, base64, got 'hex'"),
        ({"encoding_format": []}, 400, "encoding_format", "one of float, base64, got []"),
        ({"dimensions": 0}, 400, "dimensions", "a whole number from 1"),
        ({"dimensions": 31}, 400, "dimensions", "expected 32, those of the model, got 31"),
        ({"truncate": True}, 400, "truncate", "expected fields of this request, got 'truncate'"),
    ],
)
def test_a_wrong_field_is_named(
    client: TestClient, change: dict[str, Any], status: int, param: str, message: str
) -> None:
    answer = post(client, **change)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (status, param, "invalid_request_error")
    assert message in error["message"]


def test_an_encoder_writes_no_text(client: TestClient) -> None:
    answer = client.post("/v1/completions", json={"model": "tiny", "prompt": "a"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "model_not_supported")
    assert "model: expected one that writes text, got 'tiny'" in answer.json()["error"]["message"]
    assert client.get("/v1/models/tiny").json()["id"] == "tiny"


def test_more_texts_than_there_are_seats_are_sent_away(client: TestClient, served: ServedEncoder) -> None:
    with served.seats(30):
        answer = post(client, input=["a"] * 31)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert post(client, input=["a"] * 30).status_code == 200
    assert served.open == 0


def test_a_model_that_fails_is_an_error_with_an_id_and_the_next_request_works(
    client: TestClient, served: ServedEncoder, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fails(tokens: object) -> None:
        raise MemoryError("/secret/place")

    with monkeypatch.context() as patch:
        patch.setattr(served.model, "vectors", fails)
        answer = post(client)
    assert (answer.status_code, answer.json()["error"]["type"]) == (500, "server_error")
    assert answer.headers["x-request-id"] in answer.json()["error"]["message"]
    assert "secret" not in answer.text
    assert "/secret/place" in caplog.text
    assert post(client).status_code == 200


def test_vectors_that_are_no_numbers_are_an_error(
    client: TestClient, served: ServedEncoder, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(served.model, "vectors", lambda tokens: np.full((len(tokens), 32), np.nan, np.float32))
        answer = post(client)
    assert answer.status_code == 500
    assert "expected vectors of numbers, got NaN or infinity" in caplog.text


def test_a_client_that_leaves_is_not_encoded_for(served: ServedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its texts wait behind a call that takes long; when it has left, they are in no other one."""
    begun, go_on = Event(), Event()
    calls: list[int] = []
    vectors = served.model.vectors

    def slowly(tokens: Any) -> Any:
        calls.append(len(tokens))
        begun.set()
        assert go_on.wait(WAIT)
        return vectors(tokens)

    monkeypatch.setattr(served.model, "vectors", slowly)
    application = create_application([served], limits=LIMITS)
    answers: Queue[Any] = Queue()
    served.worker.submit([[1]], answers.put)
    assert begun.wait(WAIT)

    async def leave() -> None:
        body = json.dumps({"model": "tiny", "input": ["a", "b"]}).encode()
        messages = iter([{"type": "http.request", "body": body}])
        has_left = asyncio.Event()

        async def receive() -> Any:
            for message in messages:
                return message
            await has_left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            raise AssertionError(f"nobody is there for {message}")

        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/v1/embeddings", "headers": headers, "query_string": b""}
        request = asyncio.ensure_future(application(scope, receive, send))
        while served.worker.waiting < 2:
            await asyncio.sleep(0.001)
        has_left.set()
        await asyncio.wait_for(request, WAIT)

    asyncio.run(leave())
    assert (served.worker.waiting, served.open) == (0, 0)
    go_on.set()
    assert answers.get(timeout=WAIT).shape == (1, 32)
    assert calls == [1]


def test_metrics_count_texts_and_tokens(served: ServedEncoder) -> None:
    client = TestClient(create_application([served], limits=LIMITS))
    post(client, input=TEXTS)
    lines = client.get("/metrics").text.splitlines()
    assert 'kuiper_embedded_texts_total{model="tiny"} 3.0' in lines
    assert 'kuiper_prompt_tokens_total{model="tiny"} 25.0' in lines
