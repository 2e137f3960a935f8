"""How many texts of a model may be open at once: those that run, wait, or have an answer that is not yet sent."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kuiper.serving.http.api_error import too_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.serving.http.limits import Limits


class Seats:
    """What a model that is served is, too. Its seats belong to the thread of the event loop.

    Parameters
    ----------
    most : how many seats there are
    limits : of the server

    Examples
    --------
    >>> from kuiper.serving.http.limits import Limits
    >>> model = Seats(3, Limits())
    >>> with model.seats(2):
    ...     model.open
    2
    """

    def __init__(self, most: int, limits: Limits) -> None:
        self.open = 0
        """Texts that run, wait, or have an answer that is not yet sent."""
        self._most, self._retry_seconds = most, limits.retry_seconds

    @contextmanager
    def seats(self, count: int) -> Iterator[None]:
        """Room for so many texts, as long as the block runs.

        Raises
        ------
        ApiError
            If there is none: 429.
        """
        if self.open + count > self._most:
            raise too_many(self._most, "texts", self._retry_seconds)
        self.open += count
        try:
            yield
        finally:
            self.open -= count
