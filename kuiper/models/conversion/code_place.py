"""Where in a user's own code something happened."""

from __future__ import annotations

import sysconfig
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONVERSION = str(Path(__file__).parent)
_LIBRARIES = (str(Path(__file__).parents[2]), *{sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")})


def place_of(error: BaseException) -> str:
    """`` (net.py:12)``: the innermost line that is in no library, or nothing.

    >>> place_of(ValueError("never raised"))
    ''
    """
    place = _innermost(traceback.extract_tb(error.__traceback__))
    return f" ({place})" if place else ""


def warned_place() -> str:
    """``net.py:12`` if the line that calls torch just now is the user's own, else nothing."""
    between = (_CONVERSION, warnings.__file__)  # what stands between that line and this one
    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(between)]
    return _innermost(frames[-1:])


def _innermost(frames: Iterable[traceback.FrameSummary]) -> str:
    own = [frame for frame in frames if not frame.filename.startswith((*_LIBRARIES, "<"))]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
