"""Clients that take their time: each is given up, and what it held is free."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from kuiper.serving.http.api_error import ClientGoneError
from kuiper.serving.http.application import create_application
from kuiper.serving.http.body import unless_gone
from kuiper.serving.http.guard import Guard
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.server import config_of, open_socket

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT = 60.0
LIMITS = Limits(head_seconds=0.1, body_seconds=0.1, send_seconds=0.1)


@pytest.fixture(scope="module")
def place() -> Iterator[Any]:
    """Where a server without models is, which waits for nobody."""
    found = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(config_of(create_application([], limits=LIMITS), LIMITS))
    thread = Thread(target=server.run, kwargs={"sockets": [found]})
    address = found.getsockname()
    thread.start()
    while not server.started:
        assert thread.is_alive()
    yield address
    server.should_exit = True
    thread.join(WAIT)
    assert not thread.is_alive()


def everything(raw: socket.socket) -> bytes:
    """What a server says until it closes the connection."""
    found = b""
    while data := raw.recv(10_000):
        found += data
    return found


@pytest.mark.parametrize("data", [b"", b"G", b"GET /v1/mod", b"GET /v1/models HTTP/1.1\r\nHost: x\r\nA: "])
def test_a_head_that_does_not_come_ends_the_connection(place: Any, data: bytes) -> None:
    with socket.create_connection(place, timeout=WAIT) as raw:
        raw.sendall(data)
        with suppress(ConnectionResetError):
            assert everything(raw) == b""


def test_a_body_that_does_not_come_is_answered_and_ends_the_connection(place: Any) -> None:
    lines = ["POST /v1/completions HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 9", "", "{"]
    with socket.create_connection(place, timeout=WAIT) as raw:
        raw.sendall("\r\n".join(lines).encode())
        assert everything(raw).startswith(b"HTTP/1.1 408 ")


def test_a_connection_may_have_several_requests(place: Any) -> None:
    request = b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(place, timeout=WAIT) as raw:
        for _ in range(3):
            raw.sendall(request)
            answer = b""
            while not answer.endswith(b"{}"):
                answer += raw.recv(1000)
            assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_client_that_takes_nothing_is_given_up() -> None:
    seen: list[BaseException] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        except asyncio.CancelledError as error:
            seen.append(error)
            raise

    async def never(message: Any) -> None:
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(Guard(application, LIMITS, None)(scope, never, never))
    assert len(seen) == 1


def test_work_for_a_client_that_has_left_is_cancelled() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    async def receive() -> dict[str, str]:
        await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    with pytest.raises(ClientGoneError):
        asyncio.run(unless_gone(receive, work()))
    assert ended == ["work"]
