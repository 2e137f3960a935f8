from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course import sync
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path


def test_write_makes_what_is_missing_and_is_done(tmp_path: Path) -> None:
    double, _ = made_up(tmp_path)
    assert sync.state(double) == "current"
    assert not sync.write(double)
    double.student_file.unlink()
    assert sync.state(double) == "missing"
    assert sync.write(double)
    assert 'raise NotImplementedError("exercise 1.1: double")' in double.student_file.read_text()


def test_write_updates_a_stale_file(tmp_path: Path) -> None:
    double, _ = made_up(tmp_path)
    double.solution_file.write_text(double.solution_file.read_text().replace("Twice x", "Two times x"))
    assert sync.state(double) == "stale"
    assert sync.write(double)
    assert "Two times x" in double.student_file.read_text()


def test_write_leaves_a_changed_file_alone(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path)
    double = syllabus.exercise("1.1")
    for text in ("nothing of mine has a header", sync.generated_text(double) + "# a thought\n"):
        double.student_file.write_text(text)
        assert sync.state(double) == "changed"
        assert not sync.write(double)
        assert double.student_file.read_text() == text


def test_reset_keeps_a_backup(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path)
    solve(syllabus, "1.1")
    double = syllabus.exercise("1.1")
    mine = double.student_file.read_text()
    backups = [sync.reset(double)]
    double.student_file.write_text(mine)
    backups.append(sync.reset(double))
    assert len(set(backups)) == 2
    assert all(backup and backup.read_text() == mine for backup in backups)
    assert sync.state(double) == "current"
    assert sync.reset(double) is None
