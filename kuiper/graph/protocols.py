"""What the graph asks of those that it is handed: layers, the registry that makes them, and an engine.

The graph imports none of them. Whatever has these methods will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperator


class LayerProtocol(Protocol):
    """What the graph asks of a layer."""

    @property
    def is_no_op(self) -> bool: ...

    def forward(self, *inputs: Any) -> Any: ...

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int: ...


class RegistryProtocol(Protocol):
    """What the graph asks of a registry; ``kuiper.layers.registry`` is one."""

    def create(self, op: RuntimeOperator, /) -> LayerProtocol: ...

    def is_supported(self, type_name: str, /) -> bool: ...

    def is_built_in(self, type_name: str, /) -> bool: ...

    def near_matches(self, type_name: str, /) -> list[str]: ...


class PlanStepProtocol(Protocol):
    """What the graph asks of a step of an engine: whose it is. An operator may have several steps, or none."""

    @property
    def op(self) -> RuntimeOperator: ...


class ExecutorProtocol(Protocol):
    """What the graph asks of an engine: to run the whole graph, or to leave it to the layers by answering None.

    ``observer`` is called with each step and the seconds it took, in the order of the steps, but not at once: the clock
    of compiled steps is read when the last of them is done. What it was told counts only if there is an answer.
    """

    def run(
        self, inputs: Sequence[np.ndarray], /, observer: Callable[[PlanStepProtocol, float], None] | None = None
    ) -> tuple[Any, ...] | None: ...

    def report(self, inputs: Sequence[np.ndarray], /, runs: int) -> Report: ...
