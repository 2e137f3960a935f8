"""What must hold of every exercise before a class may have it. Each gate is a function that lists what is wrong.

The two-way gates need one thing of an exercise to know the rest: its tests depend on its own file and on those that
it stands on, and on nothing else. So "solving exercise i alone turns exactly i's tests green" is two runs for all: each
with its own solution on no more than it declares (all green), and each skeleton with everything else solved (all red).
"""

from __future__ import annotations

import doctest
import json
import os
import re
from typing import TYPE_CHECKING, Any

from kuiper.course.bugs import holders, patched, read_bugs
from kuiper.course.errors import CourseError
from kuiper.course.importer import load
from kuiper.course.manifest import HINTS_AT_LEAST, Exercise, Syllabus
from kuiper.course.markers import regions
from kuiper.course.selection import Selection, selected
from kuiper.course.sync import generated_text, state

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kuiper.course.gate_runs import Runs
BUGS_AT_LEAST = 5
SHORTEST_LEAK = 16  # shorter lines (return out, i += 1) say nothing


def manifest_is_complete(syllabus: Syllabus, exercise: Exercise) -> list[str]:
    """Files, points, minutes, hints and bugs are there, and dependencies come earlier."""
    files = [exercise.solution_file, *(exercise.course / name.split("::")[0] for name in exercise.tests)]
    problems = [f"there is no {path.name}" for path in files if not path.is_file()]
    problems += [
        f"{len(ladder.rungs)} hints for {ladder.function}, expected at least {HINTS_AT_LEAST}"
        for ladder in exercise.hints
        if len(ladder.rungs) < HINTS_AT_LEAST
    ]
    numbers = {name: getattr(exercise, name) for name in ("points", "minutes", "test_count")}
    problems += [f"{name} is {number}" for name, number in numbers.items() if number < 1]
    if not exercise.symbols or not exercise.tests:
        problems.append("symbols and tests must not be empty")
    bugs = read_bugs(exercise)
    if len(bugs) < BUGS_AT_LEAST:
        problems.append(f"{len(bugs)} bugs, expected at least {BUGS_AT_LEAST}")
    order = [other.id for other in syllabus]
    earlier = order[: order.index(exercise.id)]
    late = [id_ for id_ in exercise.depends_on if id_ not in earlier]
    return problems + [f"depends on {id_}, which does not come before it" for id_ in late]


def skeleton_is_in_sync(exercise: Exercise) -> list[str]:
    """``exercises/`` is what sync writes. A student's own edits count only in CI, where nobody is a student."""
    found = state(exercise)
    if found == "current" or (found == "changed" and not os.environ.get("CI")):
        return []
    return [f"exercises/{exercise.file} is {found}; run: kuiper course sync"]


def solution_passes(exercise: Exercise, runs: Runs) -> list[str]:
    """With its solution, on no more than what it declares, exactly as many tests pass as the manifest counts."""
    outcomes = runs.alone.of(exercise)
    problems = [
        f"{o.test} is {o.verdict} with the solution: {' | '.join(o.lines[:4])}"
        for o in outcomes
        if o.verdict != "passed"
    ]
    if len(outcomes) != exercise.test_count:
        why = "" if outcomes else runs.alone.output[-300:]
        problems.append(f"{len(outcomes)} tests ran, test_count is {exercise.test_count} {why}")
    return problems


def skeleton_fails(exercise: Exercise, runs: Runs) -> list[str]:
    """On the skeleton each test fails, with the exercise's own NotImplementedError."""
    outcomes = runs.skeleton.of(exercise)
    problems = [
        f"{o.test} is {o.verdict} on the skeleton: {' | '.join(o.lines[:4])}"
        for o in outcomes
        if o.verdict != "unfinished"
    ]
    return problems if outcomes else ["no test ran on the skeleton"]


def bugs_are_caught(exercise: Exercise, runs: Runs) -> list[str]:
    """Every bug applies, and at least one test fails on it."""
    text = exercise.solution_file.read_text(encoding="utf-8")
    problems = []
    caught = {name for id_, name, *_ in runs.alone.catches if id_ == exercise.id}
    for bug in read_bugs(exercise):
        try:
            patched(text, bug, exercise.bugs_file.name)
        except CourseError as error:
            problems.append(str(error))
            continue
        if bug.name not in caught:
            problems.append(f"bug {bug.name} passes all tests")
    return problems


