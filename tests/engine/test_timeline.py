"""The places that a timeline finds are those of a search among all storages; the work grows with their number."""

from __future__ import annotations

import random

import pytest

from kuiper.engine.arena import place
from kuiper.engine.timeline import Places, Timeline
from kuiper.engine.values import Storage


def lowest_gap_among_all(storage: Storage, placed: list[Storage]) -> int:
    """The specification: the lowest place that meets no storage of its time."""
    assert storage.first is not None
    offset = 0
    for other in sorted(placed, key=lambda s: s.offset):
        assert other.first is not None
        if other.first <= storage.last and storage.first <= other.last:
            if other.offset - offset >= storage.floats:
                break
            offset = max(offset, other.offset + other.floats)
    return offset


def random_storages(count: int, longest: int, seed: int) -> list[Storage]:
    generator = random.Random(seed)
    storages = []
    for step in range(count):
        storage = Storage(generator.randint(1, 40) * 32)
        storage.used_by(step)
        storage.used_by(step + generator.randint(0, longest))
        storages.append(storage)
    return storages


@pytest.mark.parametrize("longest", [1, 5, 200])
@pytest.mark.parametrize("seed", range(5))
def test_place_gives_each_storage_the_lowest_place_of_its_time(longest: int, seed: int) -> None:
    storages = random_storages(120, longest, seed)
    place(storages)
    placed: list[Storage] = []
    for storage in sorted(storages, key=lambda s: (-s.floats, s.first)):
        assert storage.offset == lowest_gap_among_all(storage, placed)
        placed.append(storage)


def test_places_that_touch_become_one() -> None:
    places = Places()
    for start, end in ((10, 20), (40, 50), (20, 30), (25, 41)):
        places.take(start, end)
    assert [places.behind(0, 10), places.behind(0, 11), places.behind(15, 16), places.behind(50, 60)] == [0, 50, 50, 50]


@pytest.mark.parametrize("to_the_end", [False, True])  # a chain, and outputs that are all needed in the end
def test_the_work_grows_with_the_number_of_storages_not_with_its_square(
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
        storages = [Storage(64) for _ in range(count)]
        for step, storage in enumerate(storages):
            storage.used_by(step)
            storage.used_by(count if to_the_end else step + 1)
        looked = 0
        place(storages)
        work.append(looked)
    assert work[1] < 8 * 2 * work[0]


def test_a_timeline_of_one_step() -> None:
    timeline = Timeline(1)
    timeline.take(0, 0, start=0, end=16)
    assert timeline.lowest_gap(0, 0, bottom=0, length=16) == 16
