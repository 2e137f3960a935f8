"""What all tests of the page need."""

from __future__ import annotations

import math

import pytest

from kuiper.explore import seen, timing


@pytest.fixture(autouse=True)
def _one_run_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "SECONDS", 0.0)
    monkeypatch.setattr(seen, "SLOW", math.inf)  # however busy the machine is
