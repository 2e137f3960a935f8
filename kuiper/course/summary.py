"""The end of a test run as a student reads it: at most twelve lines per exercise, one where one says it all."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.course.classroom import Classroom, Outcome, blocked_by, has_no_module, hole, in_words
from kuiper.course.compile_errors import shown
from kuiper.course.handout_record import changed_files
from kuiper.course.layout import BODY, body_width, folded, packed, with_place
from kuiper.course.manifest import test_files
from kuiper.course.progress import bars, next_exercise
from kuiper.language import _, columns, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kuiper.course.manifest import Exercise

MAX_LINES = 12
MOST_NAMES = 3  # of tests that fail, too
FIRST_HINT = 1
WORST_FIRST = ("wrong", "unfinished", "skipped", "blocked", "not started", "waiting", "passed")


@dataclass(frozen=True)
class Verdict:
    """All outcomes of one exercise."""

    exercise: Exercise
    outcomes: tuple[Outcome, ...]

    @property
    def worst(self) -> Outcome:
        """The outcome that is shown: the first of the worst kind."""
        return min(self.outcomes, key=lambda outcome: WORST_FIRST.index(outcome.verdict))

    @property
    def passed(self) -> int:
        return sum(outcome.verdict == "passed" for outcome in self.outcomes)


def verdicts(classroom: Classroom, outcomes: Iterable[Outcome]) -> list[Verdict]:
    """The outcomes of a run by exercise, in teaching order; failures that have their cause below count as blocked."""
    of: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        of.setdefault(outcome.exercise, []).append(outcome)
    return [Verdict(exercise, tuple(of[exercise.id])) for exercise in classroom.syllabus if exercise.id in of]


def report(classroom: Classroom, found: Sequence[Verdict], hint: int) -> list[str]:
    """The lines for all exercises that are not solved, or one if all are."""
    broken = {verdict.exercise.id for verdict in found if verdict.worst.verdict in ("wrong", "unfinished")}
    lines = _passed(classroom, found)
    for verdict in found:
        if verdict.worst.verdict == "passed":
            continue
        needed = [part.id for part in classroom.syllabus.needed_by(verdict.exercise) if part.id in broken]
        if needed and verdict.exercise.id in broken:
            lines += folded(f"{verdict.exercise.label} - {blocked_by(*needed)}")
        elif verdict.worst.verdict in ("blocked", "not started"):
            lines += folded(verdict.worst.lines[0])
        else:
            lines += [*([""] if lines[-1:] != [""] else []), *block(classroom, verdict, hint), ""]
    return lines[:-1] if lines[-1:] == [""] else lines


def _passed(classroom: Classroom, found: Sequence[Verdict]) -> list[str]:
    """A line for exercises of the student that have all passed all their tests, of which none was left out."""
    for verdict in found:
        is_own = classroom.selection.kind_of(verdict.exercise) == "student"
        if not is_own or not verdict.passed == len(verdict.outcomes) == verdict.exercise.test_count:
            return []
    if len(found) == 1:
        words = _("{exercise} - all {total} tests pass")
        return folded(words.format(exercise=found[0].exercise.label, total=found[0].passed))
    ids = " ".join(verdict.exercise.id for verdict in found)
    return folded(_("all tests pass: {exercises}").format(exercises=ids)) if found else []


def block(classroom: Classroom, verdict: Verdict, hint: int) -> list[str]:
    """One failing exercise: the call, what was expected and what came, the mistake or else a hint, what waits.

    Where all that is more than twelve lines, other failures are only counted, then the failure is told in brief.
    """
    exercise, worst = verdict.exercise, verdict.worst
    place = shown(classroom.selection.path(exercise))
    head = _("{exercise} - {passed} of {total} tests pass: {place}").format(
        exercise=exercise.label, passed=verdict.passed, total=len(verdict.outcomes), place=place
    )
    heads = [*with_place(head, place), f"  {worst.test}"]
    room = MAX_LINES - len(heads)
    tails = _tail(classroom, verdict, hint, MOST_NAMES), _tail(classroom, verdict, hint, 0)
    choices = [(lines, tail) for lines in (worst.lines, worst.brief or worst.lines) for tail in tails]
    lines, tail = next((each for each in choices if len(each[0]) + len(each[1]) <= room), choices[-1])
    room = max(room - len(tail), 2)
    body = lines if len(lines) <= room else [*lines[: room - 1], "..."]
    return [*heads, *(f"{BODY}{line}" for line in (*body, *tail)), *worst.script]


def _tail(classroom: Classroom, verdict: Verdict, hint: int, names: int) -> list[str]:
    """What follows a failure. A hint is for a mistake that nobody knows; without a module nothing can be hinted at."""
    exercise, worst, diagnosis = verdict.exercise, verdict.worst, likely_sentence(verdict)
    lines = folded(diagnosis, body_width()) if diagnosis else []
    if has_no_module(worst):
        return lines
    last = []
    is_about = exercise.hints and exercise.ladder(worst.function or exercise.hints[0].function).begins_with(worst.test)
    if exercise.hints and hint == FIRST_HINT and (diagnosis or not is_about):
        last.append(_("hint: {command}").format(command=f"kuiper hint {_ladder_words(exercise, worst.function)}"))
    elif exercise.hints:
        lines += folded(_hint(exercise, worst.function, hint), body_width())
    kinds = ("wrong", "unfinished")
    others = [outcome.test for outcome in verdict.outcomes if outcome.verdict in kinds and outcome is not worst]
    if others:
        last.append(_also_failing(others, names))
    waiting = [other.id for other in classroom.syllabus.blocked_by(exercise)]
    if waiting:
        last.append(_("blocks: {exercises}").format(exercises=" ".join(waiting)))
    return [*lines, *(line for part in packed(last, body_width()) for line in folded(part, body_width()))]


def likely_sentence(verdict: Verdict) -> str:
    """What a report says of the mistake; "" if nothing is known of it."""
    mistakes = likely(verdict)
    return _("likely: this is what you get when {mistakes}").format(mistakes=mistakes) if mistakes else ""


def likely(verdict: Verdict) -> str:
    """The mistakes that explain the failure shown, and of these the ones that explain most of the others too.

    A known mistake that explains none of several other failures of its function has only met the student by chance, and
    so has a slip that does not explain most of them.
    """
    votes = Counter(when for outcome in verdict.outcomes for when in outcome.diagnosis)
    worst = verdict.worst
    others = [outcome for outcome in verdict.outcomes if outcome.is_asked]
    lines_of = {when: line for outcome in verdict.outcomes for when, line in outcome.lines_of.items()}
    known = [when for when in worst.diagnosis if not lines_of.get(when)]
    slips = [when for when in votes if lines_of.get(when) and (known or _explains(when, others))]
    candidates = (known and _rivals(known, slips, others)) or known or slips
    cause = in_words(worst, worst.cause)
    if not candidates and worst.diagnosis:
        return cause
    if worst.is_known and len(others) > 1 and not any(outcome.diagnosis for outcome in others):
        return cause
    most = max((votes[when] for when in candidates), default=0)
    left: dict[Any, str] = {}  # of slips in one line the most natural one says enough
    for when in candidates:
        if votes[when] == most:
            left.setdefault(lines_of.get(when) or when, when)
    said_by = {when: outcome for outcome in verdict.outcomes for when in outcome.diagnosis}
    words = [in_words(said_by[when], when) for when in [*left.values()][:2]]
    return _("{one}, or when {other}").format(one=words[0], other=words[1]) if len(words) > 1 else "".join(words)


def _rivals(known: Sequence[str], slips: Sequence[str], others: Sequence[Outcome]) -> list[str]:
    """The slips behind all failures, where no known mistake is: they are looked for where the known ones fail.

    That they explain the failures before that one was made sure of then.
    """
    of = [set(outcome.diagnosis) for outcome in others]
    if any(all(when in diagnosis for diagnosis in of) for when in known):
        return []
    return [
        when
        for when in slips
        if (since := next((i for i, diagnosis in enumerate(of) if when in diagnosis), None)) is not None
        and all(when in diagnosis for diagnosis in of[since:])
    ]


def _explains(when: str, others: Sequence[Outcome]) -> bool:
    """Whether a slip is behind most of the other failures: one of many slips fits by chance sooner or later."""
    return 4 * sum(when in outcome.diagnosis for outcome in others) >= 3 * len(others)


def ending(classroom: Classroom, found: Sequence[Verdict]) -> list[str]:
    """Whose work was tested, a bar for each course of the run, and the next step."""
    folders = {verdict.exercise.course for verdict in found}
    courses = tuple(course for course in classroom.syllabus.courses if course.folder in folders)
    lines = ["", *bars(courses, classroom.progress)]
    reference = [part.id for part in classroom.syllabus if classroom.selection.kind_of(part) == "solution"]
    if reference:
        yours = [v.exercise.id for v in found if v.exercise.id not in reference and v.worst.verdict == "passed"]
        words = _("yours: {yours}; reference: {reference}")
        lines += folded(words.format(yours=" ".join(yours) or _("none"), reference=" ".join(reference)))
    failing = next((v for v in found if v.worst.verdict in ("wrong", "unfinished", "not started")), None)
    step = failing.exercise if failing else next_exercise(classroom.syllabus, classroom.progress, courses)
    if step is None:
        lines += folded(_("all exercises are solved: kuiper race resnet20 runs a network on your layers"))
    else:
        place = _error_place(failing) or hole(step, failing.worst.function if failing else "")
        lines += next_lines(step, place)
    return lines


def next_lines(step: Exercise, place: str = "") -> list[str]:
    """What comes next, and where: by default at the exercise's first hole."""
    place = place or hole(step)
    words = _("next: {exercise} ({minutes} minutes), {place}")
    return with_place(words.format(exercise=step.label, minutes=step.minutes, place=place), place)


