"""The fields of a JSON object, each with its type and its range."""

from __future__ import annotations

import reprlib
from typing import Any

from kuiper.serving.http.api_error import ApiError, wrong_field


class Fields:
    """Takes one field after the other out of an object; null is a field that is not there.

    Parameters
    ----------
    body : what a client has sent

    Raises
    ------
    ApiError
        If it is no object; each method raises one if its field is not as it must be.

    Examples
    --------
    >>> fields = Fields({"n": 2, "seed": None})
    >>> fields.whole("n", 1, 1, 16), fields.whole("seed", None, 0, 10), fields.left()
    (2, None, [])
    """

    def __init__(self, body: object) -> None:
        if not isinstance(body, dict):
            raise ApiError(400, f"body: expected a JSON object, got {reprlib.repr(body)}")
        self._fields: dict[str, Any] = {name: value for name, value in body.items() if value is not None}

    def take(self, name: str) -> Any:
        """The value of a field, of any type, or None."""
        return self._fields.pop(name, None)

    def left(self) -> list[str]:
        """The names of those that nobody has taken."""
        return sorted(self._fields)

    def text(self, name: str) -> str:
        """A text, which must be there."""
        value = self.take(name)
        if not isinstance(value, str):
            raise wrong_field(name, "a text", value)
        return value

    def whole(self, name: str, default: int | None, least: int, most: int) -> int | None:
        """A whole number from ``least`` to ``most``."""
        value = self.take(name)
        if value is None:
            return default
        if type(value) is not int or not least <= value <= most:
            raise wrong_field(name, f"a whole number from {least} to {most}", value)
        return value

    def number(self, name: str, default: float, least: float, most: float, *, above: bool = False) -> float:
        """A number from ``least`` to ``most``, or ``above`` the least."""
        value = self.take(name)
        if value is None:
            return default
        is_number = type(value) in (int, float) and least <= value <= most
        if not is_number or (above and value == least):
            raise wrong_field(name, f"a number {'above' if above else 'from'} {least:g} to {most:g}", value)
        return float(value)

    def switch(self, name: str) -> bool:
        """True or false; false if it is not there."""
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise wrong_field(name, "true or false", value)
        return bool(value)

    def texts(self, name: str, most: int, longest: int) -> list[str]:
        """A text or a list of them, none of them empty."""
        value = self.take(name)
        values = [value] if isinstance(value, str) else [] if value is None else value
        is_right = isinstance(values, list) and len(values) <= most
        if not is_right or not all(isinstance(one, str) and 0 < len(one) <= longest for one in values):
            raise wrong_field(name, f"at most {most} texts of 1 to {longest} characters", value)
        return list(values)
