"""What several tests of the engine need."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

import kuiper
from kuiper.engine import engine
from tests.engine.machines import with_split_int8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def restore_threads() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = kuiper.get_num_threads()
    yield
    kuiper.set_num_threads(before)


@pytest.fixture(params=["by floats", "in split int8"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to multiply with weights in 8 and 4 bits, whichever the engine would take here."""
    machine = with_split_int8(request.param == "in split int8")
    monkeypatch.setattr(engine, "this_machine", lambda: machine)
    return str(request.param)


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mistakes are warnings, as for users."""
    monkeypatch.delenv("KUIPER_STRICT", raising=False)


@pytest.fixture(params=["strict", "lenient"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With KUIPER_STRICT and without; pytest makes errors of warnings."""
    monkeypatch.setenv("KUIPER_STRICT", str(int(request.param == "strict")))


@pytest.fixture
def steps_of(tmp_path: Path) -> Callable[..., list[str]]:
    """What runs for nodes of ONNX: ``onnx_steps.steps_of`` with a folder for the model."""
    from tests.engine import onnx_steps  # needs the package onnx, as few tests of the engine do

    return partial(onnx_steps.steps_of, tmp_path)
