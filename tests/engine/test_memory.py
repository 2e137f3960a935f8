"""Memory for weights and activations: where it begins, and that nobody else gets it."""

from __future__ import annotations

import gc
import mmap
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kuiper.engine.address import address
from kuiper.engine.memory import aligned, for_weights
from kuiper.pages import LARGE

PAGE_FLOATS = LARGE // 4
SIZES = [0, 1, 15, 16, 17, 1000, PAGE_FLOATS // 2, PAGE_FLOATS // 2 + 1, PAGE_FLOATS + 3, 3 * PAGE_FLOATS]


@pytest.mark.parametrize("take", [aligned, for_weights])
@pytest.mark.parametrize("floats", SIZES)
def test_memory_begins_with_a_cache_line_and_can_be_written(take: object, floats: int) -> None:
    assert callable(take)
    found = take(floats)
    assert (found.shape, found.dtype, address(found) % 64) == ((floats,), np.float32, 0)
    found[:] = 1
    assert found.sum() == floats


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="large pages are asked for on Linux")
def test_much_memory_begins_with_a_large_page() -> None:
    assert address(aligned(PAGE_FLOATS)) % LARGE == 0


def test_weights_of_several_layers_lie_side_by_side_and_apart() -> None:
    sizes = [5, 16, 40_000, 1, 2_000_000, 7, 3_000_000, 1_000_000] * 3
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(for_weights, sizes))
    for i, part in enumerate(parts):
        part[:] = i
    assert [float(part.min()) for part in parts] == [float(part.max()) for part in parts] == list(range(len(parts)))


def test_activations_are_given_back_while_weights_beside_them_live() -> None:
    weights, arena = for_weights(100), aligned(4 * PAGE_FLOATS)
    room = weakref.ref(np.asarray(arena.base))
    kept = for_weights(100)
    del arena
    gc.collect()
    assert room() is None
    assert not np.shares_memory(weights, kept)


def test_memory_without_large_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    found = aligned(2 * PAGE_FLOATS)
    assert (found.size, address(found) % 64) == (2 * PAGE_FLOATS, 0)
