"""Grading: honest work gets its points; tests/course/attacks.py has what does not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from kuiper.cli.grade import details, table_of
from kuiper.cli.terminal import PlainConsole
from kuiper.course.errors import CourseError
from kuiper.course.grade import MAX_SHOWN, Report, as_dict, grade_all, grade_one, gradescope, shown
from kuiper.course.intake import SUSPICIONS, submissions_in
from kuiper.course.manifest import read_syllabus
from kuiper.course.phrases import Phrase, recognised
from kuiper.course.processes import descendants
from kuiper.course.sandbox import Mode, best_mode, statement, works
from kuiper.course.suspicious_code import suspicious_code
from tests.course.made_up import made_up
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

HONEST = "def double(x):\n    return x + x\n"


@pytest.fixture(scope="module")
def syllabus(tmp_path_factory: pytest.TempPathFactory) -> Syllabus:
    return made_up(tmp_path_factory.mktemp("course"))


def submission(folder: Path, name: str, code: str) -> Path:
    path = folder / name.replace(" ", "-")
    path.mkdir()
    (path / "double.py").write_text(code)
    return path


def test_a_failed_dependency_is_replaced(syllabus: Syllabus, tmp_path: Path) -> None:
    folder = submission(tmp_path, "half", "def double(x):\n    return 7\n")
    fourfold = syllabus.exercise("1.2")
    text = fourfold.solution_file.read_text()
    (folder / "fourfold.py").write_text("\n".join(line for line in text.splitlines() if "SOLUTION" not in line))
    report = grade_one(syllabus, list(syllabus), folder, 60.0)
    assert {grade.id: grade.verdict for grade in report.grades} == {"1.1": "wrong", "1.2": "solved"}
    scores = gradescope(report)
    assert scores["score"] == 3
    assert [test["score"] for test in scores["tests"]] == [0, 3]
    assert "got      7" in scores["tests"][0]["output"]
    json.dumps(scores)


TIMED = """

def speed(impl):
    return float(impl.double(getattr(impl, "SECONDS", 1))), 1, "calls"
"""


@pytest.fixture
def timed(tmp_path: Path) -> Syllabus:
    """The made-up course with points for speed; a submission says itself how many seconds it takes."""
    course = made_up(tmp_path / "timed").root / "course1_made_up"
    manifest, test = course / "course.toml", course / "test_double.py"
    manifest.write_text(manifest.read_text().replace("minutes = 5\n", "minutes = 5\nspeed = [0.1, 0.5, 0.9]\n", 1))
    test.write_text(test.read_text() + TIMED)
    return read_syllabus(tmp_path / "timed")


@pytest.mark.parametrize(
    ("code", "points", "odd"),
    [
        (HONEST, (2, 3), ""),
        (HONEST + "SECONDS = 2\n", (2, 2), ""),
        (HONEST + "SECONDS = 100\n", (2, 0), ""),
        (HONEST + "SECONDS = 0.01\n", (2, 3), "1.1: 100.0 times as fast as the reference"),
        (HONEST + "SECONDS = None\n", (2, 0), "1.1: its speed could not be measured"),
        ("def double(x):\n    return 7\n", (0, 0), ""),
    ],
)
def test_speed_gives_points_of_its_own(
    timed: Syllabus, tmp_path: Path, code: str, points: tuple[int, int], odd: str
) -> None:
    folder = submission(tmp_path, "fast", code)
    report = grade_all(timed, [timed.exercise("1.1")], [folder], 60.0, 1, lambda report: None, speed=True)[0]
    assert (report.points, report.speed, report.most_speed) == (*points, 3)
    told = [words for words in report.odd if "busy" not in words]
    assert [words.partition(":")[0] for words in told] == (["1.1"] if odd else [])
    assert not odd or told[0].startswith(odd)
    scores = gradescope(report)
    assert scores["score"] == sum(points)
    assert [(test["name"], test["score"], test["max_score"]) for test in scores["tests"]][1:] == [
        ("1.1 double: speed", points[1], 3)
    ]


def test_speed_counts_only_where_it_is_asked_for(timed: Syllabus, tmp_path: Path) -> None:
    report = grade_one(timed, [timed.exercise("1.1")], submission(tmp_path, "fast", HONEST), 60.0)
    assert (report.points, report.speed, report.most_speed) == (2, 0, 0)
    assert len(gradescope(report)["tests"]) == 1


def test_untouched_links_and_giants_are_not_taken(syllabus: Syllabus, tmp_path: Path) -> None:
    double, fourfold = syllabus
    folder = tmp_path / "lazy"
    folder.mkdir()
    shutil.copyfile(double.student_file, folder / "double.py")
    (folder / "fourfold.py").symlink_to(fourfold.solution_file)
    started = time.perf_counter()
    report = grade_one(syllabus, list(syllabus), folder, 60.0)
    assert report.points == 0
    assert [grade.verdict for grade in report.grades] == ["not handed in", "not handed in"]
    assert any("fourfold.py is a link" in words for words in report.odd)
    assert time.perf_counter() - started < 60


READS = """
from kuiper.course import calling


