from __future__ import annotations

import shutil
from pathlib import Path

from kuiper.course.manifest import read_syllabus
from kuiper.course.submission import suspicious, take_in

ROOT = Path(__file__).parents[2]


def test_suspicious_names_what_an_exercise_has_no_need_for() -> None:
    assert suspicious("import ctypes\nfrom kuiper.layers import operators\n") == [
        "mentions kuiper.layers",
        "mentions ctypes",
    ]
    assert suspicious("def f(x):\n    return 2 * x\n") == []


def test_words_of_the_reference_itself_are_not_odd(tmp_path: Path) -> None:
    syllabus = read_syllabus(ROOT)
    exercise = syllabus.exercise("5.7")
    submission = tmp_path / "ada"
    submission.mkdir()
    shutil.copyfile(exercise.solution_file, submission / exercise.file)
    assert take_in(syllabus, submission, tmp_path / "home") == []
    (submission / exercise.file).write_text("import ctypes\n")
    assert take_in(syllabus, submission, tmp_path / "home") == ["5.7: mentions ctypes"]
