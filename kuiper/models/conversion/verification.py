"""Does the graph compute what the model computes? Both run on the same made-up inputs."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

import kuiper
from kuiper.errors import ExportError, KuiperError
from kuiper.models.conversion.comparison import TOLERANCE, Comparison, Row, compared, difference
from kuiper.models.nested import flat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kuiper.graph import RuntimeGraph

Arrays = tuple[np.ndarray, ...]

TIMES = 4
"""So many times as far as the model's own float32 answer may kuiper's be from the model's answer in float64."""

MOST = 1e-3
"""A relative difference beyond this is put down to rounding only if each operator alone computes the same."""


class Model(Protocol):
    """What ``verify`` compares kuiper with."""

    name: str

    @property
    def framework(self) -> str:
        """What computes the answers."""

    def answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The model's outputs, flat and in order."""

    def exact_answers(self, inputs: Arrays) -> list[np.ndarray]:
        """The outputs as the model computes them in float64, or nothing if it cannot."""

    def shaken_answers(self, inputs: Arrays) -> list[list[np.ndarray]]:
        """The outputs as other roundings would have them, or nothing if it cannot tell."""

    def settled_answers(self, inputs: Arrays) -> tuple[list[np.ndarray], set[str]]:
        """The outputs where, of equal numbers, the first is chosen first, and the functions that met equals."""

    def suspect(self, param: str | Path, inputs: Arrays, tolerance: float) -> str | None:
        """The first operator that computes something else; "" if none does, None if that cannot be told."""


def verify(param: str | Path, model: Model, examples: Mapping[str, Arrays], tolerance: float = TOLERANCE) -> Comparison:
    """Run the graph and the model on every example, inputs under a label, and compare all outputs.

    The first example should be the one that was traced, and at least one another: what became a constant then shows.

    Raises
    ------
    ExportError
        If the model returns nothing, or two answers to the same inputs, or the graph another number of outputs.
    KuiperError
        If kuiper cannot load or run the graph; ``UnsupportedOperatorError`` lists the operators that it lacks.
    """
    graphs = [kuiper.load(param, optimize=optimize) for optimize in (False, True)]
    rows: list[Row] = []
    rounding: list[str] = []
    ties: list[str] = []
    answers: list[list[np.ndarray]] = []
    for label, inputs in examples.items():
        expected = model.answers(inputs)
        answers.append(expected)
        if not expected:
            raise ExportError(model.name, "a tensor returned", "nothing")
        if not rows:
            _refuse_randomness(model, inputs, expected, tolerance)
        plain, optimized = (_outputs(graph, inputs, model, label) for graph in graphs)
        if not len(expected) == len(plain) == len(optimized):
            raise ExportError(model.name, f"{len(expected)} outputs", f"{len(plain)} from the graph")
        triples = list(zip(expected, plain, optimized, strict=True))
        found = [compared(label, i, *triple, tolerance) for i, triple in enumerate(triples)]
        found = _rounded(found, triples, Rounding(model, param, inputs, tolerance), rounding)
        if any(row.verdict != "agrees" for row in found):
            found = _settled(found, model, inputs, (plain, optimized), tolerance, ties)
        rows += found
    indifferent = _indifferent(answers[:2], tolerance)
    comparison = Comparison(model.framework, tolerance, tuple(rows), "", indifferent, tuple(rounding), tuple(ties))
    if comparison.agrees:
        return comparison
    inputs = next(examples[row.inputs] for row in rows if row.verdict != "agrees")
    return replace(comparison, suspect=model.suspect(param, inputs, tolerance) or "")


def _outputs(graph: RuntimeGraph, inputs: Arrays, model: Model, label: str) -> list[np.ndarray]:
    """What a graph answers, where the model does."""
    try:
        return [np.asarray(output) for output in flat(graph(*inputs))]
    except KuiperError as error:
        got = f"an error: {error}"
        raise ExportError(model.name, f"a graph that runs on {label}, as the model does", got) from error


class Rounding:
    """What rounding does to a model on these inputs; each question is asked once, and only if need be."""

    def __init__(self, model: Model, param: str | Path, inputs: Arrays, tolerance: float) -> None:
        self._model, self._param, self._inputs, self._tolerance = model, param, inputs, tolerance

    @cached_property
    def exact(self) -> list[np.ndarray]:
        """The outputs in float64."""
        return self._model.exact_answers(self._inputs)

    @cached_property
    def shaken(self) -> list[list[np.ndarray]]:
        """The outputs with other roundings."""
        return self._model.shaken_answers(self._inputs)

    @cached_property
    def is_innocent(self) -> bool:
        """Whether each operator alone is known to compute the same."""
        return self._model.suspect(self._param, self._inputs, self._tolerance) == ""


