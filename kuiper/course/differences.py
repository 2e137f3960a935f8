"""One measure of how far an answer is from the reference's, for ``kuiper race`` and for ``kuiper explore --mine``.

The error is the largest difference, divided by the largest number of the reference. Whether an output agrees is more
than its error: another shape or dtype is a difference, too, even where the numbers are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE = 1e-4


@dataclass(frozen=True)
class Difference:
    """How the outputs of an operator differ from the reference's.

    ``error`` is the largest of them, infinite for NaN and for another shape; ``worst`` is the output that has it.
    ``form`` says in words where a shape or a dtype is another one.
    """

    error: float = 0.0
    worst: int = 0
    form: str = ""

    @property
    def agrees(self) -> bool:
        """Whether nothing differs but the last digits."""
        return self.error <= TOLERANCE and not self.form


def difference(got: Sequence[Any], wanted: Sequence[Any]) -> Difference:
    """Compare all outputs of an operator.

    Parameters
    ----------
    got, wanted : as many arrays each, in the same order

    >>> difference([np.float32([1, 2])], [np.float32([1, 4])])
    Difference(error=0.5, worst=0, form='')
    >>> difference([np.float64([1, 2])], [np.float32([1, 2])]).form
    'float64 where float32 is expected'
    """
    pairs = list(zip(got, wanted, strict=True))
    errors = [relative_error(a, b) for a, b in pairs]
    worst = max(range(len(errors)), key=errors.__getitem__, default=0)
    form = next(filter(None, (_other_form(a, b) for a, b in pairs)), "")
    return Difference(errors[worst] if errors else 0.0, worst, form)


def relative_error(got: Any, wanted: Any) -> float:
    """The largest difference by the largest number of the reference; infinite where shapes differ, and for NaN.

    >>> relative_error([1, 2], [1, 4]), relative_error([1, float("nan")], [1, 4])
    (0.5, inf)
    """
    a, b = np.asarray(got), np.asarray(wanted)
    if a.shape != b.shape:
        return float("inf")
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    with np.errstate(invalid="ignore"):
        error = float(np.abs(a.astype(np.float64) - b).max(initial=0.0)) / scale
    return error if error == error else float("inf")


def _other_form(got: Any, wanted: Any) -> str:
    """How an output differs from the reference's in shape or dtype, which the next layer may refuse; or ""."""
    a, b = np.asarray(got), np.asarray(wanted)
    if a.shape != b.shape:
        return phrase("shape {got} where {expected} is expected", got=a.shape, expected=b.shape)
    if a.dtype == b.dtype:
        return ""
    return phrase("{got} where {expected} is expected", got=str(a.dtype), expected=str(b.dtype))
