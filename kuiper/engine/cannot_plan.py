"""The errors that say that a graph cannot be planned, or that a plan has no answer.

Any other error of planning is a mistake of kuiper's, unless the layers fail, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class CannotPlanError(Exception):
    """No plan for these shapes; the readable layers will run the graph, and raise what there is to raise.

    There may be one that ends in front of ``op``. ``depends_on_numbers`` says that this holds for other shapes, too.
    """

    def __init__(self, text: str, op: RuntimeOperator | None = None, depends_on_numbers: bool = False) -> None:
        super().__init__(text)
        self.op, self.depends_on_numbers = op, depends_on_numbers


class PlanLeftError(Exception):
    """A plan cannot give the answer; ``is_mistake``: it is one of kuiper's if the layers give it."""

    def __init__(self, text: str, is_mistake: bool) -> None:
        super().__init__(text)
        self.is_mistake = is_mistake


class PlanMismatchError(PlanLeftError):
    """A layer returned something else than when the plan was made: shapes depend on data, the plan does not hold."""

    def __init__(self, text: str, op: RuntimeOperator, is_mistake: bool) -> None:
        super().__init__(text, is_mistake)
        self.op = op


class LayerFailedError(PlanLeftError):
    """A layer raised an error, or a compiled step met what the layer in its place raises an error for."""
