"""Buffers that live at the same time never overlap, and the arena is not much larger than it must be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kuiper.engine.arena import place_buffers
from kuiper.engine.planned_step import Lifetime
from kuiper.engine.values import Buffer

LIVES = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 20), st.integers(0, 6)), min_size=1, max_size=25)


def buffers_of(lives: list[tuple[int, int, int]]) -> dict[Buffer, Lifetime]:
    return {Buffer(floats): Lifetime(first, first + duration) for floats, first, duration in lives}


@given(LIVES)
def test_place_buffers_gives_contemporaries_separate_memory(lives: list[tuple[int, int, int]]) -> None:
    buffers = buffers_of(lives)
    total = place_buffers(buffers, buffers)
    for step in range(30):
        owner = np.zeros(total, np.int32)
        for buffer, lifetime in buffers.items():
            if lifetime.first <= step <= lifetime.last:
                owner[buffer.offset : buffer.offset + buffer.floats] += 1
        assert owner.max() <= 1


@given(LIVES)
def test_place_buffers_needs_less_than_twice_what_is_alive_at_once(lives: list[tuple[int, int, int]]) -> None:
    buffers = buffers_of(lives)
    alive = [sum(one.floats for one, life in buffers.items() if life.first <= t <= life.last) for t in range(30)]
    assert max(alive) <= place_buffers(buffers, buffers) <= 2 * max(alive)


def test_place_buffers_keeps_constants_apart() -> None:
    constant, a, b = Buffer(16), Buffer(64), Buffer(64)
    constant.contents = np.ones(16, np.float32)
    place_buffers([a, constant, b], {a: Lifetime(0, 0), b: Lifetime(1, 1)})
    assert constant.offset == 0
    assert a.offset == b.offset == constant.floats


def test_place_buffers_gives_no_memory_to_what_is_never_used() -> None:
    unused = Buffer(1000)
    assert place_buffers([unused], {}) == 0
