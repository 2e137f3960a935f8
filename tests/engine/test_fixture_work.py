"""What every exported operator costs is as stored: operations of layers and steps, and what is left to Python."""

from __future__ import annotations

import json

import pytest

from tests.engine.fixture_work import NAMES, STORED, entry_of, work_of

EXPECTED = json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_work_of_an_exported_operator_is_as_stored(name: str) -> None:
    assert entry_of(work_of(name)) == EXPECTED[name]


def test_stored_work_is_of_the_fixtures_that_are_there() -> None:
    assert sorted(EXPECTED) == NAMES
