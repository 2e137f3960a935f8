"""docs/evidence/reliability.md is what the records say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import reliability

if TYPE_CHECKING:
    from pathlib import Path

RECORD = {
    "title": "Throwing stones",
    "command": "make stones",
    "date": "2026-01-31",
    "machine": "a glass house",
    "figures": {"stones": 1234567, "panes broken": "none"},
    "notes": ["They were small."],
}


def test_page_is_what_the_records_say() -> None:
    assert reliability.PAGE.read_text(encoding="utf-8") == reliability.page(), "python -m tests.reliability writes it"


def test_section_shows_all_of_a_record(tmp_path: Path) -> None:
    (tmp_path / "stones.json").write_text(json.dumps(RECORD))
    assert reliability.section(tmp_path / "stones.json").splitlines() == [
        "## Throwing stones",
        "",
        "`make stones`, 2026-01-31, on a glass house.",
        "",
        "| | |",
        "|---|---:|",
        "| stones | 1,234,567 |",
        "| panes broken | none |",
        "",
        "- They were small.",
    ]


@pytest.mark.parametrize("changes", [{"notes": "no list"}, {"more": 1}, {"figures": []}])
def test_section_refuses_another_record(tmp_path: Path, changes: dict[str, object]) -> None:
    (tmp_path / "stones.json").write_text(json.dumps(RECORD | changes))
    with pytest.raises(ValueError, match=r"stones\.json: expected title, command"):
        reliability.section(tmp_path / "stones.json")


def test_write_record_writes_the_page_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reliability, "RECORDS", tmp_path)
    monkeypatch.setattr(reliability, "PAGE", tmp_path / "page.md")
    reliability.write_record("stones", "Throwing stones", "make stones", {"stones": 3}, [])
    assert "| stones | 3 |" in (tmp_path / "page.md").read_text()
    assert reliability.section(tmp_path / "stones.json") in reliability.page()
