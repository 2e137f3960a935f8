"""What the figures were measured on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import machine
from kuiper.machine.caches import Cache

if TYPE_CHECKING:
    import pytest


def test_cache_sizes_are_those_of_data_by_level(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = [Cache(1, "Instruction", 64, 64), Cache(1, "Data", 32, 32), Cache(2, "Unified", 1024, 256)]
    monkeypatch.setattr(machine, "caches_of", {"cpu0": caches}.__getitem__)
    assert machine.cache_sizes() == {"L1": 32, "L2": 1024}
