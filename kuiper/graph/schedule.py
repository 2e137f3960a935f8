"""In which order operators run, and how long their outputs are needed.

Two classic algorithms give a topological order, in which every operator stands behind all whose outputs it reads:

    queue (Kahn, 1962)         run what is ready; each finished operator makes its successors a little more ready
    reverse post-order (DFS)   an operator is finished after all its successors; the reverse of finishing is an order

Both are written without recursion, so a chain of 100,000 operators is no problem, and both break ties by the order of
the file, so an order is the same on every run. Each looks at every operator and at every edge a fixed number of times,
and never searches a list for an operator: twice the graph is twice the work. (Each read of ``op.successors`` walks over
the edges anew, so it belongs before a loop, not into one.)
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from kuiper.errors import ModelFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator


def queue_order(operators: Sequence[RuntimeOperator]) -> list[RuntimeOperator]:
    """The operators in breadth-first topological order.

    Raises
    ------
    ModelFormatError
        If some operators wait for each other in a circle.

    Source: A. B. Kahn, "Topological sorting of large networks", CACM 1962.
    """
    waiting = {op: len(op.predecessors) for op in operators}
    ready = deque(op for op in operators if waiting[op] == 0)
    order: list[RuntimeOperator] = []
    while ready:
        op = ready.popleft()
        order.append(op)
        for successor in op.successors:
            waiting[successor] -= 1
            if waiting[successor] == 0:
                ready.append(successor)
    if len(order) < len(operators):
        raise _circle(next(op for op in operators if waiting[op] > 0))
    return order


def depth_first_order(operators: Sequence[RuntimeOperator]) -> list[RuntimeOperator]:
    """The operators in reverse post-order of a depth-first search.

    Raises
    ------
    ModelFormatError
        If some operators wait for each other in a circle.

    Source: Cormen et al., "Introduction to Algorithms", section on topological sort.
    """
    finished: list[RuntimeOperator] = []
    visiting, done = 1, 2
    state: dict[RuntimeOperator, int] = {}
    sources = [op for op in operators if not op.predecessors]
    # Backwards, as are the successors below: the reversal at the end restores the order of the file. A circle may have
    # no source that leads to it. So start once more from every operator that was never reached.
    for root in (*reversed(sources), *operators):
        stack = [(root, iter(reversed(root.successors)))] if root not in state else []
        state.setdefault(root, visiting)
        while stack:
            op, successors = stack[-1]
            successor = next(successors, None)
            if successor is None:
                stack.pop()
                state[op] = done
                finished.append(op)
            elif successor not in state:
                state[successor] = visiting
                stack.append((successor, iter(reversed(successor.successors))))
            elif state[successor] == visiting:
                raise _circle(successor)
    return finished[::-1]


def last_uses(order: Sequence[RuntimeOperator]) -> list[list[int]]:
    """For each step of the order, the indices of the operands that no later step reads.

    A value can be dropped after the step that stands beside it: this is what keeps the memory of a forward pass
    small. Operands without a reader are dropped by the step that produces them.
    """
    last: dict[int, int] = {}
    for step, op in enumerate(order):
        for operand in (*op.outputs, *op.inputs):
            last[operand.index] = step
    dropped: list[list[int]] = [[] for _ in order]
    for index, step in last.items():
        dropped[step].append(index)
    return dropped


def _circle(op: RuntimeOperator) -> ModelFormatError:
    return ModelFormatError(op.where, "a graph without circles", "an operator that waits for its own output")
