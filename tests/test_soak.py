"""The soak's eyes: what it measures must show a leak, and its verdict must say so."""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.models import bundled
from tests import soak, soak_acts
from tests.engine.models import plan_of
from tests.process_memory import C_LIBRARY, measure

if TYPE_CHECKING:
    from collections.abc import Callable

FLAT = {"in use": 1 << 30, "resident": 1 << 30, "python blocks": 100_000, "files": 6, "threads": 4, "python threads": 1}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(C_LIBRARY, "mallinfo2"), reason="the soak asks glibc what is in use"
)


@pytest.mark.parametrize("leak", [lambda: np.empty(8 << 20, np.uint8), lambda: mmap.mmap(-1, 8 << 20)])
def test_measure_counts_what_is_kept_and_not_what_is_freed(leak: Callable[[], object]) -> None:
    before = measure()["in use"]
    kept = leak()
    during = measure()["in use"]
    del kept
    assert 7 << 20 < during - before < 9 << 20  # the measuring itself may free a little
    assert abs(measure()["in use"] - before) < 1 << 20


def test_measure_counts_python_objects() -> None:
    before = measure()["python blocks"]
    kept = [object() for _ in range(30_000)]
    assert measure()["python blocks"] - before >= len(kept)


@pytest.mark.parametrize("name", FLAT)
def test_verdict_names_what_grows(name: str) -> None:
    step = soak.SLACK.get(name, 0) // 20 + 1
    grown = soak.verdict([FLAT | {name: FLAT[name] + turn * step} for turn in range(40)])
    assert [line.partition(":")[0] for line in grown] == [name]


def test_verdict_of_what_goes_up_and_down_is_silent() -> None:
    samples = [FLAT | {"files": 6 + turn % 3, "resident": FLAT["resident"] + (turn % 2 << 20)} for turn in range(40)]
    assert soak.verdict(samples) == []


def test_drop_plans_notices_memory_for_more_callers_than_there_are() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    x = np.zeros((1, 3, 32, 32), np.float32)
    model(x)
    soak_acts.drop_plans(model)
    plan = plan_of(model, [x])  # made anew
    assert plan._pool == []
    plan._pool.extend([plan._new_workspace() for _ in range(soak_acts.CALLERS + 1)])
    with pytest.raises(soak_acts.WrongAnswerError, match="more than 3 callers"):
        soak_acts.drop_plans(model)
