"""For each test a server, a cache of its own, and no network beyond this machine."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.models.fetching.network import Server, cut_off

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cut_off(monkeypatch)
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(random.Random(0).randbytes(5000)) as server:
        yield server