def changed_tests(classroom: Classroom, found: Sequence[Verdict]) -> list[str]:
    """Files of the course that decide what is right, and are not as the course was handed out."""
    root = classroom.syllabus.root
    names = {f"{path.relative_to(root).as_posix()}" for path in test_files(v.exercise for v in found)}
    names |= {f"{verdict.exercise.course.name}/course.toml" for verdict in found}
    changed = changed_files(root, names)
    if not changed:
        return []
    words = _("changed: {files}; only files in exercises/ are yours, kuiper course update brings these back")
    return folded(words.format(files=" ".join(changed)))


def afterwards(classroom: Classroom, found: Sequence[Verdict]) -> list[str]:
    """What to say behind the last exercise of a course, when a run has found its last one solved."""
    lines = []
    for course in classroom.syllabus.courses:
        tested = [verdict for verdict in found if verdict.exercise.course == course.folder]
        solved = all(classroom.progress.status(exercise) == "solved" for exercise in course.exercises)
        if course.afterwards and tested and solved:
            lines += ["", _("{course} is complete.").format(course=course.name)]
            for line in course.afterwards.lines():
                indent = line[: len(line) - len(line.lstrip())]
                lines += folded(line.strip(), first=indent, rest=f"{indent}   ")
    return lines


def miscounted(found: Sequence[Verdict]) -> list[str]:
    """Exercises that seem green but were not tested in full: green means that all tests of the manifest passed."""
    lines = []
    for verdict in found:
        count, wanted = len(verdict.outcomes), verdict.exercise.test_count
        if verdict.passed == count and count > wanted:
            words = _("{exercise}: {count} tests, the manifest counts {wanted}")
            lines += folded(words.format(exercise=verdict.exercise.label, count=count, wanted=wanted))
    return lines


