"""The table of tasks in a course's README, written from its manifest: between the two ``<!-- tasks -->`` lines;
and what it says behind the last exercise, between the two ``<!-- afterwards -->`` lines. Each language has its own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.translations import editions, read_translation, translated_lecture, translation_file
from kuiper.language import ENGLISH, _, language, noop, speaking, translate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kuiper.course.guidance import Afterwards
    from kuiper.course.manifest import Course

MARKER = "<!-- tasks -->"
AFTERWARDS = "<!-- afterwards -->"
RUNS = noop(
    "**Run it:** `{command}` runs your exercises together, at any time; "
    "what you have not solved is done by the reference, and is listed."
)
HEADINGS = (noop("exercise"), noop("lecture"), noop("minutes"), noop("points"), noop("file"))

_TASK = re.compile(r"\btask\(\s*\"([\d.]+)\"")


def lecture_sections(notebooks: Path) -> dict[str, tuple[str, str]]:
    """The lecture's file and the title of its section in which each exercise stands; lecture 0 only shows one.

    Titles are in the language that is spoken.

    Parameters
    ----------
    notebooks : the folder of the lectures; there may be none
    """
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(notebooks.glob("*.ipynb"), reverse=True):
        section = ""
        lecture = json.loads(path.read_text(encoding="utf-8"))
        if (spoken := language()) != ENGLISH:
            for cell in lecture["cells"]:
                cell.pop("outputs", None)  # titles are asked for: translating pictures would take most of the time
            lecture = translated_lecture(lecture, read_translation(translation_file(path, spoken)), spoken)
        for cell in lecture["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                section = ([section, *re.findall(r"^## (.*)", text, re.MULTILINE)])[-1]
            for id_ in _TASK.findall(text) if cell["cell_type"] == "code" else ():
                found.setdefault(id_, (path.name, section))
    return found


def task_table(course: Course) -> str:
    """One row for each exercise: number, title, the section of the lecture, minutes, points, file."""
    lines = [f"| | {' | '.join(map(translate, HEADINGS))} |", "|---|---|---|---|---|---|"]
    sections = lecture_sections(course.folder.parent / "notebooks")
    for exercise in course.exercises:
        title = translate(exercise.title, "hints")
        if exercise.depends_on:
            title = _("{title} (needs {exercises})").format(title=title, exercises=_(", ").join(exercise.depends_on))
        link = f"[{exercise.file}](exercises/{exercise.file})"
        name, section = sections.get(exercise.id, ("", ""))
        lecture = f"[{name[1:3].rstrip('_')} {section}](../notebooks/{name})" if name else ""
        numbers = f"{exercise.minutes} | {exercise.points}"
        lines.append(f"| {exercise.id} | {title} | {lecture} | {numbers} | {link} |")
    hours = round(sum(exercise.minutes for exercise in course.exercises) / 60)
    points = sum(exercise.points for exercise in course.exercises)
    words = _("{count} exercises, about {hours} hours, {points} points.")
    lines += ["", words.format(count=len(course.exercises), hours=hours, points=points)]
    return "\n".join(lines)


def readmes_with_tables(course: Course) -> Iterator[tuple[Path, str]]:
    """The READMEs of a course, one in each language that has one, with the tables as the manifest has them now.

    Raises
    ------
    CourseError
        If one does not hold each marker's line exactly twice.
    """
    for name, path in editions(course.folder / "README.md").items():
        with speaking(name):
            text = _with_block(path, path.read_text(encoding="utf-8"), MARKER, task_table(course))
            if course.afterwards is not None:
                text = _with_block(path, text, AFTERWARDS, afterwards_text(course.afterwards))
        yield path, text


def _with_block(path: Path, text: str, marker: str, block: str) -> str:
    parts = text.split(f"{marker}\n")
    if len(parts) != 3:
        raise CourseError(str(path), f"the line {marker} twice", f"{len(parts) - 1} times")
    return f"{parts[0]}{marker}\n\n{block}\n\n{marker}\n{parts[2]}"


def afterwards_text(words: Afterwards) -> str:
    """What you built, how to run it, what real engines do, three things to try."""
    steps = [f"{number}. {translate(step, 'hints')}" for number, step in enumerate(words.tries, 1)]
    built = _("**You built:** {text}").format(text=translate(words.built, "hints"))
    run = [translate(RUNS).format(command=f"kuiper race {words.race}")] if words.race else []
    engines = _("**Real engines:** {text}").format(text=translate(words.engines, "hints"))
    return "\n\n".join([built, *run, engines, _("**Things to try:**"), "\n".join(steps)])
