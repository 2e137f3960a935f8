"""The command doctor, and what it and plan say of mistakes that only make models slower."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import kuiper
from kuiper.machine import described, this_machine
from tests.cli.program import run

if TYPE_CHECKING:
    from pathlib import Path
from tests.cli.test_cli import MODEL


def test_doctor_checks_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor") == 0
    out = capsys.readouterr().out
    assert out.count("ok ") == 3
    assert "FAIL" not in out


def test_doctor_describes_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor") == 0
    name, *facts = described(this_machine())
    assert f"\nmachine    {name}\n" in (told := capsys.readouterr().out)
    assert " ".join(facts).split() == told[told.index(name) + len(name) : told.index("threads  ")].split()


SHOWN = pytest.mark.filterwarnings("default::kuiper.FallbackWarning")


def fails(*_: object) -> None:
    raise TypeError("no")


@SHOWN
def test_doctor_tells_of_a_mistake_that_only_makes_models_slower(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kuiper.engine.compile.place_buffers", fails)
    assert run("doctor") == 1
    assert "are errors: KUIPER_STRICT is set" in (out := capsys.readouterr().out)
    assert "FAIL  bundled classifier: TypeError: no" in out
    monkeypatch.setenv("KUIPER_STRICT", "0")
    assert run("doctor") == 1
    out, told = capsys.readouterr()
    assert "are warnings; KUIPER_STRICT=1 makes them errors" in out
    assert (
        "FAIL  bundled classifier: KuiperError: bundled classifier: expected a plan, got TypeError: no; the mod" in out
    )
    assert told.startswith("kuiper doctor: cifar_resnet20.pnnx.param: expected a plan, got TypeError: no; the model")
    assert told.count("\n") == 1


@SHOWN
def test_plan_tells_of_a_mistake_and_of_what_has_no_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("plan", MODEL, "--random-weights", "--runs", 1)
    monkeypatch.delenv("KUIPER_STRICT")
    with monkeypatch.context() as patch:
        patch.setattr("kuiper.graph.runtime_graph.DEFAULT_PASSES", (fails,))
        assert run(*words) == 0
    out, told = capsys.readouterr()
    reason = "the pass fails: TypeError: no; the model runs without passes, slower"
    assert out.endswith(f"\n{reason}\n")
    assert told.startswith(f"kuiper plan: {MODEL.name}: expected the default passes to succeed, got {reason}; the ")
    monkeypatch.setattr("kuiper.engine.compile.place_buffers", fails)
    assert run(*words) == 1
    out, told = capsys.readouterr()
    assert [line.partition(": expected")[0] for line in told.splitlines()] == [f"kuiper plan: {MODEL.name}"] * 2
    assert told.splitlines()[1].endswith("got none: these inputs are left to the layers; TypeError: no")


@pytest.mark.parametrize("gil", [True, False])
def test_doctor_says_whether_there_is_a_gil(
    gil: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: gil, raising=False)
    assert kuiper.build_info()["gil"] is gil
    assert run("doctor") == 0
    assert ("without a GIL" in capsys.readouterr().out) is not gil
