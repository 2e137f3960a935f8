"""The answers of a model and of its graph side by side, number by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kuiper.graph.report import Column, Report

TOLERANCE = 1e-5
"""max|kuiper - model| / max|model| that rounding explains in any network."""


class Row(NamedTuple):
    """One output for one example; ``difference`` is without kuiper's graph passes and engine, ``optimized`` with."""

    inputs: str
    output: int
    shape: str
    largest: float
    difference: float
    optimized: float
    verdict: str

    @property
    def relative(self) -> float:
        """The larger difference, as a fraction of the largest number in the output."""
        worst = max(self.difference, self.optimized)
        return worst / self.largest if self.largest else (0.0 if worst == 0 else float("inf"))


@dataclass(frozen=True)
class Comparison:
    """The outputs of kuiper beside those of the model that the graph was made from.

    ``suspect`` names the first operator that computes something else, ``indifferent`` the outputs that are almost the
    same for the second example as for the first: as long as weights are untrained, a comparison may say little.
    ``rounding`` says of each output that differs by more than ``tolerance`` why it agrees all the same, ``ties`` names
    the examples in which the model chooses among equal numbers, and that agree if the first of them is chosen.
    ``route`` says by which way the graph was made.
    """

    framework: str
    tolerance: float
    rows: tuple[Row, ...]
    suspect: str = ""
    indifferent: tuple[int, ...] = ()
    rounding: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()
    route: str = ""

    @property
    def agrees(self) -> bool:
        """Whether every output does."""
        return all(row.verdict == "agrees" for row in self.rows)

    @property
    def worst(self) -> float:
        """The largest relative difference."""
        return max((row.relative for row in self.rows), default=0.0)

    @property
    def reason(self) -> str:
        """What may be behind a difference, in words for the hint of an error."""
        if self.agrees:
            return ""
        reasons = []
        traced = self.framework not in ("onnxruntime", "ONNX")
        if traced and all(row.verdict == "agrees" for row in self.rows if row.inputs == self.rows[0].inputs):
            reasons.append("it agrees on the inputs it was made with: has a condition or a number become a constant?")
        if self.suspect:
            reasons.append(f"the first operator that computes something else is {self.suspect}")
        if self.worst < 100 * self.tolerance:
            reasons.append("so little may be rounding in a deep or half-precision network; --tolerance accepts it")
        return "; ".join(reasons)

    def report(self) -> Report:
        """The rows as a table for people."""
        columns = [
            Column("inputs"),
            Column("output", numeric=True),
            Column("shape"),
            Column("max |output|", numeric=True),
            Column("difference", numeric=True),
            Column("optimised", numeric=True),
            Column("relative", numeric=True),
            Column("verdict"),
        ]
        rows = [
            (
                row.inputs,
                str(row.output),
                row.shape,
                f"{row.largest:.4g}",
                f"{row.difference:.1e}",
                f"{row.optimized:.1e}",
                f"{row.relative:.1e}",
                row.verdict,
            )
            for row in self.rows
        ]
        footer = f"accepted: relative differences up to {self.tolerance:.0e}"
        footer += "".join(f"\nrounding: {line}" for line in self.rounding)
        footer += "".join(f"\nties: {line}" for line in self.ties)
        footer += f"\nroute: {self.route}" if self.route else ""
        if self.indifferent:
            numbers = ", ".join(map(str, self.indifferent))
            footer += f"\nnote: output {numbers} hardly changes with the inputs (untrained?): this says little of it"
        return Report(f"kuiper beside {self.framework}", columns, rows, footer)


def difference(expected: np.ndarray, got: np.ndarray) -> float:
    """max|expected - got|; equal infinities and NaNs in the same places do not differ.

    >>> difference(np.array([1, np.inf, np.nan]), np.array([1.5, np.inf, np.nan]))
    0.5
    """
    a, b = np.asarray(expected, np.float64), np.asarray(got, np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    return float(np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max(initial=0))


def compared(
    label: str, output: int, expected: np.ndarray, plain: np.ndarray, optimized: np.ndarray, tolerance: float
) -> Row:
    finite = np.abs(np.asarray(expected, np.float64))
    largest = float(finite[np.isfinite(finite)].max(initial=0))
    for got in (plain, optimized):
        if got.shape != expected.shape or got.dtype.kind != expected.dtype.kind:
            verdict = f"differs: {got.shape} {got.dtype}, not {expected.shape} {expected.dtype}"
            return Row(label, output, str(expected.shape), largest, float("inf"), float("inf"), verdict)
    row = Row(
        label, output, str(expected.shape), largest, difference(expected, plain), difference(expected, optimized), ""
    )
    accepted = tolerance if expected.dtype.kind in "fc" else 0
    return row._replace(verdict="agrees" if row.relative <= accepted else "differs")
