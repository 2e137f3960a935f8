"""The student's layers in the engine: which exercises are about a model's operators, and how their layers get into it.

The homework plugs into the engine where everything plugs in: ``kuiper.layers.override`` replaces the layers of an
operator type while the graph is built. The manifest says which exercise provides which types, the course's
``adapters.py`` has the classes that turn the student's functions into layers.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from kuiper.course.progress import Progress
from kuiper.course.selection import selected
from kuiper.errors import ExecutionError
from kuiper.layers import Layer, override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kuiper.course.manifest import Exercise
    from kuiper.course.selection import Selection
    from kuiper.graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator

T = TypeVar("T")


class OwnLayerError(Exception):
    """A student's layer for operators of a type raised; ``exercise`` is the one it comes from."""

    def __init__(self, exercise: Exercise, type_name: str, operator: str, error: BaseException) -> None:
        super().__init__(f"{operator} -> {exercise.label}: {type(error).__name__}: {error}")
        self.exercise, self.type_name, self.operator, self.error = exercise, type_name, operator, error


@dataclass
class Attributed(Layer):
    """A student's layer, and the exercise that answers for it."""

    exercise: Exercise
    layer: Layer
    entered: Callable[[str], None]

    def __post_init__(self) -> None:
        super().__init__(self.layer.op)
        self.uses_state = self.layer.uses_state

    def forward(self, *inputs: Any) -> Any:
        self.entered(f"{self.op.name} -> {self.exercise.label}")
        try:
            return self.layer.forward(*inputs)
        except Exception as error:
            raise OwnLayerError(self.exercise, self.op.type, self.op.name, error) from error

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return self.layer.flops(inputs, outputs)


def providers(
    selection: Selection, operators: Sequence[RuntimeOperator], own_product: bool = False
) -> dict[str, Exercise]:
    """Which exercise is about each operator type of a model, solved or not.

    With ``own_product``, one that computes a type with the student's own matrix product comes before others.

    An adapter may have a function ``covers``, which says of an operator whether its exercise is about it; it must be
    about all of a type.
    """
    found: dict[str, Exercise] = {}
    for exercise in selection.syllabus:
        for type_name, name in {**exercise.provides, **(exercise.provides_with_product if own_product else {})}.items():
            of_type = [op for op in operators if op.type == type_name]
            covers = _covers(exercise.course, name) if of_type else None
            if of_type and (covers is None or all(map(covers, of_type))):
                found[type_name] = exercise
    return found


def begun(selection: Selection, known: Mapping[str, Exercise]) -> dict[str, Exercise]:
    """Those of the exercises that the student has begun, or that are solutions."""
    progress = Progress(selection.syllabus.root)

    def is_begun(exercise: Exercise) -> bool:
        kind = selection.kind_of(exercise)
        return kind == "solution" or (kind == "student" and progress.status(exercise) != "not started")

    return {type_name: exercise for type_name, exercise in known.items() if is_begun(exercise)}


def without_failures(
    own: dict[str, Exercise], attempt: Callable[[dict[str, Exercise]], T]
) -> tuple[dict[str, Exercise], T, list[str]]:
    """What an attempt returns with the exercises that raise nothing; those, and what the others have raised.

    Of an exercise that is only begun, what is written stays: a function without a body takes away its own type alone.
    """
    failures: list[str] = []
    while True:
        try:
            return own, attempt(own), failures
        except (OwnLayerError, ExecutionError) as error:
            culprit = _culprit(error)
            failures.append(str(culprit))
            ids = set() if isinstance(culprit.error, NotImplementedError) else {culprit.exercise.id}
            own = {name: ex for name, ex in own.items() if name != culprit.type_name and ex.id not in ids}


def split(
    selection: Selection, known: Mapping[str, Exercise], own: Mapping[str, Exercise]
) -> tuple[list[str], list[str]]:
    """The numbers of the student's exercises, and of those whose place the reference takes, in teaching order."""
    numbers, yours = ({exercise.id for exercise in table.values()} for table in (known, own))
    ordered = [exercise.id for exercise in selection.syllabus if exercise.id in numbers]
    return [id_ for id_ in ordered if id_ in yours], [id_ for id_ in ordered if id_ not in yours]


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


def _factory(exercise: Exercise, type_name: str, entered: Callable[[str], None]) -> Callable[[Any], Layer]:
    """Makes the student's layer for an operator; what goes wrong in it is the exercise's."""

    def make(op: Any) -> Layer:
        entered(f"{op.name} -> {exercise.label}")
        try:
            layer = getattr(course_module(exercise.course, "adapters"), adapter_name(exercise, type_name))(op)
        except (Exception, SystemExit) as error:
            raise OwnLayerError(exercise, type_name, op.name, error) from error
        return Attributed(exercise, layer, entered)

    return make


def adapter_name(exercise: Exercise, type_name: str) -> str:
    """The class in the course's adapters for an operator type that an exercise is about."""
    return {**exercise.provides, **exercise.provides_with_product}[type_name]


def _covers(course: Path, name: str) -> Callable[[RuntimeOperator], bool] | None:
    """The function ``covers`` of an adapter, if it has one; what is wrong with the adapters, building a graph tells."""
    try:
        adapter = getattr(course_module(course, "adapters"), name)
    except (Exception, SystemExit):
        return None
    return getattr(adapter, "covers", None)


def course_module(course: Path, name: str) -> ModuleType:
    """A module of the course itself, run anew: it loads the exercises as the selection of the moment says."""
    path = course / f"{name}.py"
    module = ModuleType(f"{course.name}_{name}")
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module


def _culprit(error: BaseException) -> OwnLayerError:
    """The student's layer behind an error of the engine; an error that has none is raised again."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OwnLayerError):
            return cause
        cause = cause.__cause__
    raise error
