"""One operator, ready to run layer by layer; and the one place that says what failed in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.errors import ExecutionError, KuiperError
from kuiper.graph.boundary import shapes_of
from kuiper.graph.operator_failure import check_results, operator_failure
from kuiper.graph.schedule import last_uses
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.graph.state import State

Observer = Callable[["RuntimeOperator", tuple[Any, ...], float], None]


class OperatorTime(NamedTuple):
    """How long an operator took, or a step of it, in seconds, and when that was known: at its end or later.

    ``clock`` is a time of ``time.perf_counter``.
    """

    op: RuntimeOperator
    seconds: float
    clock: float


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, ready to run: where its inputs lie in the table of values and where its outputs go."""

    op: RuntimeOperator
    forward: Callable[..., Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dropped: tuple[int, ...]
    stateful: bool

    @classmethod
    def of(cls, order: Sequence[RuntimeOperator], returned: Sequence[RuntimeOperand]) -> Iterator[Step]:
        """The order of execution with everything resolved that does not change from call to call."""
        kept = {operand.index for operand in returned}
        order = [op for op in order if op.layer is not None]
        for op, dropped in zip(order, last_uses(order), strict=True):
            assert op.layer is not None
            yield cls(
                op,
                op.layer.forward,
                tuple(operand.index for operand in op.inputs),
                tuple(operand.index for operand in op.outputs),
                tuple(index for index in dropped if index not in kept),
                uses_state(op),
            )

    def run(self, values: list[Any], observer: Observer | None, state: State | None = None) -> None:
        """Fill in the outputs, and drop what nobody will read; ``state`` is that of the session, if the graph has any.

        Raises
        ------
        KuiperError
            If the layer or the observer fails; the message names the operator, its type and the shapes of its inputs.
        """
        started = perf_counter() if observer else 0.0
        results = self._results([values[index] for index in self.inputs], state)
        if observer:
            self._tell(observer, results, perf_counter() - started)
        for index, result in zip(self.outputs, results, strict=True):
            values[index] = result
        for index in self.dropped:
            values[index] = None

    def _results(self, inputs: list[Any], state: State | None) -> tuple[Any, ...]:
        """The outputs of the layer, one entry each."""
        try:
            result = self.forward(*inputs, state.of(self.op.name)) if state and self.stateful else self.forward(*inputs)
            check_results(self.op, result)
        except Exception as error:
            cause = error.__cause__ if isinstance(error, KuiperError) else error
            raise operator_failure(self.op, error, hint=f"inputs: {shapes_of(inputs)}") from cause
        if len(self.outputs) == 1:
            return (result,)
        if not isinstance(result, (tuple, list)) or len(result) != len(self.outputs):
            got = f"{len(result)}" if isinstance(result, (tuple, list)) else type(result).__name__
            raise ExecutionError(self.op.where, f"{len(self.outputs)} outputs", got)
        return tuple(result)

    def _tell(self, observer: Observer, results: tuple[Any, ...], seconds: float) -> None:
        try:
            observer(self.op, results, seconds)
        except KuiperError:
            raise
        except Exception as error:
            raise operator_failure(self.op, error, "an observer that returns") from error


def uses_state(op: RuntimeOperator) -> bool:
    """Whether an operator's layer remembers earlier calls; layers of one's own need not say that they do not."""
    return getattr(op.layer, "uses_state", False)


def print_step(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
    """Print an operator, its output shapes and its time; an observer for ``RuntimeGraph.forward``.

    Parameters
    ----------
    op : the operator that has run
    outputs : its outputs
    seconds : how long it took

    Examples
    --------
    >>> import numpy as np
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> print_step(RuntimeOperator("nn.ReLU", "act"), (np.zeros((1, 8)),), 0.000025)
    nn.ReLU                  act                            25.0 us  (1, 8)
    """
    print(f"{printable(op.type):24} {printable(op.name):24} {seconds * 1e6:10.1f} us  {shapes_of(outputs)}")
