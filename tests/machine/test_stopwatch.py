"""How long something takes, on clocks that move in steps: those of Firefox and of Chromium, and a fine one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.machine import stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

FIREFOX, CHROMIUM, FINE = 1e-3, 1e-4, 5e-8
LOOK = 3e-8  # seconds that reading the clock takes


class SteppingClock:
    """Shows the time rounded down to whole steps."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 12.3456789

    def __call__(self) -> float:
        self.now += LOOK
        return self.now // self.step * self.step

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(params=[FIREFOX, CHROMIUM, FINE], ids=["firefox", "chromium", "fine"])
def stepping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SteppingClock]:
    made = SteppingClock(request.param)
    monkeypatch.setattr(stopwatch, "perf_counter", made)
    stopwatch.clock_step.cache_clear()
    yield made
    stopwatch.clock_step.cache_clear()


def test_clock_step_is_the_step_of_the_clock(stepping: SteppingClock) -> None:
    assert stopwatch.clock_step() == pytest.approx(stepping.step, rel=0.01)


@pytest.mark.parametrize("seconds", [2e-6, 2e-5, 7e-4, 3e-3, 0.4])
def test_seconds_of_is_right_for_calls_shorter_than_a_step(stepping: SteppingClock, seconds: float) -> None:
    assert stopwatch.seconds_of(lambda: stepping.work(seconds)) == pytest.approx(seconds, rel=0.06)


def test_seconds_of_calls_once_what_takes_long(stepping: SteppingClock) -> None:
    calls: list[None] = []

    def call() -> None:
        calls.append(None)
        stepping.work(0.4)

    stopwatch.seconds_of(call)
    assert len(calls) == 1


def test_typical_tells_times_far_below_a_step(stepping: SteppingClock) -> None:
    times = []
    for _ in range(2000):
        began = stepping()
        stepping.work(3e-5)
        times.append(stepping() - began)
    name, average = stopwatch.typical()
    assert name == ("median" if stepping.step == FINE else "mean")
    assert average(times) == pytest.approx(3e-5, rel=0.2)


def test_best_seconds_is_the_shortest_that_fits(stepping: SteppingClock) -> None:
    waits = iter([0.3, 0.05, 0.1])
    assert stopwatch.best_seconds(lambda: stepping.work(next(waits)), 0.42) == pytest.approx(0.05, rel=0.06)


def test_best_seconds_measures_once_at_least(stepping: SteppingClock) -> None:
    assert stopwatch.best_seconds(lambda: stepping.work(0.3), 0.1) == pytest.approx(0.3, rel=0.06)
