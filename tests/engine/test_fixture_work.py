"""What every exported operator costs is as stored: operations of layers and steps, and what is left to Python."""

from __future__ import annotations

import json

import pytest

from tests.engine.fixture_work import NAMES, STORED, entry_of, work_of

EXPECTED = json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.timeout(600)  # on a build with checks, or in an emulator
def test_work_of_each_exported_operator_is_as_stored() -> None:
    assert {name: entry_of(work_of(name)) for name in NAMES} == EXPECTED
