"""How long something takes, on any clock.

The clock of a browser moves in steps of a tenth of a millisecond, or of a whole one, so that no page can read secrets
out of times: a call that is shorter takes no time there. So a call is repeated until the clock has made many steps.
"""

from __future__ import annotations

import statistics
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEPS = 20  # that the clock makes during a measurement: one more or less is 5 %
_LOOKS = 5
_COARSE = 1e-5  # seconds of a clock's step from which on a step of a network may take no time


@cache
def clock_step() -> float:
    """The seconds by which the clock moves at once, as far as Python sees it: the least of some moves."""
    moves = []
    for _ in range(_LOOKS):
        before = perf_counter()
        while (now := perf_counter()) == before:
            pass
        moves.append(now - before)
    return min(moves)


def seconds_of(call: Callable[[], object]) -> float:
    """The seconds of one call, more than 0: the mean of as many in a row as the clock needs to tell.

    On a fine clock that is one call, unless it takes less than a few microseconds.

    >>> seconds_of(lambda: sum(range(1000))) > 0
    True
    """
    least, count = STEPS * clock_step(), 1
    while True:
        began = perf_counter()
        for _ in range(count):
            call()
        passed = perf_counter() - began
        if passed >= least:
            return passed / count
        count = int(count * least / passed) + 1 if 10 * passed > least else 10 * count


def typical() -> tuple[str, Callable[[Sequence[float]], float]]:
    """What to take of many times of one thing, and its name: their median.

    On a clock that moves in large steps most of them are 0, and so is the median. There it is the mean.

    >>> name, average = typical()
    >>> name in ("median", "mean"), average([1.0, 2.0, 3.0])
    (True, 2.0)
    """
    return ("mean", statistics.fmean) if clock_step() > _COARSE else ("median", statistics.median)


def best_seconds(call: Callable[[], object], seconds: float = 0.2) -> float:
    """The shortest time of a call, of as many measurements as fit into ``seconds``; there is one at least.

    >>> best_seconds(lambda: sum(range(1000)), 0.01) > 0
    True
    """
    ends, best = perf_counter() + seconds, float("inf")
    while True:
        best = min(best, seconds_of(call))
        if perf_counter() >= ends:
            return best
