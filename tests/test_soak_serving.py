"""The soak of the server: a short one runs, and what leaks is seen."""

from __future__ import annotations

import sys

import pytest

from kuiper.graph.page_pool import PagePool
from tests import soak_serving
from tests.process_memory import C_LIBRARY

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(C_LIBRARY, "mallinfo2"), reason="the soak asks glibc what is in use"
)


def test_soak_engine_measures_and_counts() -> None:
    lines: list[str] = []
    samples, counts = soak_serving.soak_engine(400, 1, lines.append)
    assert (len(lines), len(samples)) == (soak_serving.SAMPLES, soak_serving.SAMPLES * 4 // 5)
    assert min(counts.values()) > 0
    figures = soak_serving.figures_of("engine", 400, samples, counts)
    assert figures["engine: requests"] == 400


def test_soak_engine_sees_a_page_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back, returned = PagePool.give_back, []

    def forgets_one(pool: PagePool, page: int) -> None:
        returned.append(page)
        if len(returned) != 50:
            give_back(pool, page)

    monkeypatch.setattr(PagePool, "give_back", forgets_one)
    with pytest.raises(soak_serving.LeakError, match="1 pages"):
        soak_serving.soak_engine(200, 1, lambda line: None)


def test_soak_http_runs() -> None:
    samples, counts = soak_serving.soak_http(80, 1, lambda line: None)
    assert len(samples) == soak_serving.SAMPLES * 4 // 5
    assert counts["tokens"] >= 80
