"""The race: a real network on the student's own layers, compared with the reference operator by operator, and timed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

import kuiper
from kuiper.course.differences import difference
from kuiper.course.ladder import BY_OPERATOR, EVERY_INDEX, OF_THE_REFERENCE, YOUR_LAYERS
from kuiper.course.own_layers import begun, build, providers, split, without_failures
from kuiper.course.phrases import said
from kuiper.errors import KuiperError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.made_up import sample_inputs
from kuiper.language import _
from kuiper.layers import registry
from kuiper.machine.stopwatch import seconds_of
from kuiper.models import bundled, bundled_photo
from kuiper.models.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kuiper.course.manifest import Exercise
    from kuiper.course.selection import Selection
    from kuiper.graph.runtime_operator import RuntimeOperator

SECONDS = 1.0

EXPRESSIONS = """7767517
7 6
pnnx.Input x 0 1 0 #0=(2,3,32,32)f32
pnnx.Input y 0 1 1 #1=(2,3,32,32)f32
pnnx.Expression gate 2 1 0 1 2 expr=mul(@0,tanh(@1))
pnnx.Expression mix 2 1 2 0 3 expr=add(mul(@0,2.0),mul(@1,@1))
pnnx.Expression wave 2 1 3 1 4 expr=sub(sin(@0),div(@1,add(exp(@1),1.0)))
pnnx.Expression norm 3 1 4 2 3 5 expr=sqrt(add(mul(@0,@0),add(mul(@1,@1),mul(@2,@2))))
pnnx.Output out 1 0 5
"""


@dataclass(frozen=True)
class Divergence:
    """The first operator whose output is not the reference's; ``detail`` says how, where ``error`` cannot."""

    operator: str
    type: str
    exercise: str
    error: float
    detail: str = ""

    def __str__(self) -> str:
        words = _("{type}, off by {error} of the largest number")
        how = self.detail or words.format(type=self.type, error=f"{self.error:.2g}")
        return _("{operator} -> {exercise} ({how})").format(operator=self.operator, exercise=self.exercise, how=how)


@dataclass(frozen=True)
class Result:
    """A finished race: whose exercises ran, where they first went wrong, and the ladder of times in milliseconds.

    ``answer`` says in words what came out, where somebody can say that. The times are those of one ``per``: of a run of
    the network, or of a token. ``busy`` says how others had the cores meanwhile; "" if they left them. ``machine`` is
    where that was; "" until it is known.
    """

    model: str
    yours: list[str]
    reference: list[str]
    failures: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
    ladder: dict[str, float] = field(default_factory=dict)
    answer: str = ""
    per: str = "run"
    busy: str = ""
    machine: str = ""

    @property
    def is_right(self) -> bool:
        """Whether all that is the student's ran, and agrees: only then its time counts."""
        return self.divergence is None and not self.failures


def race(
    selection: Selection,
    name: str,
    load: Callable[[bool], RuntimeGraph],
    inputs: tuple[np.ndarray, ...],
    entered: Callable[[str], None] = lambda place: None,
    own_product: bool = False,
) -> Result:
    """Run a model on the student's layers; a layer that raises is replaced by the reference's, and named.

    With ``own_product`` the layers that multiply matrices do it with the student's own product.
    """
    reference = load(False)
    known = providers(selection, reference.operators, own_product)
    fast = replace(selection, mode="fast")

    def attempt(own: dict[str, Exercise]) -> tuple[RuntimeGraph, Divergence | None]:
        graph = build(fast, load, own, entered)
        return graph, first_divergence(reference, graph, inputs, own) if own else None

    own, (graph, divergence), failures = without_failures(begun(selection, known), attempt)
    yours, others = split(selection, known, own)
    ladder = {}
    try:
        if own:
            entered(_("the times of your layers"))
            ladder[EVERY_INDEX] = milliseconds(build(selection, load, own, entered), inputs)
            graphs = {YOUR_LAYERS: graph}
            is_all_yours = not (others or failures or divergence)
            if is_all_yours and (solved := solutions_of(fast, own.values())):
                graphs[OF_THE_REFERENCE[YOUR_LAYERS]] = build(solved, load, own, entered)
            times = in_turns(*(partial(seconds_of, partial(each, *inputs)) for each in graphs.values()))
            ladder |= zip(graphs, times, strict=True)
    except KuiperError:
        if divergence is None:
            raise
    entered(_("the times of kuiper"))
    ladder[BY_OPERATOR] = milliseconds(reference, inputs)
    ladder["kuiper"] = milliseconds(load(True), inputs)
    return Result(name, yours, others, failures, divergence, ladder)


