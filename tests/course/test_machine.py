"""What a lecture says about the machine of its measurements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kuiper import machine
from kuiper.course.machine import this_machine
from kuiper.machine import REPRODUCIBLE


@pytest.mark.parametrize(("count", "cores"), [(1, "1 core"), (2, "2 cores")])
def test_this_machine_names_processor_cores_and_level(count: int, cores: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = replace(REPRODUCIBLE, name="Abacus 9 at 2: GHz", level="wood", cores=count)
    monkeypatch.setattr(machine, "this_machine", lambda: made_up)
    assert this_machine() == f"Abacus 9 at 2: GHz, {cores}, kernels for wood"
