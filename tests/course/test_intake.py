"""Taking submissions in: whatever lies in the place of a file, nothing outside is copied or changed."""

from __future__ import annotations

import os
import socket
import stat
from typing import TYPE_CHECKING

import pytest

from kuiper.course.grade import grade_one
from kuiper.course.intake import MAX_FILE, submissions_in, submitted, take_in
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

HONEST = "def double(x):\n    return x + x\n"
posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes as POSIX has them")


def linked_exercises(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "exercises").symlink_to(syllabus.courses[0].folder / "solutions")


def linked_course(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "course1_made_up").symlink_to(other)


def linked_within_the_course(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "course1_made_up").mkdir()
    (folder / "course1_made_up" / "exercises").symlink_to(other, target_is_directory=True)


def linked_to_the_parent(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "exercises").symlink_to("../other/exercises")


def linked_in_a_chain(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "a").symlink_to(other / "exercises")
    (folder / "exercises").symlink_to("a")


def linked_to_itself(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "exercises").symlink_to("exercises")


def linked_file(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "double.py").symlink_to(syllabus.exercise("1.1").solution_file)


def dangling(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "double.py").symlink_to(folder / "nowhere")


def hard_link(folder: Path, syllabus: Syllabus, other: Path) -> None:
    os.link(other / "exercises" / "double.py", folder / "double.py")


def pipe(folder: Path, syllabus: Syllabus, other: Path) -> None:
    os.mkfifo(folder / "double.py")


def named_socket(folder: Path, syllabus: Syllabus, other: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(folder)  # a socket's name must be short
        server.bind("double.py")


def folder_for_a_file(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "double.py").mkdir()


def file_for_a_folder(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "exercises").write_text(HONEST)


def giant(folder: Path, syllabus: Syllabus, other: Path) -> None:
    (folder / "double.py").write_text(HONEST + "#" * MAX_FILE)


def hollow_giant(folder: Path, syllabus: Syllabus, other: Path) -> None:
    with (folder / "double.py").open("wb") as file:
        file.truncate(1 << 40)


TRICKS = [
    linked_exercises,
    linked_course,
    linked_within_the_course,
    linked_to_the_parent,
    linked_in_a_chain,
    linked_to_itself,
    linked_file,
    dangling,
    hard_link,
    pipe,
    named_socket,
    folder_for_a_file,
    file_for_a_folder,
    giant,
    hollow_giant,
]


@posix
@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_take_in_copies_plain_files_and_names_all_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trick: Callable[[Path, Syllabus, Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    syllabus = made_up(tmp_path / "root")
    other = tmp_path / "handed-in" / "other"
    (other / "exercises").mkdir(parents=True)
    (other / "exercises" / "double.py").write_text(HONEST)
    (other / "exercises" / "double.py").chmod(0o640)
    (other / "double.py").write_text(HONEST)
    folder = tmp_path / "handed-in" / "mallory"
    folder.mkdir()
    trick(folder, syllabus, other)
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in tmp_path.rglob("*")}
    taken = take_in(syllabus, folder, tmp_path / "home")
    assert taken.files == {}
    assert any(id_ == "1.1" and words.endswith("; not taken") for id_, words in taken.odd)
    assert not submitted(tmp_path / "home", syllabus.exercise("1.1")).exists()
    assert {path: stat.S_IMODE(path.lstat().st_mode) for path in modes} == modes
    assert folder in submissions_in(syllabus, tmp_path / "handed-in")


@posix
def test_a_submission_that_is_a_link_is_not_graded(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path / "root")
    other = tmp_path / "handed-in" / "other"
    other.mkdir(parents=True)
    (other / "double.py").write_text(HONEST)
    accomplice = tmp_path / "handed-in" / "accomplice"
    accomplice.symlink_to(other, target_is_directory=True)
    assert submissions_in(syllabus, tmp_path / "handed-in") == [accomplice, other]
    report = grade_one(syllabus, [syllabus.exercise("1.1")], accomplice, 60.0)
    assert report.points == 0
    assert "1.1: accomplice is a link; not taken" in report.odd


def test_take_in_takes_what_is_handed_in(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path / "root")
    for number, place in enumerate(["course1_made_up/exercises", "exercises", "."]):
        folder = tmp_path / f"student{number}"
        (folder / place).mkdir(parents=True)
        (folder / place / "double.py").write_text(HONEST)
        taken = take_in(syllabus, folder, tmp_path / f"home{number}")
        assert taken.odd == []
        assert taken.files["1.1"].read_text() == HONEST
