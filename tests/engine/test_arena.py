"""Storages that live at the same time never overlap, and the arena is not much larger than it must be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kuiper.engine.arena import place
from kuiper.engine.values import Storage

LIVES = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 20), st.integers(0, 6)), min_size=1, max_size=25)


def storages_of(lives: list[tuple[int, int, int]]) -> list[Storage]:
    storages = []
    for floats, first, duration in lives:
        storage = Storage(floats)
        storage.used_by(first)
        storage.used_by(first + duration)
        storages.append(storage)
    return storages


@given(LIVES)
def test_place_gives_contemporaries_separate_memory(lives: list[tuple[int, int, int]]) -> None:
    storages = storages_of(lives)
    total = place(storages)
    for step in range(30):
        owner = np.zeros(total, np.int32)
        for storage in storages:
            if storage.first is not None and storage.first <= step <= storage.last:
                owner[storage.offset : storage.offset + storage.floats] += 1
        assert owner.max() <= 1


@given(LIVES)
def test_place_needs_less_than_twice_what_is_alive_at_once(lives: list[tuple[int, int, int]]) -> None:
    storages = storages_of(lives)
    alive = [sum(s.floats for s in storages if s.first is not None and s.first <= t <= s.last) for t in range(30)]
    assert max(alive) <= place(storages) <= 2 * max(alive)


def test_place_keeps_constants_apart() -> None:
    constant, a, b = Storage(16), Storage(64), Storage(64)
    constant.contents = np.ones(16, np.float32)
    a.used_by(0)
    b.used_by(1)
    place([a, constant, b])
    assert constant.offset == 0
    assert a.offset == b.offset == constant.floats


def test_place_gives_no_memory_to_what_is_never_used() -> None:
    unused = Storage(1000)
    assert place([unused]) == 0
