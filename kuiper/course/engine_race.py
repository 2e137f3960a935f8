"""The race of the student's own engine: a model on everything that the courses have built, timed beside kuiper.

What is solved is the student's, what is not is the reference's, and both are listed: so the engine runs from the first
exercise on, and fills up.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from kuiper.course.errors import CourseError
from kuiper.course.importer import load_exercise
from kuiper.course.progress import Progress
from kuiper.course.race import TOLERANCE, YOUR_ENGINE, Divergence, Result, milliseconds, relative_error
from kuiper.course.selection import selected
from kuiper.graph.sample_inputs import sample_inputs
from kuiper.models import bundled

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from kuiper.course.selection import Kind, Selection


def engine_contestant(name: str) -> tuple[Path, tuple[np.ndarray, ...]]:
    """The files of the model, and what to feed it: "resnet20", or the path of a .param file."""
    path = bundled("cifar_resnet20") if name in ("resnet20", "cifar_resnet20") else Path(name)
    return path, tuple(sample_inputs(kuiper.load(path)))


def engine_race(
    selection: Selection, name: str, param: Path, inputs: tuple[np.ndarray, ...], entered: Callable[[str], None]
) -> Result:
    """Run a model on the engine of the last exercise: solved exercises are the student's, the others the reference's.

    Raises
    ------
    CourseError
        If the courses have no exercise that builds an engine.
    """
    parts = selection.syllabus.engine_parts()
    if not parts:
        raise CourseError("race", "a course with an exercise that builds an engine", "none")
    capstone = parts[-1]
    progress = Progress(selection.syllabus.root)
    own = [part for part in parts if progress.status(part) == "solved"]
    kinds: dict[str, Kind] = {part.id: "student" if part in own else "solution" for part in selection.syllabus}
    yours, others = ([part.id for part in parts if (part in own) is mine] for mine in (True, False))
    reference = kuiper.load(param, optimize=False)
    ladder: dict[str, float] = {}
    failures, divergence = [], None
    entered(capstone.label)
    with selected(replace(selection, kind="solution", kinds=kinds, mode="fast")):
        try:
            engine = getattr(load_exercise(capstone.id), str(capstone.builds))(param, param.with_suffix(".bin"))
            answer = reference.forward(*inputs)
            got, wanted = engine(*inputs), answer if isinstance(answer, tuple) else (answer,)
            error = max((relative_error(a, b) for a, b in zip(got, wanted, strict=True)), default=0.0)
            if not error <= TOLERANCE:
                divergence = Divergence("the answer", param.name, capstone.label, error)
            ladder[YOUR_ENGINE] = milliseconds(engine, inputs)
        except Exception as error:
            failures.append(f"{capstone.label}: {type(error).__name__}: {error}")
    ladder["kuiper, operator by operator"] = milliseconds(reference, inputs)
    ladder["kuiper"] = milliseconds(kuiper.load(param), inputs)
    return Result(f"{name} on your engine", yours, others, failures, divergence, ladder)
