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
    kind = content_type(scope)
    if kind != "application/json":
        raise ApiError(415, f"content-type: expected application/json, got {kind[:80]!r}", param="content-type")
    return json_value(await read_bytes(scope, receive, limits, limits.body_bytes))


def content_type(scope: Any) -> str:
    """What a request says that its body is, without parameters; "" if it does not say."""
    kind: bytes = dict(scope["headers"]).get(b"content-type", b"")
    return kind.partition(b";")[0].strip().lower().decode("ascii", "replace")


def json_value(data: bytes) -> Any:
    """The value of JSON.

    Raises
    ------
    ApiError
        If it is none.
    """
    try:
        return parse_json(data)
    except ValueError as error:
        raise ApiError(400, f"body: expected JSON, got {str(error)[:200]}") from error


def announced_bytes(scope: Any, most: int) -> int:
    """How many bytes a body has by its header, or the most that it can have if it does not say.

    Raises
    ------
    ApiError
        If they are more than ``most``.
    """
    length = dict(scope["headers"]).get(b"content-length", b"")
    if not length.isdigit():
        return most
    if int(length[:20]) > most:
        raise _too_large(most)
    return int(length)


async def read_bytes(scope: Any, receive: Receive, limits: Limits, most: int) -> bytes:
    """The body of a request.

    Raises
    ------
    ApiError
        If it has more than ``most`` bytes, or comes too slowly.
    ClientGoneError
        If the client leaves.
    """
    announced_bytes(scope, most)
    try:
        with anyio.fail_after(limits.body_seconds):
            return await _read(receive, most)
    except TimeoutError:
        message = f"body: expected all of it within {limits.body_seconds:g} s, got less"
        raise ApiError(408, message, headers={"Connection": "close"}) from None


async def _read(receive: Receive, most: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _too_large(most: int) -> ApiError:
    message = f"body: expected at most {most} bytes, got more"
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
