"""The field ``response_format``: text, any JSON object, or JSON that holds to a schema."""

from __future__ import annotations

from typing import Any

from kuiper.serving.http.api_error import wrong_field

_NAME = "response_format"
_LONGEST_NAME = 64


def read_schema(given: object) -> dict[str, Any] | None:
    """The schema that an answer must hold to; None for text.

    >>> read_schema({"type": "json_object"})
    {'type': 'object'}

    Raises
    ------
    ApiError
        If the field is not as it must be.
    """
    if given is None:
        return None
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(given, dict) or kind not in ("text", "json_object", "json_schema"):
        raise wrong_field(_NAME, "an object with the type text, json_object or json_schema", given)
    if set(given) - {"type", "json_schema"} or ("json_schema" in given and kind != "json_schema"):
        raise wrong_field(_NAME, f"the fields of {kind}", sorted(map(str, given)))
    if kind == "json_schema":
        return _of_schema(given.get("json_schema"))
    return {"type": "object"} if kind == "json_object" else None


def _of_schema(given: object) -> dict[str, Any]:
    """The schema of ``{"name", "schema", "strict", "description"}``; answers hold to it, strict or not."""
    if not isinstance(given, dict) or not isinstance(given.get("schema"), dict):
        raise wrong_field(_NAME, "json_schema to be an object with a name and a schema", given)
    name = given.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        raise wrong_field(_NAME, f"json_schema to have a name of 1 to {_LONGEST_NAME} characters", name)
    if not (given.get("strict") is None or isinstance(given["strict"], bool)):
        raise wrong_field(_NAME, "strict to be true or false", given["strict"])
    if set(given) - {"name", "schema", "strict", "description"}:
        raise wrong_field(_NAME, "json_schema to have no other fields", sorted(map(str, given)))
    schema: dict[str, Any] = given["schema"]
    return schema