def first_divergence(
    reference: RuntimeGraph, graph: RuntimeGraph, inputs: tuple[np.ndarray, ...], own: Mapping[str, Exercise]
) -> Divergence | None:
    """Compare all outputs in the order of execution."""
    comparison = Comparison(own)
    reference.forward(*inputs, observer=comparison.remember)
    try:
        graph.forward(*inputs, observer=comparison.compare)
    except KuiperError:  # a wrong shape is an error of the next layer, too
        if comparison.found is None:
            raise
    return comparison.found


@dataclass
class Comparison:
    """Two observers: ``remember`` for a run of the reference, ``compare`` for the run of the student's behind it."""

    own: Mapping[str, Exercise]
    found: Divergence | None = None
    wanted: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def remember(self, op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        """Keep the outputs."""
        self.wanted[op.name] = outputs

    def compare(self, op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        """Look whether these are the first outputs that differ from those that were kept."""
        if self.found:
            return
        found = difference(outputs, self.wanted[op.name])
        if not found.agrees:
            exercise = self.own[op.type].label if op.type in self.own else _("the reference")
            detail = found.form and f"{op.type}, {said(found.form)}"
            self.found = Divergence(op.name, op.type, exercise, found.error, detail)


def milliseconds(model: Callable[..., Any], inputs: tuple[np.ndarray, ...]) -> float:
    """The best of a second's calls."""
    return in_turns(lambda: seconds_of(lambda: model(*inputs)))[0]


def in_turns(*calls: Callable[[], float]) -> list[float]:
    """The best milliseconds of each, in turns, as many as fit into a second for each; a call tells its seconds.

    Where the machine is busy, or slow for a while, it is so for all of them.
    """
    best = [inf] * len(calls)
    ends = time.perf_counter() + SECONDS * len(calls)
    while time.perf_counter() < ends or inf in best:
        best = [min(before, call()) for before, call in zip(best, calls, strict=True)]
    return [seconds * 1e3 for seconds in best]


def solutions_of(selection: Selection, own: Iterable[Exercise]) -> Selection | None:
    """The same with the solutions of these exercises, all of which are the student's; None if they are not, or lack."""
    parts = list(own)
    needed = [*parts, *(other for part in parts for other in selection.syllabus.needed_by(part))]
    if any(selection.kind_of(part) != "student" or part.id in selection.paths for part in parts):
        return None
    if not all(part.solution_file.is_file() for part in needed):
        return None
    return replace(selection, kind="solution", kinds={})


def candidate(name: str) -> tuple[Callable[[bool], RuntimeGraph], tuple[np.ndarray, ...]]:
    """The model, and what to feed it: "resnet20", "expressions", or the path of a .param file."""
    generator = np.random.default_rng(0)
    if name == "expressions":
        shapes = [(2, 3, 32, 32)] * 2
        return _load_expressions, tuple(generator.standard_normal(shape, dtype=np.float32) for shape in shapes)
    path, inputs = model_and_inputs(name)
    return lambda optimize: kuiper.load(path, optimize=optimize), inputs


def model_and_inputs(name: str) -> tuple[Path, tuple[np.ndarray, ...]]:
    """The .param file of "resnet20", or of a path, and what ``kuiper explore`` would give it: a cat, made-up numbers.

    >>> path, (photo,) = model_and_inputs("resnet20")
    >>> path.name, photo.shape
    ('cifar_resnet20.pnnx.param', (1, 3, 32, 32))
    """
    if name in ("resnet20", "cifar_resnet20"):
        path = bundled("cifar_resnet20")
        with Image.open(bundled_photo()) as photo:
            return path, Subject.of(path, [photo]).inputs
    return Path(name), tuple(sample_inputs(kuiper.load(name)))


def _load_expressions(optimize: bool) -> RuntimeGraph:
    graph = RuntimeGraph(pnnx.parse_param(EXPRESSIONS, "expressions"))
    graph.build(registry, optimize)
    return graph
