"""What a client is told when something is wrong: a status, and the object that OpenAI's API answers with."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

from kuiper.serving.http.json_response import json_response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.errors import KuiperError

INVALID, SERVER = "invalid_request_error", "server_error"
OPEN_INFERENCE = "/v2"
"""How paths of the Open Inference Protocol begin."""


class ClientGoneError(Exception):
    """The client has closed its connection, or takes nothing of its answer."""


class ApiError(Exception):
    """An answer with a status from 400 on. It says nothing of files, and nothing of code.

    Parameters
    ----------
    status : of HTTP
    message : for the reader
    kind : OpenAI's ``type``
    param : the field that is wrong
    code : OpenAI's ``code``
    headers : of the answer

    Examples
    --------
    >>> ApiError(404, "model: expected one of tang, got 'x'", param="model").body()["error"]["param"]
    'model'
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = INVALID,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.param, self.code = status, kind, param, code
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The object of an answer."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.code}}

    def response(self, path: str) -> Any:
        """The answer to a request for this path: the Open Inference Protocol has a form of its own."""
        body = {"error": str(self)} if path.startswith(OPEN_INFERENCE) else self.body()
        return json_response(body, self.status, self.headers)


def wrong_field(name: str, expected: str, got: object, *, code: str | None = None) -> ApiError:
    """A field that is not as it must be.

    >>> str(wrong_field("n", "a whole number from 1 to 16", "three"))
    "n: expected a whole number from 1 to 16, got 'three'"
    """
    return ApiError(400, f"{name}: expected {expected}, got {reprlib.repr(got)}", param=name, code=code)


def of_kuiper(error: KuiperError, name: str) -> ApiError:
    """What the field ``name`` has provoked, without the place, which may be a file."""
    hint = f"; {error.hint}" if error.hint else ""
    return ApiError(400, f"{name}: expected {error.expected}, got {str(error.got)[:500]}{hint}", param=name)


def too_many(most: int, what: str, seconds: int) -> ApiError:
    """There is no room, but there may be in so many seconds."""
    message = f"server: expected at most {most} {what} of a model at once, got more; try again"
    headers = {"Retry-After": str(seconds)}
    return ApiError(429, message, kind="rate_limit_error", code="rate_limit_exceeded", headers=headers)


def internal(identity: str) -> ApiError:
    """A mistake of the server's; its log has the rest under this id."""
    message = f"server: expected an answer, got an error; the log of the server has it under {identity}"
    return ApiError(500, message, kind=SERVER, code="internal_error")
