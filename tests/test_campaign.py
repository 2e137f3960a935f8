"""What the generators of cases share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import reliability
from tests.campaign import Campaign

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def stones() -> Campaign:
    campaign = Campaign("stones", "Throwing stones", None, module="tests.stones", has_log=True, environment=["WIND"])
    campaign.parser.add_argument("--count", type=int, default=1)
    return campaign


def test_add_writes_the_log_at_once_and_begin_reads_it(stones: Campaign, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "stones.log"
    log.parent.mkdir()
    log.write_text('{"seed": 1}\n')
    assert stones.begin(["--log", str(log), "--count", "5"]).count == 5
    assert stones.done("seed") == {1}
    stones.add({"seed": 2})
    assert [json.loads(line) for line in log.read_text().splitlines()] == stones.entries() == [{"seed": 1}, {"seed": 2}]


def test_begin_makes_the_folder_of_the_log(stones: Campaign, tmp_path: Path) -> None:
    stones.begin(["--log", str(tmp_path / "new" / "stones.log")])
    stones.add({"seed": 3})
    assert (tmp_path / "new" / "stones.log").read_text() == '{"seed": 3}\n'


def test_entries_need_no_log(stones: Campaign) -> None:
    stones.begin([])
    stones.add({"seed": 4})
    assert stones.entries() == [{"seed": 4}]


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        ([], {}, "python -m tests.stones"),
        (["--record", "--log", "a b", "--count", "3"], {}, "python -m tests.stones --count 3"),
        (["--log=x", "--count=3"], {"WIND": "east"}, "WIND=east python -m tests.stones --count=3"),
    ],
)
def test_command_leaves_out_where_the_log_lies(
    stones: Campaign, arguments: list[str], environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WIND", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stones.begin(arguments)
    assert stones.command() == expected


def test_end_writes_the_record_only_if_asked_for(
    stones: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reliability, "RECORDS", tmp_path)
    monkeypatch.setattr(reliability, "PAGE", tmp_path / "page.md")
    stones.begin([])
    assert stones.end({"panes": 3}, [], 0) == 0
    assert not list(tmp_path.iterdir())
    assert capsys.readouterr().out.split() == ["panes", "3"]
    stones.begin(["--record"])
    assert stones.end({"panes": 3}, ["They were small."], 2) == 1
    record = json.loads((tmp_path / "stones.json").read_text())
    assert (record["title"], record["figures"], record["notes"]) == (
        "Throwing stones",
        {"panes": 3},
        ["They were small."],
    )
