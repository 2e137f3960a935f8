"""The table of tasks in a course's README, written from its manifest: between the two ``<!-- tasks -->`` lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Course

MARKER = "<!-- tasks -->"


def task_table(course: Course) -> str:
    """One row for each exercise: number, title, minutes, points, file."""
    lines = ["| | exercise | minutes | points | file |", "|---|---|---|---|---|"]
    for exercise in course.exercises:
        needs = f" (needs {', '.join(exercise.depends_on)})" if exercise.depends_on else ""
        link = f"[{exercise.file}](exercises/{exercise.file})"
        lines.append(f"| {exercise.id} | {exercise.title}{needs} | {exercise.minutes} | {exercise.points} | {link} |")
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
    return f"{before}{MARKER}\n\n{task_table(course)}\n\n{MARKER}\n{after}"