def _rounded(
    rows: list[Row], answers: list[tuple[np.ndarray, np.ndarray, np.ndarray]], rounding: Rounding, notes: list[str]
) -> list[Row]:
    """The rows, of which those agree whose difference rounding explains; ``notes`` takes the reasons.

    ``answers`` are for each row those of the model, of the plain graph and of the optimised one.
    """
    judged = []
    for row, (theirs, *ours) in zip(rows, answers, strict=True):
        reason = ""
        if row.verdict == "differs" and theirs.dtype.kind == "f":
            reason = _by_other_rounding(row, theirs, rounding) or _by_float64(row, theirs, ours, rounding)
        if reason and (row.relative < MOST or rounding.is_innocent):
            notes.append(f"{row.inputs}, output {row.output}: {reason}; up to {TIMES} times as far is accepted")
            row = row._replace(verdict="agrees")
        judged.append(row)
    return judged


def _by_other_rounding(row: Row, theirs: np.ndarray, rounding: Rounding) -> str:
    """Why the row agrees: the model, rounded in other ways, is about as far from itself; "" if it is not."""
    others = [answers[row.output] for answers in rounding.shaken if row.output < len(answers)]
    apart = max((difference(theirs, other) for other in others if other.shape == theirs.shape), default=0.0)
    ours = max(row.difference, row.optimized)
    if not others or not ours <= TIMES * apart < np.inf:
        return ""
    return f"rounded in other ways, the model is {apart:.1e} from itself, kuiper {ours:.1e}"


def _by_float64(row: Row, theirs: np.ndarray, ours: list[np.ndarray], rounding: Rounding) -> str:
    """Why the row agrees: kuiper is about as near to the exact answer as the model itself; "" if it is not."""
    exact = rounding.exact
    if row.output >= len(exact) or exact[row.output].shape != theirs.shape:
        return ""
    their_error, *errors = (difference(exact[row.output], answer) for answer in (theirs, *ours))
    if not max(errors) <= TIMES * their_error < np.inf:
        return ""
    scale = row.largest or 1.0
    return f"float32 of the model is {their_error / scale:.1e} from its float64, kuiper {max(errors) / scale:.1e}"


def _settled(
    rows: list[Row],
    model: Model,
    inputs: Arrays,
    ours: tuple[list[np.ndarray], list[np.ndarray]],
    tolerance: float,
    ties: list[str],
) -> list[Row]:
    """The rows beside the answers in which the model chooses the first of equal numbers, if all agree with these.

    ``ours`` are the outputs of the plain graph and of the optimised one; ``ties`` takes what was left open.
    """
    expected, met = model.settled_answers(inputs)
    if not met or len(expected) != len(rows):
        return rows
    triples = enumerate(zip(expected, *ours, strict=True))
    settled = [compared(rows[i].inputs, i, *triple, tolerance) for i, triple in triples]
    if any(row.verdict != "agrees" for row in settled):
        return rows
    choosing = " and ".join(sorted(met))
    ties.append(f"{rows[0].inputs}: {choosing} chooses among equal numbers; it agrees if the first of them comes first")
    return settled


def _refuse_randomness(model: Model, inputs: Arrays, first: list[np.ndarray], tolerance: float) -> None:
    second = model.answers(inputs)
    for a, b in zip(first, second, strict=True):
        if a.shape != b.shape or compared("", 0, a, b, b, max(tolerance, TOLERANCE)).verdict != "agrees":
            hint = "dropout in training mode, or random numbers in forward: a graph has neither"
            raise ExportError(model.name, "the same answer to the same inputs", "two", hint)


def _indifferent(answers: list[list[np.ndarray]], tolerance: float) -> tuple[int, ...]:
    """The outputs of floats that hardly differ between two examples."""
    found = []
    for i, (first, second) in enumerate(zip(*answers, strict=True) if len(answers) == 2 else ()):
        same_shape = first.shape == second.shape and first.dtype.kind == "f" and first.size > 0
        if same_shape and compared("", i, first, second, second, tolerance).relative < 100 * tolerance:
            found.append(i)
    return tuple(found)
