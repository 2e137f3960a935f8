"""Matrices that are stored once and read by several operators: a language model looks tokens up in a table, and
multiplies with it at the end.

    table --+--> F.embedding      takes rows of it
            '--> F.linear         multiplies with all of it

Packed for the product, the numbers are all there: rows are then read out of the panels, and the graph drops its own
array, unless somebody else reads it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.operators.embedding import FunctionalEmbedding
from kuiper.layers.operators.linear import FunctionalLinear

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator


def lies_in_panels(table: RuntimeOperand) -> bool:
    """Whether some operator multiplies with the table, and all others that read it do so as well or take rows of it."""
    multiply = [op for op in table.consumers if _multiplies(op, table)]
    return bool(multiply) and all(op in multiply or _takes_rows(op, table) for op in table.consumers)


def _multiplies(op: RuntimeOperator, table: RuntimeOperand) -> bool:
    layer = op.layer
    return type(layer) is FunctionalLinear and layer.number is None and _is_second_of_two(op, table)


def _takes_rows(op: RuntimeOperator, table: RuntimeOperand) -> bool:
    return type(op.layer) is FunctionalEmbedding and _is_second_of_two(op, table)


def _is_second_of_two(op: RuntimeOperator, table: RuntimeOperand) -> bool:
    return len(op.inputs) == 2 and op.inputs[0] is not table and op.inputs[1] is table
