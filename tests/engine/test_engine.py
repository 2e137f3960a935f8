"""What the engine keeps between runs."""

from __future__ import annotations

import numpy as np

from kuiper.engine.engine import _PLANS_KEPT, Engine
from kuiper.graph.fallback import Refusal
from tests.engine.models import both, numbers
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, relu


def test_engine_keeps_the_plans_that_were_used_last() -> None:
    fast, _ = both(INPUT, conv("x y"), OUTPUT)
    engine = fast._execution.executor
    assert isinstance(engine, Engine)
    inputs = [[numbers(1, 4, 3, 3 + i)] for i in range(_PLANS_KEPT + 1)]
    plans = [engine.plan_for(arrays) for arrays in inputs[:-1]]
    assert engine.plan_for(inputs[0]) is plans[0]  # which leaves the second as the one that was used longest ago
    engine.plan_for(inputs[-1])
    for arrays, plan in zip(inputs[2:-1], plans[2:], strict=True):
        assert engine.plan_for(arrays) is plan
    assert engine.plan_for(inputs[0]) is plans[0]
    assert engine.plan_for(inputs[1]) is not plans[1]


def test_a_report_is_of_the_plan_that_runs() -> None:
    fast, _ = both(INPUT, conv("x y"), OUTPUT)
    engine, x = fast._execution.executor, numbers(2, 4, 6, 5)
    assert isinstance(engine, Engine)
    fast(x)
    engine.report([x], runs=1)
    assert len(engine._plans) == 1


def test_engine_leaves_an_empty_batch_to_the_layers() -> None:
    fast, plain = both(INPUT, relu("x y"), OUTPUT)
    empty = numbers(0, 4, 6, 5)
    assert np.asarray(fast(empty)).shape == np.asarray(plain(empty)).shape == empty.shape
    engine = fast._execution.executor
    assert isinstance(engine, Engine)
    reason = "pnnx.Input 'in': expected numbers, got an empty array (0, 4, 6, 5)"
    assert engine.plan_for([empty]) == Refusal(reason, is_mistake=False)
