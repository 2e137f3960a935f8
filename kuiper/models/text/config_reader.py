"""The entries of a ``config.json`` of Hugging Face's, each checked when it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError, UnsupportedOperatorError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 1 << 24
"""The largest size that a configuration may name; a vocabulary is the largest of them."""


@dataclass(frozen=True)
class ConfigReader:
    """Reads sizes, numbers and choices.

    Parameters
    ----------
    config : the contents of a ``config.json``
    where : what messages call it

    Examples
    --------
    >>> reader = ConfigReader({"hidden_size": 64})
    >>> reader.size("hidden_size"), reader.size("intermediate_size", 256)
    (64, 256)
    """

    config: Mapping[str, Any]
    where: str = "config.json"

    def size(self, key: str, default: int | None = None) -> int:
        """An integer of at least 1; one that is null, or is not there, is the default.

        Raises
        ------
        ModelFormatError
            If it is something else, or is not there and has no default.
        """
        value = self.config.get(key)
        value = default if value is None else value
        if type(value) is not int or not 0 < value <= LARGEST:
            raise ModelFormatError(self.where, f"{key} as an integer of 1 to {LARGEST}", repr(value))
        return value

    def number(self, key: str, default: float) -> float:
        """A number above 0.

        Raises
        ------
        ModelFormatError
            If it is something else.
        """
        value = self.config.get(key, default)
        if type(value) not in (int, float) or not 0 < value < 1e12:
            raise ModelFormatError(self.where, f"{key} as a number above 0", repr(value))
        return float(value)

    def choice(self, key: str, supported: tuple[Any, ...]) -> Any:
        """One of these values; the first one if there is none.

        Raises
        ------
        UnsupportedOperatorError
            If it is another one.
        """
        value = self.config.get(key, supported[0])
        if value not in supported:
            names = " or ".join(repr(entry) for entry in supported)
            raise UnsupportedOperatorError(self.where, f"{key} {names}", repr(value))
        return value

    def parts(self, whole: str, parts: str) -> tuple[int, int]:
        """Two sizes of which the second divides the first.

        Raises
        ------
        ModelFormatError
            If it does not, or one of them is no size.
        """
        sizes = self.size(whole), self.size(parts)
        if sizes[0] % sizes[1]:
            raise ModelFormatError(self.where, f"{whole} as a multiple of {parts}", f"{sizes[0]} and {sizes[1]}")
        return sizes
