"""For authors: bring exercises up to date, run the gates and the lectures, write the tables of tasks and of bugs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from kuiper.course.errors import CourseError
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.places import root_here

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    sync = actions.add_parser("sync", help="write exercises/ from solutions/; a changed file is left alone")
    sync.add_argument("ids", nargs="*", metavar="ID", help="an exercise, or a course (default: all)")
    sync.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a byte would differ")
    sync.add_argument(
        "--reset", action="append", default=[], metavar="ID", help="write this one anew, keeping a backup"
    )
    gates = actions.add_parser("gates", help="check exercises: both ways, bugs, leaks, sync, manifest")
    gates.add_argument("ids", nargs="*", metavar="ID", help="an exercise, or a course (default: all)")
    tasks = actions.add_parser("tasks", help="write the table of tasks into each course's README")
    tasks.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a table would differ")
    lectures = actions.add_parser("notebooks", help="run the lectures with the solutions and store their outputs")
    lectures.add_argument("names", nargs="*", metavar="NAME", help="the beginning of a file name (default: all)")
    lectures.add_argument("--check", action="store_true", help="store nothing; run with skeletons and with solutions")
    bugs = actions.add_parser("bugs", help="write docs/bug-bank.md")
    bugs.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: docs/bug-bank.md")


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    console = Console(highlight=False, soft_wrap=True, markup=False)
    if arguments.action == "sync":
        return _sync(syllabus, arguments, console)
    if arguments.action == "gates":
        return _gates(syllabus, arguments.ids, console)
    if arguments.action == "tasks":
        return _tasks(syllabus, arguments.check, console)
    if arguments.action == "notebooks":
        return _notebooks(syllabus, arguments.names, arguments.check, console)
    return _bugs(syllabus, arguments.output or syllabus.root / "docs" / "bug-bank.md", console)


def chosen(syllabus: Syllabus, parts: list[str]) -> list[Exercise]:
    """The exercises that some numbers stand for; all if there are none."""
    if not parts:
        return list(syllabus)
    wanted = {exercise.id for part in parts for exercise in syllabus.matching(part)}
    return [exercise for exercise in syllabus if exercise.id in wanted]


def _sync(syllabus: Syllabus, arguments: argparse.Namespace, console: Console) -> int:
    from kuiper.course import sync

    for exercise in chosen(syllabus, arguments.reset) if arguments.reset else []:
        backup = sync.reset(exercise)
        console.print(f"reset {exercise.label}" + (f"; your version is in {backup}" if backup else ""))
    if arguments.reset:
        return 0
    failed = 0
    for exercise in chosen(syllabus, arguments.ids):
        found: str = "broken"
        written = False
        try:
            found = sync.state(exercise)
            written = not arguments.check and sync.write(exercise)
        except CourseError as error:
            console.print(f"{exercise.label}: {error}")
        if written:
            console.print(f"wrote {exercise.student_file.relative_to(syllabus.root)}")
        elif found == "changed":
            console.print(f"{exercise.label}: changed by hand, left alone (kuiper course sync --reset {exercise.id})")
        elif found not in ("current", "broken"):
            console.print(f"{exercise.label}: {found}")
        failed += found == "broken" or (arguments.check and found != "current")
    return 1 if failed else 0


def _gates(syllabus: Syllabus, ids: list[str], console: Console) -> int:
    from kuiper.course.gates import problems_of

    exercises = chosen(syllabus, ids)
    if not exercises:
        raise CourseError("gates", "exercises", "none")
    problems = problems_of(syllabus, exercises)
    for label, lines in problems.items():
        console.print(label)
        for line in lines:
            console.print(f"  {line}")
    console.print(f"{len(exercises) - len(problems)} of {len(exercises)} exercises pass all gates")
    return 1 if problems else 0


def _tasks(syllabus: Syllabus, check: bool, console: Console) -> int:
    from kuiper.course.task_table import readme_path, readme_with_table

    stale = 0
    for course in syllabus.courses:
        path, text = readme_path(course), readme_with_table(course)
        if path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if not check:
            path.write_text(text, encoding="utf-8")
        console.print(f"{path}: {'expected the table of course.toml, got another' if check else 'written'}")
    return 1 if check and stale else 0


def _notebooks(syllabus: Syllabus, names: list[str], check: bool, console: Console) -> int:
    try:
        from kuiper.course import notebooks
    except ModuleNotFoundError as error:
        expected = "nbclient and nbformat (pip install -e '.[notebooks]')"
        raise CourseError("notebooks", expected, f"no module {error.name}") from error
    files = [path for path in notebooks.notebook_files(syllabus.root) if path.name.startswith(tuple(names) or "")]
    if not files:
        raise CourseError("notebooks", "names that lectures begin with", " ".join(names) or "no lectures")
    failed = 0
    for path in files:
        if check:
            problems = [*notebooks.check(path, "skeleton"), *notebooks.check(path, "solution")]
        else:
            problems = notebooks.write(path)
        for problem in problems:
            console.print(problem)
        failed += bool(problems)
        console.print(f"{path.relative_to(syllabus.root)}: {'not stored' if problems else 'ok' if check else 'stored'}")
    return 1 if failed else 0


def _bugs(syllabus: Syllabus, path: Path, console: Console) -> int:
    from kuiper.course.bug_table import bug_table
    from kuiper.course.gates import run_tests

    exercises = list(syllabus)
    path.write_text(bug_table(exercises, run_tests(exercises, "alone", "--bugs")), encoding="utf-8", newline="\n")
    console.print(f"wrote {path}")
    return 0
