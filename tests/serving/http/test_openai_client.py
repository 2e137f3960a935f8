"""OpenAI's own client, and its classes of errors, on a running server."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving.http.test_server import KEY, address, client_of, key_file

if TYPE_CHECKING:
    from collections.abc import Iterator

openai = pytest.importorskip("openai")  # in the extra "dev"
__all__ = ["address", "key_file"]  # fixtures

ROMEO = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": 20, "seed": 1}


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    client_of(address).close()  # which waits for the server
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
