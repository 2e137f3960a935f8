"""A student's own folder with the course; and for authors: sync exercises, run gates and lectures, write tables."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from kuiper.cli.terminal import open_console, say
from kuiper.course.errors import CourseError
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.places import root_here
from kuiper.language import _, asked, other_languages, padded, prefer, translate
from kuiper.machine.processes import need_processes

if TYPE_CHECKING:
    import argparse

    from rich.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    start = actions.add_parser("start", help=_("write the course into a folder of your own"))
    words = _("a new or an empty one (default: kuiper-course)")
    start.add_argument("folder", nargs="?", type=Path, default=Path("kuiper-course"), metavar="FOLDER", help=words)
    start.add_argument("--solutions", action="store_true", help=_("with the reference solutions, for instructors"))
    words = _("of files and messages (default: that of the terminal, if kuiper speaks it)")
    start.add_argument("--lang", metavar="LANGUAGE", help=words)
    start.add_argument("--no-git", action="store_true", help=_("do not make a git repository of it"))
    update = actions.add_parser("update", help=_("bring that folder to the installed version; what you wrote stays"))
    update.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help=_("default: the one around here"))
    update.add_argument("--solutions", action="store_true", help=_("add the reference solutions, for instructors"))
    update.add_argument("--lang", metavar="LANGUAGE", help=_("go on in this language (default: the folder's)"))
    sync = actions.add_parser("sync", help=_("write exercises/ from solutions/; a changed file is left alone"))
    sync.add_argument("ids", nargs="*", metavar="ID", help=_("an exercise, or a course (default: all)"))
    sync.add_argument("--check", action="store_true", help=_("write nothing; exit code 1 if a byte would differ"))
    sync.add_argument(
        "--reset", action="append", default=[], metavar="ID", help=_("write this one anew, keeping a backup")
    )
    gates = actions.add_parser("gates", help=_("check exercises: both ways, bugs, leaks, sync, manifest"))
    gates.add_argument("ids", nargs="*", metavar="ID", help=_("an exercise, or a course (default: all)"))
    words = _("try each bug only on the test that is stored for it, if that catches it")
    gates.add_argument("--spot-check", action="store_true", help=words)
    tasks = actions.add_parser("tasks", help=_("write the table of tasks into each course's README"))
    tasks.add_argument("--check", action="store_true", help=_("write nothing; exit code 1 if a table would differ"))
    lectures = actions.add_parser("notebooks", help=_("run the lectures with the solutions and store their outputs"))
    lectures.add_argument("names", nargs="*", metavar="NAME", help=_("the beginning of a file name (default: all)"))
    lectures.add_argument(
        "--check", action="store_true", help=_("store nothing; run with skeletons and with solutions")
    )
    bugs = actions.add_parser("bugs", help=_("run the known mistakes, and store which test catches which"))
    bugs.add_argument("ids", nargs="*", metavar="ID", help=_("an exercise, or a course (default: all)"))
    words = _("list what of lectures and pages is not translated, or not any more; or write what is to be filled in")
    translations = actions.add_parser("translations", help=words)
    translations.add_argument("language", nargs="?", metavar="LANGUAGE", help=_("zh, or a new one (default: all)"))
    words = _("draw the words of the lectures' stored pictures anew")
    translations.add_argument("--pictures", action="store_true", help=words)
    translations.add_argument("--write", nargs="+", type=Path, metavar="FILE", help=_("a lecture or a page"))
    bugs.add_argument("--show", action="store_true", help=_("run nothing: print them, and what is stored"))


def execute(arguments: argparse.Namespace) -> int:
    console = open_console(soft_wrap=True)
    if arguments.action == "start":
        return _start(arguments.folder, arguments.solutions, asked(arguments.lang), not arguments.no_git, console)
    if arguments.action == "update":
        language = asked(arguments.lang) if arguments.lang else ""
        return _update(arguments.folder or Path.cwd(), arguments.solutions, language, console)
    syllabus = read_syllabus(root_here())
    if arguments.action == "sync":
        return _sync(syllabus, arguments, console)
    if arguments.action in ("gates", "notebooks") or (arguments.action == "bugs" and not arguments.show):
        need_processes(arguments.action, "that run what courses have")
    if arguments.action == "gates":
        return _gates(syllabus, arguments, console)
    if arguments.action == "translations":
        from kuiper.course.translations import new_language

        into = new_language(arguments.language) if arguments.language else None
        if arguments.pictures:
            return _translated_pictures(syllabus, into, console)
        return _translations(syllabus, into, arguments.write, console)
    if arguments.action == "tasks":
        return _tasks(syllabus, arguments.check, console)
    if arguments.action == "notebooks":
        return _notebooks(syllabus, arguments.names, arguments.check, console)
    return _show_bugs(syllabus, arguments.ids) if arguments.show else _bugs(syllabus, arguments.ids, console)


def _start(folder: Path, solutions: bool, language: str, with_git: bool, console: Console) -> int:
    from kuiper.course.first_commit import first_commit
    from kuiper.course.handout import start

    names = start(folder, solutions, language)
    prefer(language)
    words = first_commit(folder, f"The course of kuiper {kuiper.__version__}") if with_git else _("not under git")
    console.print(_("{folder}: {count} files; {git}").format(folder=folder, count=len(names), git=words))
    console.print(_("next:"))
    if folder.resolve() != Path.cwd():
        console.print(f"  cd {shlex.quote(str(folder))}")
    if importlib.util.find_spec("pytest") is None:
        console.print("  pip install pytest hypothesis cython setuptools jupyterlab matplotlib")
    first, lectures = (
        _("red: one line for each exercise; the last line names the first"),
        _("the lectures, in the folder notebooks; begin with 00"),
    )
    console.print(f"  pytest course1_tensor       # {first}")
    console.print(f"  jupyter lab                 # {lectures}")
    return 0


def _update(place: Path, solutions: bool, language: str, console: Console) -> int:
    from kuiper.course.handout import course_folder, update
    from kuiper.course.handout_record import language_of

    folder = course_folder(place)
    prefer(language or language_of(folder))
    count = 0
    for change in update(folder, solutions, language):
        count += change.fate != "kept"
        note = _("; ") + change.note if change.note else ""
        console.print(f"{padded(translate(change.fate), 8)} {change.name}{note}")
    words = _("{folder}: {count} files changed; it has the course of kuiper {version}")
    console.print(words.format(folder=folder, count=count, version=kuiper.__version__))
    return 0


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
        words = _("reset {exercise}; your version is in {file}") if backup else _("reset {exercise}")
        console.print(words.format(exercise=exercise.label, file=backup))
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
            console.print(_("wrote {file}").format(file=exercise.student_file.relative_to(syllabus.root)))
        elif found == "changed":
            words = _("{exercise}: changed by hand, left alone ({command})")
            command = f"kuiper course sync --reset {exercise.id}"
            console.print(words.format(exercise=exercise.label, command=command))
        elif found not in ("current", "broken"):
            console.print(f"{exercise.label}: {translate(found)}")
        failed += found == "broken" or (arguments.check and found != "current")
    return 1 if failed else 0


def _gates(syllabus: Syllabus, arguments: argparse.Namespace, console: Console) -> int:
    from kuiper.course.gate_runs import run_all
    from kuiper.course.gates import problems_of
    from kuiper.course.spot_check import spot_check

    exercises = chosen(syllabus, arguments.ids)
    if not exercises:
        raise CourseError("gates", "exercises", "none")
    runs = (spot_check if arguments.spot_check else run_all)(syllabus, exercises)
    problems = problems_of(syllabus, exercises, runs)
    for label, lines in problems.items():
        console.print(label)
        for line in lines:
            console.print(f"  {line}")
    console.print(f"{len(exercises) - len(problems)} of {len(exercises)} exercises pass all gates")
    return 1 if problems else 0


def _tasks(syllabus: Syllabus, check: bool, console: Console) -> int:
    from kuiper.course.task_table import readmes_with_tables

    stale = 0
    for path, text in (found for course in syllabus.courses for found in readmes_with_tables(course)):
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
    for path, problems in notebooks.check_all(files) if check else ((path, notebooks.write(path)) for path in files):
        for problem in problems:
            console.print(problem)
        failed += bool(problems)
        console.print(f"{path.relative_to(syllabus.root)}: {'not stored' if problems else 'ok' if check else 'stored'}")
    return 1 if failed else 0


def _translations(syllabus: Syllabus, language: str | None, write: list[Path] | None, console: Console) -> int:
    from kuiper.course import translations

    if write:
        if not language:
            raise CourseError("translations --write", "a language", "none", hint="kuiper course translations zh ...")
        for source in write:
            path = translations.translation_file(source, language)
            path.parent.mkdir(exist_ok=True)
            path.write_text(translations.outline(source, language), encoding="utf-8")
            console.print(f"wrote {path}")
        return 0
    for name in [language] if language else other_languages():
        count = 0
        for source in translations.sources(syllabus.root):
            for gap in translations.gaps(source, name):
                count += 1
                console.print(f"{source.relative_to(syllabus.root)}, {gap.section or gap.key}: {gap.fate} ({gap.key})")
        console.print(f"{name}: {count} passages are missing, stale or left over")
    return 0


def _translated_pictures(syllabus: Syllabus, language: str | None, console: Console) -> int:
    from kuiper.course.notebooks import notebook_files
    from kuiper.course.picture_texts import write_pictures

    for name in [language] if language else other_languages():
        for source in notebook_files(syllabus.root):
            console.print(f"{source.name}: {write_pictures(source, name)} pictures in {name}")
    return 0


def _bugs(syllabus: Syllabus, ids: list[str], console: Console) -> int:
    from kuiper.course.catches import store_catches
    from kuiper.course.gate_runs import run_tests

    renewed = chosen(syllabus, ids)
    run = run_tests(renewed, "alone", "--bugs")
    if not run.outcomes:
        raise CourseError("bugs", "tests that run", run.output)
    for path in store_catches(syllabus, renewed, run):
        console.print(f"wrote {path}")
    return 0


def _show_bugs(syllabus: Syllabus, ids: list[str]) -> int:
    from kuiper.course.bug_table import bug_table

    say(bug_table(chosen(syllabus, ids)), end="")
    return 0
