"""What operators become: compiled steps to be and layers in Python; and how long they need their memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kuiper.engine.values import AnyValue, Buffer, PythonValue, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.rest import Rest
    from kuiper.engine.step import Step
    from kuiper.graph.runtime_operator import RuntimeOperator


class StepKind(Enum):
    """What a compiled step is for: to bring an array onto the arena, to take one out, to run a chain, or to compute."""

    IMPORT = "import"
    EXPORT = "export"
    CHAIN = "chain"
    COMPUTE = "compute"


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What there is to say about a compiled step.

    Where algorithms were weighed, ``expected`` is the time on one thread for which this one was chosen, in
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
    kind: StepKind = StepKind.COMPUTE


@dataclass(eq=False)
class NativeStep:
    """A compiled step to be: ``make`` builds it once every buffer has its place.

    ``window`` is (stride, reach) of a step that can make some rows of its one output from some rows of its first input.
    """

    info: StepInfo
    make: Callable[[], Step]
    reads: tuple[Value, ...]
    writes: tuple[Value, ...]
    bindings: tuple[tuple[int, PythonValue], ...]
    window: tuple[int, int] | None = None


@dataclass(eq=False)
class LayerStep:
    """A layer that runs in Python, on views of the arena and Python values.

    With a ``rest``, all that follows the operator runs, too, and nothing of it is planned here.
    """

    op: RuntimeOperator
    inputs: tuple[AnyValue, ...]
    outputs: tuple[PythonValue, ...]
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


class Lifetime(NamedTuple):
    """The first and the last step that read or write a buffer."""

    first: int
    last: int


def find_lifetimes(steps: Sequence[PlannedStep]) -> dict[Buffer, Lifetime]:
    """From which step to which each buffer is needed that some step reads or writes."""
    found: dict[Buffer, Lifetime] = {}
    for index, step in enumerate(steps):
        for value in (*step.reads, *step.writes):
            first = found[value.buffer].first if value.buffer in found else index
            found[value.buffer] = Lifetime(first, index)
    return found
