"""The body of a request, of a bounded size and within a bounded time; and whether its sender is still there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anyio

from kuiper.bounded_file import parse_json
from kuiper.serving.http.api_error import ApiError, ClientGoneError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from kuiper.serving.http.limits import Limits

    Receive = Callable[[], Awaitable[Any]]


async def read_json(scope: Any, receive: Receive, limits: Limits) -> Any:
    """The value that a request has in its body.

    Raises
    ------
    ApiError
        If it does not say that it is JSON (a page in a browser, from elsewhere, cannot say so without being asked), is
        none, is too large or comes too slowly.
    ClientGoneError
        If the client leaves.
    """
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        got = kind.decode("ascii", "replace")[:80]
        raise ApiError(415, f"content-type: expected application/json, got {got!r}", param="content-type")
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length[:20]) > limits.body_bytes:
        raise _too_large(limits)
    try:
        with anyio.fail_after(limits.body_seconds):
            data = await _read(receive, limits)
    except TimeoutError:
        message = f"body: expected all of it within {limits.body_seconds:g} s, got less"
        raise ApiError(408, message, headers={"Connection": "close"}) from None
    try:
        return parse_json(data)
    except ValueError as error:
        raise ApiError(400, f"body: expected JSON, got {str(error)[:200]}") from error


async def _read(receive: Receive, limits: Limits) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > limits.body_bytes:
            raise _too_large(limits)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _too_large(limits: Limits) -> ApiError:
    message = f"body: expected at most {limits.body_bytes} bytes, got more"
    return ApiError(413, message, headers={"Connection": "close"})


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Do some work, but give it up when the client leaves; the body must have been read.

    Raises
    ------
    ClientGoneError
        If the client leaves.
    """
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGoneError
        working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
