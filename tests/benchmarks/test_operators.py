"""The operators' table, and that every case runs on kuiper as in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.operators import row, timed

if TYPE_CHECKING:
    from pathlib import Path


def test_row_compares_with_torch_and_with_the_fastest() -> None:
    cells = row("it", {"kuiper": 0.003, "torch": 0.002, "onnxruntime": 0.001})
    assert cells == ("it", "3.000", "2.000", "1.000", "1.50", "3.00")


def test_timed_refuses_an_answer_that_is_not_torchs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(6, dtype=np.float32)
    np.savez(tmp_path / "inputs.npz", x)
    np.savez(tmp_path / "outputs.npz", x + 1)
    runs = {"right": lambda *_: lambda inputs: [inputs[0] + 1], "wrong": lambda *_: lambda inputs: [inputs[0]]}
    monkeypatch.setattr("benchmarks.operators.STARTERS", runs)
    assert len(timed("right", "it", tmp_path, 1, 0.01)) > 0
    with pytest.raises(BenchmarkError, match="wrong on it: expected the outputs of torch"):
        timed("wrong", "it", tmp_path, 1, 0.01)


@pytest.mark.torch
def test_every_case_is_exported_and_gives_torchs_outputs(tmp_path: Path) -> None:
    from benchmarks.operator_modules import CASES
    from benchmarks.operators import write_files

    for number, case in enumerate(CASES):
        write_files(case.name, tmp_path / str(number))
        assert timed("kuiper", case.name, tmp_path / str(number), 1, 0.001)
