"""The table of tasks in a course's README, written from its manifest: between the two ``<!-- tasks -->`` lines;
and what it says behind the last exercise, between the two ``<!-- afterwards -->`` lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.guidance import Afterwards
    from kuiper.course.manifest import Course

MARKER = "<!-- tasks -->"
AFTERWARDS = "<!-- afterwards -->"
RUNS = "runs your exercises together, at any time; what you have not solved is done by the reference, and is listed."


_TASK = re.compile(r"\btask\(\s*\"([\d.]+)\"")


def lecture_sections(notebooks: Path) -> dict[str, tuple[str, str]]:
    """The lecture's file and the title of its section in which each exercise stands; lecture 0 only shows one.

    Parameters
    ----------
    notebooks : the folder of the lectures; there may be none
    """
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(notebooks.glob("*.ipynb"), reverse=True):
        section = ""
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                section = ([section, *re.findall(r"^## (.*)", text, re.MULTILINE)])[-1]
            for id_ in _TASK.findall(text) if cell["cell_type"] == "code" else ():
                found.setdefault(id_, (path.name, section))
    return found


def task_table(course: Course) -> str:
    """One row for each exercise: number, title, the section of the lecture, minutes, points, file."""
    lines = ["| | exercise | lecture | minutes | points | file |", "|---|---|---|---|---|---|"]
    sections = lecture_sections(course.folder.parent / "notebooks")
    for exercise in course.exercises:
        needs = f" (needs {', '.join(exercise.depends_on)})" if exercise.depends_on else ""
        link = f"[{exercise.file}](exercises/{exercise.file})"
        name, section = sections.get(exercise.id, ("", ""))
        lecture = f"[{name[1:3].rstrip('_')} {section}](../notebooks/{name})" if name else ""
        numbers = f"{exercise.minutes} | {exercise.points}"
        lines.append(f"| {exercise.id} | {exercise.title}{needs} | {lecture} | {numbers} | {link} |")
    hours = round(sum(exercise.minutes for exercise in course.exercises) / 60)
    points = sum(exercise.points for exercise in course.exercises)
    lines += ["", f"{len(course.exercises)} exercises, about {hours} hours, {points} points."]
    return "\n".join(lines)


def readme_path(course: Course) -> Path:
    """The README that holds the course's table."""
    return course.folder / "README.md"


def readme_with_table(course: Course) -> str:
    """The README's text with the table as the manifest has it now.

    Raises
    ------
    CourseError
        If the README does not hold the marker line exactly twice.
    """
    path = readme_path(course)
    parts = path.read_text(encoding="utf-8").split(f"{MARKER}\n")
    if len(parts) != 3:
        raise CourseError(str(path), f"the line {MARKER} twice", f"{len(parts) - 1} times")
    before, _, after = parts
    text = f"{before}{MARKER}\n\n{task_table(course)}\n\n{MARKER}\n{after}"
    if course.afterwards is None:
        return text
    parts = text.split(f"{AFTERWARDS}\n")
    if len(parts) != 3:
        raise CourseError(str(path), f"the line {AFTERWARDS} twice", f"{len(parts) - 1} times")
    return f"{parts[0]}{AFTERWARDS}\n\n{afterwards_text(course.afterwards)}\n\n{AFTERWARDS}\n{parts[2]}"


def afterwards_text(words: Afterwards) -> str:
    """What you built, how to run it, what real engines do, three things to try."""
    steps = [f"{number}. {step}" for number, step in enumerate(words.tries, 1)]
    run = [f"**Run it:** `kuiper race {words.race}` {RUNS}"] if words.race else []
    parts = [f"**You built:** {words.built}", *run, f"**Real engines:** {words.engines}", "**Things to try:**"]
    return "\n\n".join([*parts, "\n".join(steps)])
