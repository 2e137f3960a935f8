"""What runs on a slower way than it should, why, and how that is told.

A graph that its engine refuses is run by its layers, and a graph whose passes fail is run as it stands in the file. The
answer is the same, but takes many times as long. Some refusals are right, for example of an empty input: ``plan`` shows
the reason. The others are mistakes of kuiper's, and the user is told:

    a FallbackWarning, once for a model   what failed, in which operator, and what runs instead
    KUIPER_STRICT=1                       the error itself, with its traceback

It counts as a mistake only once the slower way has led to an answer. If that fails as well, its error is raised, which
is the same with an engine and without.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from kuiper.errors import FallbackWarning, KuiperError
from kuiper.locks import open_in_children
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "KUIPER_STRICT"
"""The environment variable that lets mistakes of kuiper's be errors; empty and 0 do not."""

_MAX_CHARACTERS = 2000  # characters of a reason
_MAX_TEXTS = 8
_LAYERS = "the model runs on its layers, many times slower"


def is_strict() -> bool:
    """Whether a mistake of kuiper's is to be raised."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


@contextmanager
def noting(where: str) -> Iterator[None]:
    """Within this block, an error gets a note of where it was raised, which is shown with its traceback (PEP 678).

    >>> error = TypeError("no")
    >>> try:
    ...     with noting("nn.ReLU 'act'"):
    ...         raise error
    ... except TypeError:
    ...     print(Refusal.of(error).reason)
    nn.ReLU 'act': TypeError: no
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        note(error, where)
        raise


def note(error: Exception, where: str) -> None:
    """Give an error such a note, once."""
    notes = vars(error).setdefault("__notes__", [])
    if where not in notes:
        notes.append(where)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run, or a graph, is left to the slower way.

    ``is_mistake`` says that it is one of kuiper's if the slower way leads to an answer. ``error`` is there under
    KUIPER_STRICT only: it keeps the frames of its traceback, and so the caller's arrays, alive.
    """

    reason: str
    is_mistake: bool = False
    error: Exception | None = None

    @classmethod
    def of(cls, error: Exception) -> Refusal:
        """Because of an error that was not to be raised there."""
        where = vars(error).get("__notes__", ())
        reason = ": ".join([*reversed(where), text_of(error)])
        return cls(printable(reason[:_MAX_CHARACTERS]), True, error if is_strict() else None)


def text_of(error: BaseException) -> str:
    """What an error is and says.

    >>> text_of(ValueError("no")), text_of(ZeroDivisionError())
    ('ValueError: no', 'ZeroDivisionError')
    """
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class Fallbacks:
    """The mistakes because of which a model takes a slower way; the first one is told.

    Parameters
    ----------
    model : its name
    known : what has been told already, of the model that this one is a copy of
    """

    def __init__(self, model: str, known: str = "") -> None:
        self._model = model
        self._texts = [known] if known else []
        self._lock = Lock()
        open_in_children(self)

    @property
    def texts(self) -> tuple[str, ...]:
        """The first few of them, each with what runs instead."""
        with self._lock:
            return tuple(self._texts)

    def tell(self, refusal: Refusal, expected: str = "a plan", instead: str = _LAYERS) -> None:
        """Say that the slower way has led to an answer, after this refusal of the other one.

        Parameters
        ----------
        refusal : of the engine, or of the passes; of one that is no mistake there is nothing to tell
        expected : what there should have been
        instead : what runs

        Raises
        ------
        Exception
            Under KUIPER_STRICT the error that the mistake is.
        """
        if not refusal.is_mistake:
            return
        text = f"{refusal.reason}; {instead}"
        if refusal.error is not None:
            with noting(f"{self._model}: {text} ({VARIABLE} is set)"):
                raise refusal.error
        with self._lock:
            is_first = not self._texts
            if text not in self._texts and len(self._texts) < _MAX_TEXTS:
                self._texts.append(text)
        if is_first:
            hint = f"the model is not to blame: please report it ({VARIABLE}=1 raises the error)"
            message = str(KuiperError(self._model, expected, text, hint))
            warnings.warn(message, FallbackWarning, stacklevel=_users_level())


def _users_level() -> int:
    """The ``stacklevel`` of the line, from the caller on outwards, that has called kuiper."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "kuiper":
        level, frame = level + 1, frame.f_back
    return level
