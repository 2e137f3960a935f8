"""What stands in front of all routes: an id for each request, the key, the log, and one form for all errors."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kuiper.serving.http.api_error import ApiError, ClientGoneError, internal

if TYPE_CHECKING:
    from kuiper.serving.http.limits import Limits

LOG = logging.getLogger("kuiper.serving.http")
OPEN = ("/", "/v2/health/live", "/v2/health/ready")
"""Paths that need no key: the page, which asks its reader for one, and what a balancer asks."""

_GONE = 499  # what logs say of a client that has left; it gets no answer


class Guard:
    """An ASGI application around another one.

    Parameters
    ----------
    app : the other one
    limits : of the server
    api_key : what clients must say as ``Authorization: Bearer KEY``; None lets everybody in
    """

    def __init__(self, app: Any, limits: Limits, api_key: str | None) -> None:
        self._app, self._limits = app, limits
        self._key = None if api_key is None else api_key.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = secrets.token_hex(8)
        scope["kuiper.id"] = identity
        started, answer = perf_counter(), _Answer(send, self._limits.send_seconds, identity)
        try:
            self._check_key(scope)
            await self._app(scope, receive, answer.send)
        except ClientGoneError:
            answer.status = answer.status or _GONE
        except asyncio.CancelledError:
            if not answer.is_given_up:
                raise
            answer.status = answer.status or _GONE
        except ApiError as error:
            await self._say(error, scope, receive, answer)
        except Exception:
            LOG.exception(json.dumps({"id": identity, "error": "a request has failed"}))
            await self._say(internal(identity), scope, receive, answer)
        finally:
            answer.end()
            milliseconds = round((perf_counter() - started) * 1e3, 1)
            words = {"id": identity, "method": scope["method"], "path": scope["path"][:200]}
            LOG.info(json.dumps({**words, "status": answer.status or _GONE, "ms": milliseconds}))

    def _check_key(self, scope: Any) -> None:
        if self._key is None or scope["path"] in OPEN:
            return
        word, _, key = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        is_right = hmac.compare_digest(key.strip(), self._key)  # in a time that tells nothing of the key
        if word.lower() != b"bearer" or not is_right:
            message = "authorization: expected the server's API key, got another one or none"
            headers = {"WWW-Authenticate": "Bearer"}
            raise ApiError(401, message, code="invalid_api_key", headers=headers)

    async def _say(self, error: ApiError, scope: Any, receive: Any, answer: _Answer) -> None:
        if answer.status:  # too late to say it otherwise: the connection breaks
            raise error
        try:
            await error.response(scope["path"])(scope, receive, answer.send)
        except ClientGoneError:
            pass
        except asyncio.CancelledError:
            if not answer.is_given_up:
                raise


class _Answer:
    """Sends an answer, and gives up on a client that takes none of it: then the request's task is cancelled.

    A clock for each piece of an answer would cost as much as sending it: so there is one, which looks when the piece
    that is on its way was begun.
    """

    def __init__(self, send: Any, seconds: float, identity: str) -> None:
        self.status = 0
        self.is_given_up = False
        self._send, self._seconds, self._identity = send, seconds, identity
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._began: float | None = None  # with the piece that is on its way
        self._clock = self._loop.call_later(seconds, self._look)

    def end(self) -> None:
        """Nothing more is sent."""
        self._clock.cancel()

    def _look(self) -> None:
        due = self._seconds + (self._loop.time() if self._began is None else self._began)
        if due > self._loop.time():
            self._clock = self._loop.call_at(due, self._look)
        elif self._task is not None:
            self.is_given_up = True
            self._task.cancel()

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", self._identity.encode())]
            message = {**message, "headers": headers}
        self._began = self._loop.time()
        try:
            await self._send(message)
        except OSError as error:
            raise ClientGoneError from error
        finally:
            self._began = None
