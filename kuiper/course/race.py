"""The race: a real network on the student's own layers, compared with the reference operator by operator, and timed.

The homework plugs into the engine where everything plugs in: ``kuiper.layers.override`` replaces the layers of an
operator type while the graph is built. The manifest says which exercise provides which types, the course's
``adapters.py`` has the classes that turn the student's functions into layers.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.course.places import state_folder
from kuiper.course.progress import Progress
from kuiper.course.selection import Selection, selected
from kuiper.course.state_file import read_state, write_state
from kuiper.errors import ExecutionError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import Layer, override, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kuiper.course.manifest import Exercise

TOLERANCE = 1e-4
YOUR_LAYERS = "your layers"
YOUR_ENGINE = "your engine"
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


class OwnLayerError(Exception):
    """A student's layer raised; ``exercise`` is the one it comes from."""

    def __init__(self, exercise: Exercise, operator: str, error: BaseException) -> None:
        super().__init__(f"{operator} -> {exercise.label}: {type(error).__name__}: {error}")
        self.exercise, self.operator, self.error = exercise, operator, error


@dataclass
class Attributed(Layer):
    """A student's layer, and the exercise that answers for it."""

    exercise: Exercise
    layer: Layer
    entered: Callable[[str], None]

    def __post_init__(self) -> None:
        super().__init__(self.layer.op)

    def forward(self, *inputs: Any) -> Any:
        self.entered(f"{self.op.name} -> {self.exercise.label}")
        try:
            return self.layer.forward(*inputs)
        except Exception as error:
            raise OwnLayerError(self.exercise, self.op.name, error) from error

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return self.layer.flops(inputs, outputs)


@dataclass(frozen=True)
class Divergence:
    """The first operator whose output is not the reference's."""

    operator: str
    type: str
    exercise: str
    error: float


@dataclass(frozen=True)
class Result:
    """A finished race: whose exercises ran, where they first went wrong, and the ladder of times in milliseconds.

    ``answer`` says in words what came out, where somebody can say that.
    """

    model: str
    yours: list[str]
    reference: list[str]
    failures: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
    ladder: dict[str, float] = field(default_factory=dict)
    answer: str = ""


def providers(selection: Selection, types: set[str]) -> dict[str, Exercise]:
    """Which exercise stands behind each operator type of a model: those that the student has begun, or solutions."""
    progress = Progress(selection.syllabus.root)

    def is_begun(exercise: Exercise) -> bool:
        kind = selection.kind_of(exercise)
        return kind == "solution" or (kind == "student" and progress.status(exercise) != "not started")

    return {
        type_name: exercise
        for exercise in selection.syllabus
        for type_name in exercise.provides
        if type_name in types and is_begun(exercise)
    }


def race(
    selection: Selection,
    name: str,
    load: Callable[[bool], RuntimeGraph],
    inputs: tuple[np.ndarray, ...],
    entered: Callable[[str], None] = lambda place: None,
) -> Result:
    """Run a model on the student's layers; a layer that raises is replaced by the reference's, and named."""
    reference = load(False)
    types = {op.type for op in reference.operators}
    own = providers(selection, types)
    known = {id_: ex for ex in selection.syllabus for id_ in ex.provides if id_ in types}
    failures: list[str] = []
    fast = replace(selection, mode="fast")
    while True:
        try:
            graph = build(fast, load, own, entered)
            divergence = first_divergence(reference, graph, inputs, own) if own else None
            break
        except (OwnLayerError, ExecutionError) as error:
            culprit = _culprit(error)
            failures.append(str(culprit))
            own = {type_name: exercise for type_name, exercise in own.items() if exercise.id != culprit.exercise.id}
    yours = sorted({exercise.id for exercise in own.values()})
    others = sorted({exercise.id for exercise in known.values()} - set(yours))
    ladder = {}
    if own:
        ladder[f"{YOUR_LAYERS}, every index checked"] = milliseconds(build(selection, load, own, entered), inputs)
        ladder[YOUR_LAYERS] = milliseconds(graph, inputs)
    ladder["kuiper, operator by operator"] = milliseconds(reference, inputs)
    ladder["kuiper"] = milliseconds(load(True), inputs)
    return Result(name, yours, others, failures, divergence, ladder)


def build(
    selection: Selection,
    load: Callable[[bool], RuntimeGraph],
    own: Mapping[str, Exercise],
    entered: Callable[[str], None],
) -> RuntimeGraph:
    """The model with the student's layers where there are some."""
    with selected(selection), ExitStack() as stack:
        for type_name, exercise in own.items():
            stack.enter_context(override(type_name, _factory(exercise, type_name, entered)))
        return load(False)


