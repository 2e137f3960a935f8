"""The race of the student's own engine: what the courses have built so far, timed beside kuiper.

``engine_race`` runs any model on the engine of the last exercise. ``course_race`` runs what the engine can do behind
one course: a tensor, a graph, a convolution network, formulas, a photo, many readers. In both, what is solved is the
student's, what is not is the reference's, and both are listed: so the engine runs from the first exercise on, and
fills up.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import kuiper
from kuiper.course.differences import TOLERANCE, difference
from kuiper.course.errors import CourseError
from kuiper.course.importer import load_exercise
from kuiper.course.ladder import BY_OPERATOR, OF_THE_REFERENCE, YOUR_ENGINE
from kuiper.course.own_layers import course_module
from kuiper.course.progress import Progress
from kuiper.course.race import (
    Divergence,
    Result,
    in_turns,
    milliseconds,
    solutions_of,
)
from kuiper.course.selection import selected
from kuiper.language import _
from kuiper.machine.stopwatch import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import numpy as np

    from kuiper.course.manifest import Course, Exercise
    from kuiper.course.selection import Kind, Selection

    Run = Callable[[], list[np.ndarray]]


def engine_race(
    selection: Selection, name: str, param: Path, inputs: tuple[np.ndarray, ...], entered: Callable[[str], None]
) -> Result:
    """Run a model on the engine of the last exercise: solved exercises are the student's, the others the reference's.

    Parameters
    ----------
    selection : the courses with the student's files
    name : what to call the model
    param : its .param file; the .bin file lies beside it
    inputs : an array for each input of the model
    entered : is told where the race is

    Raises
    ------
    CourseError
        If the courses have no exercise that builds an engine.
    """
    parts = selection.syllabus.engine_parts()
    if not parts:
        raise CourseError("race", "a course with an exercise that builds an engine", "none")
    capstone = parts[-1]
    entered(capstone.label)

    def own() -> Run:
        engine = getattr(load_exercise(capstone.id), str(capstone.builds))(param, param.with_suffix(".bin"))
        return lambda: list(engine(*inputs))

    def reference(optimize: bool) -> Run:
        model = kuiper.load(param, optimize=optimize)

        def run() -> list[np.ndarray]:
            answer = model.forward(*inputs)
            return list(answer) if isinstance(answer, tuple) else [answer]

        return run

    title = f"{name} on your engine"
    result = _race(selection, parts, title, capstone.label, own, reference(False), entered)[0]
    result.ladder[BY_OPERATOR] = milliseconds(reference(False), ())
    result.ladder["kuiper"] = milliseconds(reference(True), ())
    return result


def course_race(selection: Selection, course: Course, entered: Callable[[str], None]) -> Result:
    """Run what the engine can do behind a course: the course's ``engine.py``, on the exercises that its manifest names.

    Parameters
    ----------
    selection : the courses with the student's files
    course : one of those in ``selection.syllabus.races()``
    entered : is told where the race is

    Where ``engine.py`` has ``PER``, a word and a number, a run is that many of it, and the times are those of one.
    Where it has ``difference``, that says in words how a wrong answer differs. Of what goes wrong the part is named in
    whose place the reference makes it right, if there is one.

    Raises
    ------
    CourseError
        If the manifest names an exercise that is not there.
    """
    words = course.afterwards
    assert words is not None, "a course without a race"
    entered(course.name)
    module = course_module(course.folder, "engine")
    parts = [selection.syllabus.exercise(id_) for id_ in words.parts]
    reference: Run = module.reference()
    result, answer = _race(selection, parts, words.race, course.name, module.own, reference, entered)
    result.ladder["kuiper"] = milliseconds(reference, ())
    per, count = getattr(module, "PER", ("run", 1))
    ladder = {name: time / count for name, time in result.ladder.items()}
    result = replace(result, ladder=ladder, per=per)
    if answer is not None and result.divergence is None:
        return replace(result, answer=module.words(answer))
    entered(_("{place}: which part is wrong").format(place=course.name))
    wanted = reference()
    culprit = _wrong_part(selection, result.yours, module.own, wanted)
    doubt = _("{failure} (without your {exercise} it is right)") if culprit else "{failure}"
    failures = [doubt.format(failure=failure, exercise=culprit) for failure in result.failures]
    divergence = result.divergence
    if divergence and answer is not None:
        words_of = getattr(module, "difference", lambda got, wanted: "")
        divergence = replace(divergence, exercise=culprit or course.name, detail=words_of(answer, wanted))
    return replace(result, failures=failures, divergence=divergence)


def _race(
    selection: Selection,
    parts: list[Exercise],
    name: str,
    place: str,
    own: Callable[[], Run],
    reference: Run,
    entered: Callable[[str], None],
) -> tuple[Result, list[np.ndarray] | None]:
    """Make the student's engine, compare its answer with the reference's, time it; and the answer that came out."""
    mixed = _mixed(selection)
    yours, others = (
        [part.id for part in parts if (mixed.kind_of(part) == "student") is mine] for mine in (True, False)
    )
    result = Result(name, yours, others)
    with selected(mixed):
        try:
            entered(_("{place}: your parts are loaded, and compiled where they are new").format(place=place))
            run = own()
            entered(_("{place}: your answer beside the reference").format(place=place))
            got, wanted = run(), reference()
            off = difference(got, wanted).error
            entered(_("{place}: the times").format(place=place))
            runs = {YOUR_ENGINE: run}
            if off <= TOLERANCE and not others and (of_solutions := solutions_of(selection, parts)):
                with selected(replace(of_solutions, mode="fast")):
                    runs[OF_THE_REFERENCE[YOUR_ENGINE]] = own()
            found = in_turns(*(partial(seconds_of, each) for each in runs.values()))
            result.ladder.update(zip(runs, found, strict=True))
        except Exception as error:
            result.failures.append(f"{_raiser(selection, parts, error) or place}: {type(error).__name__}: {error}")
            return result, None
    divergence = Divergence(_("the answer"), name, place, off) if off > TOLERANCE else None
    return replace(result, divergence=divergence), got


def _mixed(selection: Selection) -> Selection:
    """The student's files of what is solved, and the reference's of everything else."""
    progress = Progress(selection.syllabus.root)
    kinds: dict[str, Kind] = {
        part.id: "student" if progress.status(part) == "solved" else "solution" for part in selection.syllabus
    }
    return replace(selection, kind="solution", kinds=kinds, mode="fast")


def _raiser(selection: Selection, parts: list[Exercise], error: Exception) -> str:
    """Which of the student's parts has raised an error: the innermost one that it went through; "" if none."""
    files = {str(selection.path(part)): part.label for part in parts}
    frames = traceback.extract_tb(error.__traceback__)
    return next((files[frame.filename] for frame in reversed(frames) if frame.filename in files), "")


def _wrong_part(selection: Selection, yours: Iterable[str], own: Callable[[], Run], wanted: list[np.ndarray]) -> str:
    """The one of the student's parts in whose place the reference makes the answer right; "" if there is not one.

    What is wrong in one part may be raised in another: pages that are lost are missed where they are taken.
    """
    mixed = _mixed(selection)
    for id_ in yours:
        with selected(replace(mixed, kinds={**mixed.kinds, id_: "solution"})), suppress(Exception):
            if difference(own()(), wanted).error <= TOLERANCE:
                return selection.syllabus.exercise(id_).label
    return ""
