"""The program ``kuiper serve`` as a process of its own: real sockets, clients that mean harm, signals."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.cli import main
from tests.serving.http.servers import KEY, WAIT, address, client_of, key_file, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

__all__ = ["address", "key_file"]  # fixtures

ROMEO = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": 20, "seed": 1}
LONG = {**ROMEO, "max_tokens": 249, "stream": True}
posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM is not to be had there")


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with closing(client_of(address)) as client:
        yield client


def gauge(client: httpx.Client, name: str) -> float:
    """A number of /metrics."""
    (line,) = [line for line in client.get("/metrics").text.splitlines() if line.startswith(f"kuiper_{name}{{")]
    return float(line.split()[-1])


def ended(client: httpx.Client) -> dict[str, float]:
    """How many texts have ended, by why."""
    lines = re.findall(r'^kuiper_texts_total{end="(\w+)",.*} (.*)$', client.get("/metrics").text, re.MULTILINE)
    return {end: float(count) for end, count in lines}


def until_idle(client: httpx.Client) -> None:
    """Wait until no text has pages any more."""
    until = time.monotonic() + WAIT
    while gauge(client, "pages_in_use") or gauge(client, "running") or gauge(client, "waiting"):
        assert time.monotonic() < until
        time.sleep(0.01)


def connect(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=WAIT)


def head(path: str, *lines: str, key: str = KEY) -> bytes:
    words = [f"POST {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {key}", "Content-Type: application/json"]
    return "\r\n".join([*words, *lines, "", ""]).encode()


def works(client: httpx.Client) -> bool:
    return client.post("/v1/completions", json=ROMEO).status_code == 200


def test_a_client_that_goes_away_frees_its_pages(client: httpx.Client) -> None:
    before = ended(client)
    for _ in range(3):
        with client.stream("POST", "/v1/completions", json={**LONG, "n": 8}) as answer:
            next(answer.iter_lines())
    until_idle(client)
    until = time.monotonic() + WAIT
    # the worker counts a text at the step after it has lost its pages
    while sum((found := ended(client)).values()) < sum(before.values()) + 24:
        assert time.monotonic() < until
    assert found.get("cancelled", 0) - before.get("cancelled", 0) > 12  # where nobody notices, they all finish
    assert works(client)


def test_a_client_that_goes_away_without_a_stream_is_noticed(address: str, client: httpx.Client) -> None:
    body = json.dumps({**LONG, "stream": False, "n": 16}).encode()
    with connect(address) as raw:
        raw.sendall(head("/v1/completions", f"Content-Length: {len(body)}") + body)
        until = time.monotonic() + WAIT
        while not gauge(client, "running"):
            assert time.monotonic() < until
    until_idle(client)
    assert works(client)


def test_half_open_and_slow_clients_hold_nobody_up(address: str, client: httpx.Client) -> None:
    waiting = [connect(address) for _ in range(50)]
    for number, raw in enumerate(waiting):
        raw.sendall([b"", b"POST /v1/compl", head("/v1/completions", "Content-Length: 100"), b"\r\n"][number % 4])
    assert works(client)
    for raw in waiting:
        raw.close()
    assert works(client)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /nothing HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        head("/v1/completions", "Content-Length: 99999999999999999999999"),
        head("/v1/completions", "Transfer-Encoding: chunked") + b"zz\r\n",
        head("/v1/completions", "Content-Length: 9999999"),
        head("/v1/completions", "Content-Length: 2", key="wrong") + b"{}",
        head("/v1/completions", "Upgrade: websocket", "Connection: upgrade", "Content-Length: 2") + b"{}",
    ],
)
def test_what_is_no_request_is_refused(address: str, client: httpx.Client, data: bytes) -> None:
    with connect(address) as raw:
        raw.sendall(data)
        try:
            answer = raw.recv(1000)
        except ConnectionError:  # before it has read all
            answer = b""
    assert not answer or answer.split()[1][:1] == b"4"
    assert works(client)


@posix
def test_sigterm_finishes_what_runs_and_takes_nothing_new(key_file: Path) -> None:
    server, address = start(key_file)
    with (
        closing(client_of(address)) as client,
        client.stream("POST", "/v1/completions", json={**LONG, "n": 8}) as answer,
    ):
        lines = answer.iter_lines()
        next(lines)
        server.send_signal(signal.SIGTERM)
        until = time.monotonic() + WAIT
        while True:  # the port is closed while the stream goes on
            try:
                connect(address).close()
            except ConnectionError:
                break
            assert time.monotonic() < until
        rest = [line for line in lines if line]
    reasons = [choice["finish_reason"] for line in rest[:-1] for choice in parsed(line)["choices"]]
    assert [reason for reason in reasons if reason] == ["length"] * 8
    assert rest[-1] == "data: [DONE]"
    assert server.wait(WAIT) == 0
    assert server.stdout is not None
    server.stdout.close()


@posix
def test_sigterm_does_not_wait_for_those_who_watch(key_file: Path) -> None:
    server, address = start(key_file)
    with (
        closing(client_of(address)) as client,
        client.stream("GET", "/v1/kuiper/steps", params={"model": "shakespeare"}) as answer,
    ):
        lines = answer.iter_lines()
        assert parsed(next(lines))["totals"]["steps"] == 0
        server.send_signal(signal.SIGTERM)
        assert not [line for line in lines if line]
    assert server.wait(WAIT) == 0
    assert server.stdout is not None
    server.stdout.close()


def parsed(line: str) -> Any:
    return json.loads(line.removeprefix("data: "))


def test_a_taken_port_is_one_sentence(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    port = address.rpartition(":")[2]
    assert main(["serve", "shakespeare", "--port", port]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        f"kuiper serve: --host and --port: expected a free place on this machine, got 127.0.0.1:{port};"
    )
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "kuiper serve: model: expected a .param or an .onnx file, or one of "),
        (["tang", "tang"], "kuiper serve: MODEL: expected models with names of their own, got tang twice\n"),
        (["tang", "--port", "99999"], "kuiper serve: --host and --port: expected a free place on this machine"),
        (["tang", "--memory", "1"], "memory for one page"),
        (["tang", "--api-key-file", "nowhere"], "kuiper serve: nowhere: expected a file with an API key, got nothing"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", *words]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_page_bits_make_pages_smaller(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = []
    for bits in ("32", "8"):
        assert main(["serve", "--port", "0", "tang", "--memory", "1", "--page-bits", bits]) == 1
        found = re.search(r"one page, which is ([0-9,]+) bytes", capsys.readouterr().err)
        assert found
        sizes.append(int(found[1].replace(",", "")))
    assert sizes[0] / 4 < sizes[1] < sizes[0] / 3


def test_an_api_key_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", "two words", "two\nlines", "é"):
        (tmp_path / "key").write_text(text, encoding="utf-8")
        assert main(["serve", "tang", "--port", "0", "--api-key-file", str(tmp_path / "key")]) == 1
        assert "expected an API key: one line" in capsys.readouterr().err
