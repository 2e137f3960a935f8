from __future__ import annotations

from pathlib import Path

from tests.sweeps import EVERY, swept

ROOT = Path(__file__).parents[1]


def test_swept_leaves_no_case_out_and_some_to_make_test() -> None:
    names = [f"case {i}" for i in range(10)]
    parameters = swept(names)
    assert [parameter.values for parameter in parameters] == [(name,) for name in names]
    here = [parameter.values[0] for parameter in parameters if not parameter.marks]
    assert here == names[::EVERY]
    assert all(mark.name == "sweep" for parameter in parameters for mark in parameter.marks)


def test_ci_runs_what_make_test_leaves_to_make_sweep() -> None:
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert steps.index("make test") < steps.index("make sweep")
