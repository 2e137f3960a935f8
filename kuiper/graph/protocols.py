"""What the graph asks of those that it is handed, and what they ask of the graph.

A graph is handed layers, the registry that makes them, and an engine; it imports none of them. An engine, a summary or
a profile is handed a graph, and does not import it either. Whatever has these fields and methods will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kuiper.graph.layer_protocol import FactsProtocol, LayerProtocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import numpy as np

    from kuiper.graph.fallback import Refusal
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.graph.state import Paging, State

__all__ = [
    "BodyProtocol",
    "ExecutorProtocol",
    "FactsProtocol",
    "LayerProtocol",
    "MakeEngine",
    "MakePage",
    "Observer",
    "OperatorTime",
    "PageProtocol",
    "PlanStepProtocol",
    "RegistryProtocol",
    "RunnableGraph",
    "WiredGraph",
]


class RegistryProtocol(Protocol):
    """What the graph asks of a registry; ``kuiper.layers.registry`` is one."""

    def create(self, op: RuntimeOperator, /) -> LayerProtocol: ...

    def is_supported(self, type_name: str, /) -> bool: ...

    def is_built_in(self, type_name: str, /) -> bool: ...

    def facts(self, type_name: str, /) -> FactsProtocol: ...

    def near_matches(self, type_name: str, /) -> list[str]: ...


class PlanStepProtocol(Protocol):
    """What the graph asks of a step of an engine: whose it is. An operator may have several steps, or none."""

    @property
    def op(self) -> RuntimeOperator: ...


class ExecutorProtocol(Protocol):
    """What the graph asks of an engine: to run the whole graph, or to answer why it leaves that to the layers.

    ``observer`` is called with each step and the seconds it took, in the order of the steps, but not at once: the clock
    of compiled steps is read when the last of them is done. What it was told counts only if there is an answer.

    ``state`` is None for a graph without state; without ``outputs`` it is all that is wanted, and the answer is an
    empty tuple.
    """

    def run(
        self,
        inputs: Sequence[np.ndarray],
        /,
        observer: Callable[[PlanStepProtocol, float], None] | None = None,
        *,
        state: State | None = None,
        outputs: bool = True,
    ) -> tuple[Any, ...] | Refusal: ...

    def report(self, inputs: Sequence[np.ndarray], /, runs: int, state: State | None = None) -> Report: ...

    def plan_for(
        self, inputs: Sequence[np.ndarray], /, max_length: int, outputs: bool, paging: Paging | None
    ) -> object: ...


class WiredGraph(Protocol):
    """What an engine, a summary and a drawing ask of a graph: operators, wired by operands, and their order."""

    name: str
    operators: list[RuntimeOperator]
    operands: list[RuntimeOperand]
    order: list[RuntimeOperator]

    @property
    def input_operators(self) -> list[RuntimeOperator]: ...

    @property
    def output_operators(self) -> list[RuntimeOperator]: ...


class BodyProtocol(WiredGraph, Protocol):
    """What a layer asks of a graph that is its body: the outputs for these arrays, whatever their types."""

    def run_body(self, inputs: Sequence[Any], /) -> tuple[Any, ...]: ...


class OperatorTime(NamedTuple):
    """How long an operator took, or a step of it, in seconds, and when that was known: at its end or later.

    ``clock`` is a time of ``time.perf_counter``.
    """

    op: RuntimeOperator
    seconds: float
    clock: float


class RunnableGraph(WiredGraph, Protocol):
    """What a profile, or a summary for given inputs, asks of a graph: to run while somebody looks on."""

    def forward(self, *inputs: Any, observer: Observer | None = None) -> Any: ...

    def time_operators(self, *inputs: Any) -> list[OperatorTime]: ...


class PageProtocol(Protocol):
    """A page that shows a graph at work: one HTML file, or a frame in a notebook."""

    def save(self, path: str | PathLike[str], /) -> None: ...

    def _repr_html_(self) -> str: ...


Observer = Callable[["RuntimeOperator", tuple[Any, ...], float], None]
"""Is called after each operator with the operator, its outputs and the seconds it took."""

MakeEngine = Callable[[WiredGraph], ExecutorProtocol]
MakePage = Callable[..., PageProtocol]
"""Of a graph and its inputs, as ``kuiper.explore.explore`` is."""