def counts(found: Sequence[Verdict]) -> Counter[str]:
    """How many exercises ended in each way."""
    return Counter(verdict.worst.verdict for verdict in found)


def _error_place(verdict: Verdict | None) -> str:
    """File and line of what does not compile; "" if that is not the failure."""
    if verdict is None or not has_no_module(verdict.worst):
        return ""
    found = re.match(r"(.+?:\d+):", verdict.worst.lines[1])
    return found[1] if found else ""


def _ladder_words(exercise: Exercise, function: str) -> str:
    """What ``kuiper hint`` is asked: the exercise, and the function where it has several."""
    ladder = exercise.ladder(function or exercise.hints[0].function)
    return f"{exercise.id} {ladder.function}" if len(exercise.hints) > 1 else exercise.id


def _hint(exercise: Exercise, function: str, level: int) -> str:
    """A rung of the failing function's ladder; where an exercise has several, with the function's name."""
    ladder = exercise.ladder(function or exercise.hints[0].function)
    several, words = len(exercise.hints) > 1, _ladder_words(exercise, function)
    text = (
        translate(ladder.rungs[level - 1], "hints")
        if level <= len(ladder.rungs)
        else f"kuiper hint {words} --level {level}"
    )
    head = _("hint {level} for {function}: {text}") if several else _("hint {level}: {text}")
    return head.format(level=level, function=ladder.function, text=" ".join(text.split()))


def _also_failing(tests: Sequence[str], most: int) -> str:
    """Up to so many of the functions that fail, too, as many as fit a line, and the number of the other tests."""
    of = Counter(test.partition("[")[0] for test in tests)
    for count in range(min(most, len(of)), 0, -1):
        names = list(of)[:count]
        left = len(tests) - sum(of[name] for name in names)
        some = _(", ").join(f"{name} ({of[name]})" if of[name] > 1 else name for name in names)
        told = _("{names} and {count} more").format(names=some, count=left) if left else some
        line = _("also failing: {tests}").format(tests=told)
        if columns(line) <= body_width():
            return line
    return _("also failing: {count} more tests").format(count=len(tests))
