"""What the live page must know of the course before Python runs: lectures, exercises, and the text each begins with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kuiper.course.manifest import read_syllabus
from kuiper.course.task_table import lecture_sections

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Exercise

_TITLE = re.compile(r"<title>(.*?) - kuiper</title>")


def course_table(root: Path, site: Path) -> dict[str, Any]:
    """The table ``course.json`` holds, but for where Python comes from.

    Parameters
    ----------
    root : the repository
    site : the built site, whose lectures the page shows
    """
    syllabus = read_syllabus(root)
    sections = lecture_sections(root / "notebooks")
    courses = [
        {"name": course.name, "number": number, "title": course.title}
        for number, course in enumerate(syllabus.courses, start=1)
    ]
    return {
        "lectures": [
            {"name": path.stem, "title": page_title(path)} for path in sorted((site / "notebooks").glob("[0-9]*.html"))
        ],
        "courses": courses,
        "exercises": [entry(exercise, sections[exercise.id][0]) for exercise in syllabus],
    }


def page_title(page: Path) -> str:
    """The title of a page of the site, without the site's name."""
    found = _TITLE.search(page.read_text(encoding="utf-8"))
    return found[1] if found else page.stem


def entry(exercise: Exercise, lecture: str) -> dict[str, Any]:
    """One exercise."""
    return {
        "id": exercise.id,
        "title": exercise.title,
        "course": exercise.course.name,
        "file": f"{exercise.course.name}/exercises/{exercise.file}",
        "lecture": lecture.removesuffix(".ipynb"),
        "language": "cython" if exercise.is_cython else "python",
        "minutes": exercise.minutes,
        "points": exercise.points,
        "needs": list(exercise.depends_on),
        "hints": [ladder.function for ladder in exercise.hints],
        "skeleton": exercise.student_file.read_text(encoding="utf-8"),
    }
