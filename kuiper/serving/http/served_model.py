"""What all models of a server have: a name, and seats for those who ask them."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kuiper.serving.http.api_error import too_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.serving.http.limits import Limits


class ServedModel:
    """A model that is served. Its seats belong to the thread of the event loop.

    Parameters
    ----------
    name : what clients call it
    limits : of the server
    most : how many seats there are
    what : what takes a seat

    Examples
    --------
    >>> from kuiper.serving.http.limits import Limits
    >>> model = ServedModel("tang", Limits(), most=3)
    >>> with model.seats(2):
    ...     model.open
    2
    """

    def __init__(self, name: str, limits: Limits, *, most: int, what: str = "texts") -> None:
        self.name = name
        self.created = int(time.time())
        self.open = 0
        """Seats that are taken: by what runs, waits, or has an answer that is not yet sent."""
        self._limits, self._most, self._what = limits, most, what

    @contextmanager
    def seats(self, count: int) -> Iterator[None]:
        """Room for so many, as long as the block runs.

        Raises
        ------
        ApiError
            If there is none: 429.
        """
        if self.open + count > self._most:
            raise too_many(self._most, self._what, self._limits.retry_seconds)
        self.open += count
        try:
            yield
        finally:
            self.open -= count

    def described(self) -> dict[str, Any]:
        """The model as ``/v1/models`` has it."""
        return {"id": self.name, "object": "model", "created": self.created, "owned_by": "kuiper"}
