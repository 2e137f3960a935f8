"""Sweeps over all exported cases, of which ``make test`` takes a part and ``make thorough`` the rest.

What a sweep asks of each case, other tests ask of what is special: these and the part find most mistakes.
CI runs all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERY = 4


def swept(names: Sequence[str]) -> list[Any]:
    """The names as parameters of a test; those that are left to ``make thorough`` have its mark."""
    return [pytest.param(name, marks=[pytest.mark.thorough] if i % EVERY else []) for i, name in enumerate(names)]