def functions_have_hints(exercise: Exercise) -> list[str]:
    """Each function that has a hole has a ladder of its own, and each ladder is for a function that is there."""
    text = exercise.solution_file.read_text(encoding="utf-8")
    holes = [region.function for region in regions(text, exercise.id, exercise.file) if "raise Not" in region.hole]
    wanted = list(dict.fromkeys([*exercise.symbols, *holes]))
    problems = [f"there are no hints for {name}" for name in wanted if not exercise.has_ladder(name)]
    names = [ladder.function for ladder in exercise.hints]
    problems += [f"there are hints for {name} twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    known = {*wanted, *(name.partition(".")[0] for name in wanted)}
    return problems + [f"there are hints for {name}, which is not to be written" for name in names if name not in known]


def hints_fit(exercise: Exercise, runs: Runs) -> list[str]:
    """Each test belongs to a function with hints, and the first test that a bug fails to the function that holds it.

    What a first hint is about, there is a test of.
    """
    tests = dict.fromkeys(outcome.test.partition("[")[0] for outcome in runs.alone.of(exercise))
    problems = [f"{test} begins with no function's name" for test in tests if not exercise.function_of_test(test)]
    problems += [
        f"no test begins with {name}, which the first hint for {ladder.function} is to be about"
        for ladder in exercise.hints
        for name in ladder.first
        if not any(test.removeprefix("test_").startswith(name) for test in tests)
    ]
    shown: dict[str, tuple[str, str]] = {}
    for id_, name, test, function in runs.alone.catches:
        if id_ == exercise.id:
            shown.setdefault(name, (test, function))
    for bug in read_bugs(exercise):
        if bug.name not in shown:
            continue  # another gate says so
        test, function = shown[bug.name]
        fitting = holders(exercise, bug)
        if bug.seen_in and function != bug.seen_in:
            problems.append(f"bug {bug.name} is seen in {function} ({test}), its seen_in says {bug.seen_in}")
        elif bug.seen_in and function in fitting:
            problems.append(f"bug {bug.name} needs no seen_in: the hint is about {function}, which holds it")
        elif not bug.seen_in and fitting and function not in fitting:
            problems.append(f"bug {bug.name} is in {' and '.join(sorted(fitting))}; hint about {function} ({test})")
    return problems


def nothing_leaks(exercise: Exercise, pages: Sequence[tuple[str, str]]) -> list[str]:
    """No line of the solution stands in a skeleton, a hint, or one of the pages (name, text)."""
    text = exercise.solution_file.read_text(encoding="utf-8")
    secrets = {line.strip() for region in regions(text, exercise.id, exercise.file) for line in region.lines}
    secrets = {line for line in secrets if len(line) >= SHORTEST_LEAK and not line.startswith("#")}
    public = [("its skeleton", generated_text(exercise)), *pages]
    public += [("a hint", rung) for ladder in exercise.hints for rung in ladder.rungs]
    return [
        f"{name} has the solution's line: {line}"
        for name, content in public
        for line in sorted(secrets)
        if line in content
    ]


def examples_hold(syllabus: Syllabus, exercise: Exercise) -> list[str]:
    """The docstrings' examples are true of the solution."""
    selection = Selection(syllabus, "solution")
    with selected(selection):
        module = load(selection, exercise)
    problems = []
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(verbose=False)
    for name, text in _docstrings(module):
        test = parser.get_doctest(text, dict(vars(module)), name, str(exercise.solution_file), 0)
        lines: list[str] = []
        if runner.run(test, out=lines.append).failed:
            got = " ".join("".join(lines).split())
            problems.append(f"the example of {name} does not hold: {got[-200:]}")
    return problems


def symbols_are_defined(exercise: Exercise) -> list[str]:
    """Every symbol of the manifest is defined in the skeleton, and at least one hole raises."""
    text = generated_text(exercise)
    missing = [name for name in exercise.symbols if not re.search(rf"\b{re.escape(name.split('.')[-1])}\b", text)]
    problems = [f"symbol {name} is not in {exercise.file}" for name in missing]
    if f'raise NotImplementedError("exercise {exercise.id}: ' not in text:
        problems.append("no hole raises NotImplementedError")
    return problems


def published_pages(root: Path) -> list[tuple[str, str]]:
    """The READMEs of the courses and the cells of the notebooks, by name."""
    pages = [(str(path.relative_to(root)), path.read_text(encoding="utf-8")) for path in root.glob("course*/README.md")]
    for path in sorted(root.glob("notebooks/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8")).get("cells", [])
        pages.append((str(path.relative_to(root)), "\n".join("".join(cell.get("source", "")) for cell in cells)))
    return pages


def problems_of(syllabus: Syllabus, exercises: Sequence[Exercise], runs: Runs) -> dict[str, list[str]]:
    """All gates on these exercises: what is wrong, by number; empty if nothing is."""
    pages = published_pages(syllabus.root)
    found: dict[str, list[str]] = {}
    for exercise in exercises:
        gates: list[Any] = [
            lambda ex: manifest_is_complete(syllabus, ex),
            symbols_are_defined,
            functions_have_hints,
            skeleton_is_in_sync,
            lambda ex: solution_passes(ex, runs),
            lambda ex: skeleton_fails(ex, runs),
            lambda ex: bugs_are_caught(ex, runs),
            lambda ex: hints_fit(ex, runs),
            lambda ex: nothing_leaks(ex, pages),
            lambda ex: examples_hold(syllabus, ex),
        ]
        problems: list[str] = []
        for gate in gates:
            problems += _guarded(gate, exercise)
        if problems:
            found[exercise.label] = problems
    return found


def _guarded(gate: Callable[[Exercise], list[str]], exercise: Exercise) -> list[str]:
    """What a gate finds; a gate that cannot even be asked has found something too."""
    try:
        return gate(exercise)
    except (CourseError, OSError) as error:
        return [str(error)]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def _docstrings(module: Any) -> list[tuple[str, str]]:
    """The docstrings of a module, its functions, classes and their methods."""
    found = {module.__name__: module.__doc__ or ""}
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        found[name] = getattr(value, "__doc__", None) or ""
        if isinstance(value, type):
            found.update(
                {
                    f"{name}.{key}": getattr(part, "__doc__", None) or ""
                    for key, part in vars(value).items()
                    if callable(part)
                }
            )
    return [(name, text) for name, text in found.items() if ">>>" in text]
