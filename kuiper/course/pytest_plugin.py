"""pytest for exercises: the student's files by default, failures in words, progress at the end.

Loaded by the ``conftest.py`` at the root (and not as an entry point too: pytest refuses to load one plugin twice). Here
stand its options and its fixture; the rest is in pytest_selection, pytest_running and pytest_report.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.errors import CommandError, CourseError
from kuiper.course.phrases import phrase
from kuiper.course.pytest_report import ReportPlugin
from kuiper.course.pytest_running import RunningPlugin
from kuiper.course.pytest_selection import EXERCISE, SelectionPlugin, usage_error

if TYPE_CHECKING:
    from collections.abc import Generator

    from kuiper.course.implementation import Implementation

GENERATED = ("exercises", "solutions", "bugs", "data")
SELECTION = "kuiper-selection"
IMPL = "whose files; alone: each solution with no more than what it depends on; skeleton: each with all others solved"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the classroom."""
    group = parser.getgroup("kuiper", "exercises")
    group.addoption("--impl", choices=("student", "solution", "skeleton", "alone"), default="student", help=IMPL)
    group.addoption("--ref", action="append", default=[], metavar="ID", help="use the reference for this exercise")
    group.addoption(
        "--use-solutions", action="store_true", help="use the reference for what is not selected or untouched"
    )
    group.addoption(
        "--exercise", action="append", default=[], metavar="ID", help="only this exercise, or all of a course"
    )
    group.addoption("--hint", nargs="?", type=int, const=2, default=1, metavar="N", help="show hint N: write --hint=2")
    group.addoption("--call", action="store_true", help="show the call that failed as Python, to be pasted")
    group.addoption("--in-process", action="store_true", help="run your code in pytest's own process, for --pdb and -s")
    group.addoption(
        "--bugs", metavar="JSON", help="run every test on every bug of its exercise too; write who catches whom"
    )
    group.addoption("--bugs-until-caught", metavar="JSON", help="the same, but a bug that is caught is left alone")
    group.addoption("--catchers", metavar="JSON", help="with these: the one test that a bug meets, by exercise and bug")
    group.addoption("--submission", type=Path, metavar="DIR", help="test a submission that kuiper grade has taken in")
    group.addoption("--sandbox", metavar="MODE", help="with --submission: bubblewrap, namespaces or limits")
    group.addoption("--failed", action="append", default=[], metavar="ID", help="with --submission: already tested")
    group.addoption("--speed", action="store_true", help="with --submission: measure the speed of what is solved, too")
    group.addoption("--outcomes", metavar="FILE", help="write how each test ended, line by line; -: to standard output")


def pytest_configure(config: pytest.Config) -> None:
    """Register the hooks that choose tests, run them, and report on them."""
    if config.getoption("--hint") < 1:
        raise usage_error(str(CommandError("--hint", phrase("a number from 1 on"), config.getoption("--hint"))))
    selection = SelectionPlugin(config)
    config.pluginmanager.register(selection, SELECTION)
    config.pluginmanager.register(RunningPlugin(config, selection))
    config.pluginmanager.register(ReportPlugin(config, selection))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected is kept to the end: the search for garbage is not to go through it each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """In a course folder only the tests are tests: exercises, solutions and adapters are not imported by pytest."""
    if collection_path.name in GENERATED and (collection_path.parent / "course.toml").is_file():
        return True
    is_module = collection_path.suffix == ".py" and (collection_path.parent / "course.toml").is_file()
    return True if is_module and not collection_path.name.startswith(("test_", "conftest")) else None


@pytest.fixture
def impl(request: pytest.FixtureRequest) -> Implementation:
    """The functions of the exercise that this test belongs to: the student's, or the reference's."""
    plugin: Any = request.config.pluginmanager.get_plugin(SELECTION)
    exercise = request.node.stash.get(EXERCISE, None)
    if exercise is None:
        raise CourseError(request.node.nodeid, "a test that course.toml lists for an exercise", "none")
    found: Implementation = plugin.classroom(exercise).implementation(exercise)
    return found
