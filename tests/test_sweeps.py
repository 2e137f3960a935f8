from __future__ import annotations

from tests.sweeps import EVERY, swept


def test_swept_leaves_no_case_out_and_some_to_make_test() -> None:
    names = [f"case {i}" for i in range(10)]
    parameters = swept(names)
    assert [parameter.values for parameter in parameters] == [(name,) for name in names]
    here = [parameter.values[0] for parameter in parameters if not parameter.marks]
    assert here == names[::EVERY]
    assert all(mark.name == "thorough" for parameter in parameters for mark in parameter.marks)
