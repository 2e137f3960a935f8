from __future__ import annotations

import sys

import pytest

from kuiper.errors import ExecutionError
from kuiper.machine.processes import VARIABLE, has_processes, need_processes


def test_has_processes_but_in_a_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert has_processes()
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert not has_processes()


def test_need_processes_is_one_error_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv(VARIABLE, raising=False)
    need_processes("submissions", "to hold apart")
    monkeypatch.setenv(VARIABLE, "none")
    with pytest.raises(ExecutionError, match="submissions: expected a system with processes to hold apart, got none"):
        need_processes("submissions", "to hold apart")