def test_reads(impl, tmp_path):
    (tmp_path / "numbers.txt").write_text("6")
    calling(impl.read, str(tmp_path / "numbers.txt")).gives("6")


def test_does_not_write(impl, tmp_path):
    calling(impl.write, str(tmp_path / "new.txt")).raises(OSError)
"""


@pytest.mark.skipif(best_mode() == "limits", reason="neither bubblewrap nor user namespaces on this machine")
@pytest.mark.parametrize("mode", ["bubblewrap", "namespaces"])
def test_files_that_a_test_writes_are_read_in_the_sandbox(tmp_path: Path, mode: Mode) -> None:
    if not works(mode):
        pytest.skip(f"no {mode} here")
    syllabus = made_up(tmp_path / "root")
    (tmp_path / "root" / "course1_made_up" / "test_double.py").write_text(READS)
    code = "def read(name):\n    return open(name).read()\n\ndef write(name):\n    open(name, 'w').close()\n"
    folder = submission(tmp_path, "reader", code)
    report = grade_one(syllabus, [syllabus.exercise("1.1")], folder, 60.0, mode)
    assert report.grades[0].verdict == "solved", report.grades[0].message


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("import os\nos._exit(0)\n", "ended (exit code 0)"),
        ("import os\n\ndef double(x):\n    os._exit(7)\n", "ended (exit code 7)"),
        ("import os\n\ndef double(x):\n    os.kill(os.getpid(), 9)\n", "ended (SIGKILL)"),
        ("import os\n\ndef double(x):\n    os.kill(os.getpid(), 11)\n", "ended (SIGSEGV)"),
        ("def double(x):\n    raise ValueError\n", "wrong"),
    ],
)
def test_a_process_that_ended_is_told(syllabus: Syllabus, tmp_path: Path, code: str, verdict: str) -> None:
    report = grade_one(syllabus, [syllabus.exercise("1.1")], submission(tmp_path, "ended", code), 60.0)
    assert [grade.verdict for grade in report.grades] == [verdict]
    assert (f"1.1: {verdict}" in report.odd) is (verdict != "wrong")
    assert as_dict(report)["grades"][0]["verdict"] == verdict


@pytest.mark.parametrize(
    ("act", "verdict"), [("os._exit(7)", "ended (exit code 7)"), ("os.abort()", "ended (SIGABRT)")]
)
def test_a_report_speaks_the_graders_language_and_its_verdicts_english(
    syllabus: Syllabus, tmp_path: Path, pseudo_language: Path, act: str, verdict: str
) -> None:
    folder = submission(tmp_path, "ended", f"import os\n\ndef double(x):\n    {act}\n")
    report = grade_one(syllabus, [syllabus.exercise("1.1")], folder, 60.0)
    assert [grade.verdict for grade in report.grades] == [verdict]
    assert "⟦the process that ran your code" in report.grades[0].message
    assert gradescope(report)["tests"][0]["output"].startswith("0⟦ of ⟧2⟦ tests passed⟧")


def test_tables_and_what_looks_odd_speak(
    timed: Syllabus, tmp_path: Path, pseudo_language: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = submission(tmp_path, "ada", "import socket\n\n" + HONEST)
    (folder / "fourfold.py").symlink_to(folder / "double.py")
    report = grade_one(timed, list(timed), folder, 60.0)
    for sum_ in (report, replace(report, grades=tuple(replace(grade, most_speed=3) for grade in report.grades))):
        console = PlainConsole(file=StringIO(), width=400)
        console.print(table_of([sum_, sum_]))
        console.print(details(sum_))
        assert isinstance(console.file, StringIO)
        assert escaped(console.file.getvalue(), {"ada", "double", "fourfold"}) == []
    assert report.odd[0].startswith("1.2⟦: ⟧")
    assert escaped("\n".join(report.odd), {"socket", "py"}) == []
    assert escaped(statement("limits") + statement("bubblewrap")) == []
    assert as_dict(report)["grades"][0]["verdict"] == "solved"


@pytest.mark.usefixtures("pseudo_language")
def test_every_suspicion_is_a_message(tmp_path: Path) -> None:
    code = "import os, kuiper.layers\nx = eval\nos.name = 1\ngetattr(x, str(x))\nkuiper.layers.x = 1\n"
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    code = "# cython: x=1\ncdef extern from '' as x\nfrom libc cimport os\ngetattr(x)\ncimport kuiper.layers\n"
    (tmp_path / "a.pyx").write_text(code, encoding="utf-8")
    (tmp_path / "b.pyx").write_text("x = (", encoding="utf-8")
    found = [word for name in ("a.py", "a.pyx", "b.pyx") for word in suspicious_code([(tmp_path / name, None)])[0]]
    recognised_ = [recognised(word, SUSPICIONS) for word in found]
    assert all(isinstance(word, Phrase) for word in recognised_), found
    assert {word.template for word in recognised_ if isinstance(word, Phrase)} == set(SUSPICIONS)


def test_odd_is_only_what_belongs_to_the_exercises_that_were_asked_for(syllabus: Syllabus, tmp_path: Path) -> None:
    folder = submission(tmp_path, "half", "import subprocess\n\n" + HONEST)
    (folder / "fourfold.py").write_text("import socket\n\ndef fourfold(x):\n    return 4 * x\n")
    report = grade_one(syllabus, [syllabus.exercise("1.2")], folder, 60.0)
    assert report.odd == ("1.2: imports socket",)


def test_tables_have_a_line_for_each_submission_and_fold_what_was_not_handed_in(
    syllabus: Syllabus, tmp_path: Path
) -> None:
    folders = [submission(tmp_path, name, HONEST) for name in ("ada", "ben")]
    reports = grade_all(syllabus, list(syllabus), folders, 60.0, 1, lambda report: None)
    console = PlainConsole(file=StringIO(), width=80)
    console.print(table_of(reports))
    console.print(details(reports[0]))
    assert isinstance(console.file, StringIO)
    _, ada, ben, title, _, solved, rest = (line.split() for line in console.file.getvalue().splitlines())
    assert (ada, ben) == (["ada", "2/5", "1.1", "1", "not", "handed", "in"], ["ben", *ada[1:]])
    assert title[:2] == ["ada:", "2"]
    assert solved[:2] == ["1.1", "double"]
    assert rest == ["1", "not", "handed", "in"]
    assert [grade["verdict"] for grade in as_dict(reports[0])["grades"]] == ["solved", "not handed in"]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals as POSIX has them")
def test_an_interrupt_ends_the_grading(syllabus: Syllabus, tmp_path: Path) -> None:
    """Two submissions that would take an hour each: their processes are ended, and nobody waits for them."""
    folders = [submission(tmp_path, name, f"import time\ntime.sleep(3600)\n\n{HONEST}") for name in ("a", "b")]
    before = descendants(os.getpid())  # other tests of this worker may have left some
    first = threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGINT))
    first.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            grade_all(syllabus, list(syllabus), folders, 3600.0, 2, lambda report: None)
    finally:
        first.cancel()
    patience = time.monotonic() + 60  # one that was killed is still there until the system comes to it
    while descendants(os.getpid()) - before and time.monotonic() < patience:
        time.sleep(0.05)
    assert descendants(os.getpid()) - before == set()


def test_submissions_in_finds_one_or_many(syllabus: Syllabus, tmp_path: Path) -> None:
    one = submission(tmp_path, "ada", HONEST)
    (tmp_path / "notes").mkdir()
    assert submissions_in(syllabus, one) == [one]
    assert submissions_in(syllabus, tmp_path) == [one]
    with pytest.raises(CourseError, match="expected submissions"):
        submissions_in(syllabus, tmp_path / "notes")


def test_an_exercise_out_of_time_costs_the_others_nothing(syllabus: Syllabus, tmp_path: Path) -> None:
    folder = submission(tmp_path, "slow", "import time\ntime.sleep(3600)\n\ndef double(x):\n    return 2 * x\n")
    solution = syllabus.exercise("1.2").solution_file.read_text()
    (folder / "fourfold.py").write_text("\n".join(line for line in solution.splitlines() if "SOLUTION" not in line))
    report = grade_one(syllabus, list(syllabus), folder, 6.0)
    assert {grade.id: grade.verdict for grade in report.grades} == {"1.1": "out of time (6 seconds)", "1.2": "solved"}
    assert report.odd[-1] == "1.1: out of time (6 seconds)"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights as POSIX has them")
def test_nothing_is_paid_once_the_checkout_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the mode "limits" as one user: the change is seen, by whichever submission, also by those that come after."""
    syllabus = made_up(tmp_path / "root")
    monkeypatch.setattr("kuiper.course.grade.judging_code", lambda root: [root])
    monkeypatch.setattr("kuiper.course.grade.are_alike", lambda mode: True)
    planter = HONEST + f"\nopen({str(tmp_path / 'root' / 'planted.py')!r}, 'w').close()\n"
    folders = [submission(tmp_path, name, code) for name, code in (("a", HONEST), ("b", planter), ("c", HONEST))]
    planted = tmp_path / "root" / "planted.py"

    def done(report: Report) -> None:
        if report.name == "a":
            planted.touch()

    reports = grade_all(
        syllabus,
        [syllabus.exercise("1.1")],
        folders,
        60.0,
        2,
        done,
        "limits",
    )
    assert [report.points for report in reports] == [2, 0, 0]
    assert [report.grades[0].verdict for report in reports] == ["solved", "not trusted", "not trusted"]
    assert "planted.py" in reports[1].odd[-1]


def test_shown_does_nothing_to_a_terminal() -> None:
    assert shown("one\ntwo\x1b]0;passed\x07") == "one\ntwo\\x1b]0;passed\\x07"
    assert len(shown("\x1b" * 999_999)) == MAX_SHOWN
