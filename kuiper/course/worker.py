"""The process that runs a student's code: it reads a call per line, and answers each with what happened.

It knows neither the tests nor what they expect. Whatever it says is taken for a value and compared elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

import kuiper
from kuiper.course import ascii_names, few_exceptions, local_arrays
from kuiper.course.importer import load
from kuiper.course.manifest import read_syllabus
from kuiper.course.observation import Observation, Raised, observe_all
from kuiper.course.selection import Selection, selected
from kuiper.course.trial import trial
from kuiper.course.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable

READY = "ready"


def main() -> int:
    """Serve until the other side closes. The pipes are moved aside first: a student's print must not disturb them."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    serve(requests, answers)
    return 0


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer each line of ``requests`` with a line."""
    syllabuses: dict[str, Any] = {}
    print(READY, file=answers, flush=True)
    for line in requests:
        request = loads(line)
        root = request["root"]
        if root not in syllabuses:
            syllabuses[root] = read_syllabus(Path(root))
        paths = {id_: Path(path) for id_, path in request["paths"].items()}
        selection = Selection(syllabuses[root], paths=paths, mode=request["mode"])
        local_arrays.on_outside = partial(_end, answers, request["number"])
        seen = answer(selection, request)
        raised = seen.raised and tuple(vars(seen.raised).values())
        reply = (request["number"], seen.value, raised, seen.changed, seen.printed)
        print(dumps(reply), file=answers, flush=True)


def _end(answers: TextIO, number: int, error: local_arrays.ArrayIndexError) -> None:
    """Answer with the error, and end: behind the array lies memory that this process needs."""
    raised = tuple(vars(Raised.of(error)).values())
    print(dumps((number, None, raised, {}, "")), file=answers, flush=True)
    os._exit(0)


def answer(selection: Selection, request: dict[str, Any]) -> Observation:
    """Load the exercise and make the call."""
    try:
        with selected(selection):
            exercise = selection.syllabus.exercise(request["exercise"])
            if any(part.is_cython for part in (exercise, *selection.syllabus.needed_by(exercise))):
                prepare_cython()
            module = load(selection, exercise, selection.mode)
            if not request["function"]:
                return Observation()
            finds = _finder(request)
            if "trial" in request:
                return Observation(value=trial(selection, exercise, request, finds))
            return observe_all(finds(module), request["args"], request["kwargs"])
    except (Exception, SystemExit) as error:
        return Observation(raised=Raised.of(error))


def prepare_cython() -> None:
    """Make Cython start sooner, before anything imports it."""
    with contextlib.suppress(ImportError):  # without Cython there is nothing to compile; anyone who tries is told
        ascii_names.use()
        few_exceptions.use()


def _finder(request: dict[str, Any]) -> Callable[[object], Callable[..., Any]]:
    """What gives the function to call, if it is given the module: one of its own, or a test's beside it."""
    if not request["probe"]:
        return lambda module: member(module, request["function"])
    function = probe(request["probe"], request["function"])
    return lambda module: partial(function, module)


def member(module: object, name: str) -> Callable[..., Any]:
    """A function of a module.

    Raises
    ------
    AttributeError
        In the student's words, if it is not there.
    """
    function: Callable[..., Any] | None = getattr(module, name, None)
    if function is None or not callable(function):
        raise AttributeError(f"there is no function {name} in your file")
    return function


def probe(source: str, name: str) -> Callable[..., Any]:
    """A test's own function, to run beside the student's code; it may use ``np``, ``kuiper`` and what it imports."""
    namespace: dict[str, Any] = {"np": np, "kuiper": kuiper}
    exec(compile(source, "<test>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
