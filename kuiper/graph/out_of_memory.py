"""The one form in which a graph says that memory has run out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kuiper.errors import OutOfMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator


def out_of_memory(where: str, error: MemoryError, hint: str = "") -> OutOfMemoryError:
    """The error that names the place.

    >>> str(out_of_memory("nn.Conv2d 'c'", MemoryError("cannot have 3 GiB")))
    "nn.Conv2d 'c': expected enough memory, got MemoryError: cannot have 3 GiB"
    """
    return OutOfMemoryError(where, "enough memory", f"MemoryError: {error}" if str(error) else "MemoryError", hint)


@contextmanager
def naming_the_place(where: str) -> Iterator[None]:
    """Within this block a MemoryError gets the name of the place."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise out_of_memory(where, error) from error
