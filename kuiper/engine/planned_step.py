"""What a planner makes of operators: compiled steps to be and layers in Python, and how long they need their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.engine.values import AnyValue, HostValue, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.rest import Rest
    from kuiper.engine.step import Step
    from kuiper.graph.runtime_operator import RuntimeOperator


@dataclass(frozen=True, slots=True)
class StepCard:
    """What there is to say about a compiled step.

    Where the planner has weighed algorithms, ``expected`` is the time on one thread for which it has taken this one, in
    cycles of the core, and ``rejected`` are the others, each with its own; else 0 and nothing. ``in_library`` says that
    a step calls the C library, whose bits differ from system to system.
    """

    op: RuntimeOperator
    algorithm: str
    flops: int
    bytes: int
    expected: float
    rejected: tuple[tuple[str, float], ...] = ()
    in_library: bool = False


@dataclass(eq=False)
class NativeStep:
    """A compiled step to be: ``make`` builds it once every storage has its place.

    ``window`` is (stride, reach) of a step that can make some rows of its one output from some rows of its first input.
    """

    card: StepCard
    make: Callable[[], Step]
    reads: tuple[Value, ...]
    writes: tuple[Value, ...]
    externals: tuple[tuple[int, HostValue], ...]
    window: tuple[int, int] | None = None


@dataclass(eq=False)
class LayerStep:
    """A layer that runs in Python, on views of the arena and host values.

    With a ``rest``, all that follows the operator runs, too, and nothing of it is planned here.
    """

    op: RuntimeOperator
    inputs: tuple[AnyValue, ...]
    outputs: tuple[HostValue, ...]
    rest: Rest | None = None

    @property
    def algorithm(self) -> str:
        """What runs, in the words of ``model.plan()``."""
        return "with all that follows" if self.rest else "the layer, in Python"

    @property
    def reads(self) -> tuple[Value, ...]:
        return tuple(value for value in self.inputs if isinstance(value, Value))

    @property
    def writes(self) -> tuple[Value, ...]:
        return ()


PlannedStep = NativeStep | LayerStep


def without_idle_imports(steps: Sequence[PlannedStep]) -> list[PlannedStep]:
    """The steps without imports that nobody reads: those of lowerings that looked at a value and then declined."""
    read = {value.storage for step in steps for value in step.reads}
    return [
        step
        for step in steps
        if isinstance(step, LayerStep)
        or step.card.algorithm != "import"
        or any(value.storage in read for value in step.writes)
    ]


def set_lifetimes(steps: Sequence[PlannedStep]) -> None:
    """Tell each storage from which step to which it is needed."""
    for index, step in enumerate(steps):
        for value in (*step.reads, *step.writes):
            value.storage.used_by(index)
