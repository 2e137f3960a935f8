"""The steps of a model as they happen, as server-sent events: what the page at ``/`` draws.

    GET /v1/kuiper/steps?model=NAME

    data: {"totals": {"steps", "prompt", "tokens", "found"},      since the server began
           "running", "waiting", "pages",                         now
           "steps": [{"number", "seconds", "prompt", "drawn", "guessed", "right", "running", "waiting", "pages"}]}

An event has the steps since the last one, at most ``MOST``, the last of them. Where nothing happens, none is sent.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from kuiper.serving.http.api_error import ApiError
from kuiper.serving.http.body import unless_gone
from kuiper.serving.http.json_response import json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.serving.http.served import Served

MOST = 48
"""Steps of an event."""
WATCHERS = 32
"""How many can watch at once."""

_PAUSE = 0.05  # seconds between two events
_STILL = 5.0  # seconds without an event until a comment shows whether the client is still there
_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


class StepRoute:
    """An ASGI application that tells the steps of a model until the client, or the server, goes away.

    Parameters
    ----------
    find : the model of a name
    """

    def __init__(self, find: Callable[[str], Served]) -> None:
        self._find, self._watchers = find, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        names = parse_qs(scope["query_string"].decode("latin-1")).get("model", [""])
        served = self._find(names[0])
        if self._watchers >= WATCHERS:
            message = f"server: expected at most {WATCHERS} who watch its steps, got more; try again"
            raise ApiError(429, message, kind="rate_limit_error", headers={"Retry-After": "1"})
        self._watchers += 1
        try:
            await unless_gone(receive, _tell(served, scope["app"], send))
        finally:
            self._watchers -= 1


async def _tell(served: Served, application: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    seen, before, said = 0, None, monotonic()
    while not is_leaving(application):
        steps = served.worker.engine.log.since(seen)[-MOST:]
        now = state_of(served)
        if now != before:
            before, said = now, monotonic()
            seen = steps[-1].number if steps else seen
            content = {**now, "steps": [step._asdict() for step in steps]}
            await _send(send, b"data: " + json_bytes(content) + b"\n\n")
        elif monotonic() - said > _STILL:
            said = monotonic()
            await _send(send, b": still here\n\n")
        await asyncio.sleep(_PAUSE)
    await send({"type": "http.response.body", "body": b""})


def state_of(served: Served) -> dict[str, Any]:
    """What an event says but for the steps."""
    engine = served.worker.engine
    log = engine.log
    totals = {"steps": log.steps, "prompt": log.prompt, "tokens": log.tokens, "found": engine.found}
    return {
        "totals": totals,
        "running": engine.running,
        "waiting": engine.waiting,
        "pages": engine.batch.pool.in_use,
    }


def is_leaving(application: Any) -> bool:
    """Whether the server finishes what runs and takes nothing new; a stream without an end has to end then."""
    found: Callable[[], bool] | None = getattr(application.state, "is_leaving", None)
    return found is not None and found()


async def _send(send: Any, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
