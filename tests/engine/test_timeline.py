"""The places that a timeline finds are those of a search among all buffers; the work grows with their number."""

from __future__ import annotations

import random

import pytest

from kuiper.engine.arena import place_buffers
from kuiper.engine.planned_step import Lifetime
from kuiper.engine.timeline import Places, Timeline
from kuiper.engine.values import Buffer


def lowest_gap_among_all(buffer: Buffer, placed: list[Buffer], lifetimes: dict[Buffer, Lifetime]) -> int:
    """The specification: the lowest place that meets no buffer of its time."""
    first, last = lifetimes[buffer]
    offset = 0
    for other in sorted(placed, key=lambda each: each.offset):
        if lifetimes[other].first <= last and first <= lifetimes[other].last:
            if other.offset - offset >= buffer.floats:
                break
            offset = max(offset, other.offset + other.floats)
    return offset


def random_buffers(count: int, longest: int, seed: int) -> dict[Buffer, Lifetime]:
    generator = random.Random(seed)
    return {
        Buffer(generator.randint(1, 40) * 32): Lifetime(step, step + generator.randint(0, longest))
        for step in range(count)
    }


@pytest.mark.parametrize("longest", [1, 5, 200])
@pytest.mark.parametrize("seed", range(5))
def test_place_gives_each_buffer_the_lowest_place_of_its_time(longest: int, seed: int) -> None:
    buffers = random_buffers(120, longest, seed)
    place_buffers(buffers, buffers)
    placed: list[Buffer] = []
    for buffer in sorted(buffers, key=lambda each: (-each.floats, buffers[each].first)):
        assert buffer.offset == lowest_gap_among_all(buffer, placed, buffers)
        placed.append(buffer)


def test_places_that_touch_become_one() -> None:
    places = Places()
    for start, end in ((10, 20), (40, 50), (20, 30), (25, 41)):
        places.take(start, end)
    assert [places.behind(0, 10), places.behind(0, 11), places.behind(15, 16), places.behind(50, 60)] == [0, 50, 50, 50]


@pytest.mark.parametrize("to_the_end", [False, True])  # a chain, and outputs that are all needed in the end
def test_the_work_grows_with_the_number_of_buffers_not_with_its_square(
    to_the_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    behind = Places.behind

    def counting(places: Places, start: int, end: int) -> int:
        nonlocal looked
        looked += 1
        return behind(places, start, end)

    monkeypatch.setattr(Places, "behind", counting)
    work = []
    for count in (200, 1600):
        buffers = {Buffer(64): Lifetime(step, count if to_the_end else step + 1) for step in range(count)}
        looked = 0
        place_buffers(buffers, buffers)
        work.append(looked)
    assert work[1] < 8 * 2 * work[0]


def test_a_timeline_of_one_step() -> None:
    timeline = Timeline(1)
    timeline.take(0, 0, start=0, end=16)
    assert timeline.lowest_gap(0, 0, bottom=0, length=16) == 16