def first_divergence(
    reference: RuntimeGraph, graph: RuntimeGraph, inputs: tuple[np.ndarray, ...], own: Mapping[str, Exercise]
) -> Divergence | None:
    """Compare all outputs in the order of execution; an error is relative to the largest value of the reference."""
    wanted: dict[str, tuple[Any, ...]] = {}
    found: list[Divergence] = []

    def remember(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
        wanted[op.name] = outputs

    def compare(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
        if found:
            return
        error = max((relative_error(a, b) for a, b in zip(outputs, wanted[op.name], strict=True)), default=0.0)
        if not error <= TOLERANCE:
            exercise = own[op.type].label if op.type in own else "the reference"
            found.append(Divergence(op.name, op.type, exercise, error))

    reference.forward(*inputs, observer=remember)
    graph.forward(*inputs, observer=compare)
    return found[0] if found else None


def relative_error(got: Any, wanted: Any) -> float:
    """The largest difference by the largest value; infinite where shapes differ."""
    a, b = np.asarray(got), np.asarray(wanted)
    if a.shape != b.shape:
        return float("inf")
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    return float(np.abs(a.astype(np.float64) - b).max(initial=0.0)) / scale


def milliseconds(model: Callable[..., Any], inputs: tuple[np.ndarray, ...]) -> float:
    """The best of a second's calls."""
    best = np.inf
    ends = time.perf_counter() + SECONDS
    while time.perf_counter() < ends or best == np.inf:
        started = time.perf_counter()
        model(*inputs)
        best = min(best, time.perf_counter() - started)
    return float(best) * 1e3


def own_time(ladder: Mapping[str, Any]) -> Any:
    """The time of what is the student's in a ladder, the engine or the layers; None if neither has run.

    >>> own_time({"your layers": 4.0, "kuiper": 0.3}), own_time({"kuiper": 0.3})
    (4.0, None)
    """
    return ladder.get(YOUR_ENGINE, ladder.get(YOUR_LAYERS))


def contestant(name: str) -> tuple[Callable[[bool], RuntimeGraph], tuple[np.ndarray, ...]]:
    """The model, and what to feed it: "resnet20", "expressions", or the path of a .param file."""
    generator = np.random.default_rng(0)
    if name == "expressions":
        shapes = [(2, 3, 32, 32)] * 2
        return _load_expressions, tuple(generator.standard_normal(shape, dtype=np.float32) for shape in shapes)
    from kuiper.graph.sample_inputs import sample_inputs
    from kuiper.models import bundled

    path = bundled("cifar_resnet20") if name in ("resnet20", "cifar_resnet20") else Path(name)
    return lambda optimize: kuiper.load(path, optimize=optimize), tuple(sample_inputs(kuiper.load(path)))


def remember(root: Path, result: Result) -> list[dict[str, Any]]:
    """Append a result to the history; all of it, the newest last."""
    path = state_folder(root) / "race.json"
    before = read_state(path)
    history = [entry for entry in before if _is_entry(entry)] if isinstance(before, list) else []
    history.append({"time": time.strftime("%Y-%m-%dT%H:%M:%S"), **asdict(result)})
    write_state(path, history)
    return history


def _is_entry(entry: Any) -> bool:
    """Whether an entry of the file has what later races are compared with."""
    if not isinstance(entry, dict) or not {"model", "yours", "ladder"} <= entry.keys():
        return False
    times = entry["ladder"]
    return isinstance(times, dict) and (not entry["yours"] or isinstance(own_time(times), (int, float)))


def _culprit(error: BaseException) -> OwnLayerError:
    """The student's layer behind an error of the engine; an error that has none is raised again."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OwnLayerError):
            return cause
        cause = cause.__cause__
    raise error


def _load_expressions(optimize: bool) -> RuntimeGraph:
    graph = RuntimeGraph(pnnx.parse_param(EXPRESSIONS, "expressions"))
    graph.build(registry, optimize)
    return graph


def _factory(exercise: Exercise, type_name: str, entered: Callable[[str], None]) -> Callable[[Any], Layer]:
    """Makes the student's layer for an operator; what goes wrong in it is the exercise's."""

    def make(op: Any) -> Layer:
        entered(f"{op.name} -> {exercise.label}")
        try:
            layer = getattr(course_module(exercise.course, "adapters"), exercise.provides[type_name])(op)
        except (Exception, SystemExit) as error:
            raise OwnLayerError(exercise, op.name, error) from error
        return Attributed(exercise, layer, entered)

    return make


def course_module(course: Path, name: str) -> ModuleType:
    """A module of the course itself, run anew: it loads the exercises as the selection of the moment says."""
    path = course / f"{name}.py"
    module = ModuleType(f"{course.name}_{name}")
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module
