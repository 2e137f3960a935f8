"""What a layer is compared with: the slower of arithmetic and memory, and the nearest memory that has room."""

from __future__ import annotations

import math

import pytest

from benchmarks.costs import Cost
from benchmarks.kernels import Limits
from benchmarks.limits import Level

LIMITS = Limits(
    100.0, [Level("L2", 1000, 40.0, 20.0), Level("L3", 5000, 20.0, 10.0), Level("memory", math.inf, 8.0, 4.0)]
)


@pytest.mark.parametrize(
    ("flops", "read", "written", "nanoseconds", "limit"),
    [
        (10, 800, 200, 2 * 200 / 20 + 600 / 40, "L2"),
        (10, 801, 200, 2 * 200 / 10 + 601 / 20, "L3"),
        (10, 200, 800, 2 * 200 / 20 + 600 / 40, "L2"),
        (10, 4000, 4000, 8000 / 4, "memory"),
        (100_000, 4000, 4000, 2000, "memory"),
        (300_000, 4000, 4000, 3000, "FMA"),
    ],
)
def test_limits_name_what_takes_longest(flops: int, read: int, written: int, nanoseconds: float, limit: str) -> None:
    seconds, name = LIMITS.of(Cost("", flops, read, written))
    assert name == limit
    assert seconds == pytest.approx(nanoseconds * 1e-9)
