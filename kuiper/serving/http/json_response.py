"""JSON as an answer: of ASCII, so that half of a character from a client cannot break it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Mapping


def json_bytes(content: object) -> bytes:
    """A value in one line of JSON.

    >>> json_bytes({"a": "\\ud800"})
    b'{"a":"\\\\ud800"}'
    """
    return json.dumps(content, separators=(",", ":")).encode("ascii")


def json_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Any:
    """An answer with JSON in it."""
    return Response(json_bytes(content), status, dict(headers or {}), media_type="application/json")
