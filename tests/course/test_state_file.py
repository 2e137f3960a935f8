"""What the classroom remembers may be damaged or made by somebody else: it is as if it were not there."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.cli import main
from kuiper.cli.race import _result
from kuiper.course.errors import CourseError
from kuiper.course.handout_record import RECORD, read_record
from kuiper.course.places import state_folder
from kuiper.course.progress import Progress
from kuiper.course.race import Result
from kuiper.course.race_history import remember
from kuiper.course.state_file import keep_text, read_state, write_state
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

DAMAGED = ["", "{", "[" * 100_000, "[]", "3", "null", '{"1.1": "x"}', '{"1.1": [1]}', '{"1.1": {"passed": 1}}', "\x00"]
DAMAGED += ['{"1.1": {"digest": 1, "passed": "x", "total": [], "time": null}}', '{"1.1": -5}', '[{"model": 1}, 2]']


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.chdir(tmp_path)
    return made_up(tmp_path)


def test_write_state_is_read_again(tmp_path: Path) -> None:
    write_state(tmp_path / "state.json", {"a": [1.5, float("inf"), "ä"]})
    assert read_state(tmp_path / "state.json") == {"a": [1.5, float("inf"), "ä"]}
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_keep_text_leaves_a_file_alone_that_has_the_text(tmp_path: Path) -> None:
    path = tmp_path / "double.py"
    keep_text(path, "one\n")
    before = path.stat()
    keep_text(path, "one\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows replaces no file that is open")
def test_keep_text_never_shows_half_of_a_text(tmp_path: Path) -> None:
    """Who has opened the file before goes on to read the text that it had then."""
    path = tmp_path / "double.py"
    keep_text(path, "one\n")
    with path.open(encoding="utf-8") as reader:
        keep_text(path, "two\n")
        assert reader.read() == "one\n"
    assert path.read_bytes() == b"two\n"
    assert [path.name for path in tmp_path.iterdir()] == ["double.py"]


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: ascii(text[:30]))
def test_damaged_state_is_as_none(syllabus: Syllabus, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("progress.json", "hints.json", "race.json"):
        (state_folder(syllabus.root) / name).write_text(text)
    (syllabus.root / RECORD).write_text(text)
    solve(syllabus, "1.1")
    assert Progress(syllabus.root).status(syllabus.exercise("1.1")) == "started"
    assert main(["hint", "1.1"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("1.1 double, hint 1 of")
    history = remember(syllabus.root, Result("resnet20", [], [], []))
    assert len(history) == 1
    assert read_record(syllabus.root) is None
    assert main(["progress"]) == 0


@pytest.mark.parametrize(
    "changes",
    [{"ladder": {}}, {"ladder": {"kuiper": "fast"}}, {"ladder": {"kuiper": -1}}, {"yours": ["1.1"]}, {"more": 1}],
)
def test_the_result_of_another_process_is_checked(changes: dict[str, object]) -> None:
    table = {"model": "m", "yours": [], "reference": [], "failures": [], "divergence": None, "ladder": {"kuiper": 1}}
    assert _result(json.loads(json.dumps(table))).ladder == {"kuiper": 1}
    with pytest.raises(CourseError, match="race: expected the result of a race, got another"):
        _result(table | changes)
