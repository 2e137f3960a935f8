"""The server on a local cluster of Ray's, with two replicas, each a process of its own."""

from __future__ import annotations

import os
import socket
import string
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import ray
from openai import OpenAI
from ray import serve

from kuiper.models import bundled, bundled_photo
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler
from kuiper.serving.ray import app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT = 60.0
ROMEO = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": 20, "seed": 1}


@contextmanager
def served() -> Iterator[str]:
    """Where two replicas of the application are."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it would report to its makers
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    arguments = {"models": "shakespeare,cifar_resnet20", "replicas": "2", "memory": "16M"}
    serve.run(app(arguments), name="kuiper", route_prefix="/")
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        ray.shutdown()


def client_of(place: str) -> httpx.Client:
    return httpx.Client(base_url=place, timeout=WAIT, trust_env=False)


def counts(client: httpx.Client, name: str) -> dict[str, float]:
    """A number of /metrics of each replica."""
    found: dict[str, float] = {}
    until = time.monotonic() + WAIT
    while len(found) < 2:
        assert time.monotonic() < until, f"{len(found)} replicas answer"
        lines = client.get("/metrics").text.splitlines()
        (replica,) = [line for line in lines if line.startswith("kuiper_server_info{")]
        found[replica] = sum(float(line.split()[-1]) for line in lines if line.startswith(f"kuiper_{name}"))
    return found


def answers_as_one_process_does(place: str) -> None:
    model = language_model.load(bundled("shakespeare"))
    with client_of(place) as client:
        found = client.post("/v1/completions", json=ROMEO).json()
        assert [one["id"] for one in client.get("/v1/models").json()["data"]] == ["shakespeare", "cifar_resnet20"]
        assert client.get("/v2/health/ready").status_code == 200
        photo = {"content": bundled_photo().read_bytes(), "headers": {"content-type": "image/jpeg"}}
        assert client.post("/v1/classify?top=1", **photo).json()["labels"][0]["label"] == "cat"
        assert client.post("/v1/completions", json={**ROMEO, "n": 99}).status_code == 400
        assert client.get("/v2/models/gpt").json()["error"].startswith("model: expected one of")
    prompt = model.vocabulary.encode("ROMEO:")
    assert found["choices"][0]["text"] == "".join(Generation(model, prompt, Sampler(seed=1), max_tokens=20))


def streams(place: str) -> None:
    with OpenAI(base_url=f"{place}/v1", api_key="none", max_retries=0) as client:
        parts = [part.choices[0].text for part in client.completions.create(**ROMEO, stream=True)]
        assert "".join(parts) == client.completions.create(**ROMEO).choices[0].text
    assert len(parts) > 5


def sends_one_beginning_to_one_replica(place: str) -> None:
    with client_of(place) as client:
        before = counts(client, "prompt_tokens_total")
        for _ in range(6):
            assert client.post("/v1/completions", json={**ROMEO, "prompt": "JULIET:" * 10}).status_code == 200
        after = counts(client, "prompt_tokens_total")
        assert sorted(after[one] - before[one] for one in after) == [0, 420]
        for letter in string.ascii_uppercase:
            asked = {**ROMEO, "prompt": f"{letter}: ", "max_tokens": 1}
            assert client.post("/v1/completions", json=asked).status_code == 200
        last = counts(client, "prompt_tokens_total")
        assert all(last[one] > after[one] for one in last), "both work"


def forgets_a_client_that_leaves(place: str) -> None:
    asked = {**ROMEO, "max_tokens": 249, "n": 8, "stream": True}
    with client_of(place) as client:
        with client.stream("POST", "/v1/completions", json=asked) as answer:
            next(answer.iter_lines())
        until = time.monotonic() + WAIT
        while any(counts(client, "pages_in_use").values()):
            assert time.monotonic() < until
        cancelled = counts(client, 'texts_total{end="cancelled",model="shakespeare"}')
    assert any(cancelled.values()), cancelled


CHECKS: dict[str, Callable[[str], Any]] = {
    f"Ray Serve {check.__name__.replace('_', ' ')}": check
    for check in (
        answers_as_one_process_does,
        streams,
        sends_one_beginning_to_one_replica,
        forgets_a_client_that_leaves,
    )
}
