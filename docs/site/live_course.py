"""What the live page must know of the course before Python runs: lectures, exercises, and the text each begins with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kuiper.course.manifest import read_syllabus
from kuiper.course.sync import DIGEST, generated_text
from kuiper.course.task_table import lecture_sections
from kuiper.language import ENGLISH, languages, messages, translate

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Exercise

_TITLE = re.compile(r"<title>(.*?) - kuiper</title>")


def course_table(root: Path, site: Path, language: str = ENGLISH) -> dict[str, Any]:
    """The table that ``course.json`` holds, or ``course.zh.json`` in another language, but for where Python comes from.

    Parameters
    ----------
    root : the repository
    site : the built site, whose lectures the page shows
    language : of titles, of the texts of exercises, and of ``messages``, by which the page speaks
    """
    syllabus = read_syllabus(root)
    sections = lecture_sections(root / "notebooks")
    courses = [
        {"name": course.name, "number": number, "title": translate(course.title, "hints", language)}
        for number, course in enumerate(syllabus.courses, start=1)
    ]
    table: dict[str, Any] = {
        "lectures": [
            {"name": path.stem, "title": page_title(path), "page": f"../{path.relative_to(site).as_posix()}"}
            for path in lecture_pages(site, language)
        ],
        "courses": courses,
        "exercises": [entry(exercise, sections[exercise.id][0], language) for exercise in syllabus],
    }
    return table if language == ENGLISH else table | {"messages": messages("live", language)}


def lecture_pages(site: Path, language: str) -> list[Path]:
    """The site's lectures in a language; in English where it does not have one."""
    english = sorted((site / "notebooks").glob("[0-9]*.html"))
    translated = [site / language / "notebooks" / path.name for path in english]
    return [own if own.is_file() else path for own, path in zip(translated, english, strict=True)]


def page_title(page: Path) -> str:
    """The title of a page of the site, without the site's name."""
    found = _TITLE.search(page.read_text(encoding="utf-8"))
    return found[1] if found else page.stem


def entry(exercise: Exercise, lecture: str, language: str) -> dict[str, Any]:
    """One exercise; ``texts`` are those that it may begin with, one for each language, by their hashes."""
    begins = [DIGEST.match(generated_text(exercise, each)) for each in languages()]
    return {
        "id": exercise.id,
        "title": translate(exercise.title, "hints", language),
        "course": exercise.course.name,
        "file": f"{exercise.course.name}/exercises/{exercise.file}",
        "lecture": lecture.removesuffix(".ipynb"),
        "language": "cython" if exercise.is_cython else "python",
        "minutes": exercise.minutes,
        "points": exercise.points,
        "needs": list(exercise.depends_on),
        "hints": [ladder.function for ladder in exercise.hints],
        "skeleton": generated_text(exercise, language),
        "texts": [begin[1] for begin in begins if begin],
    }
