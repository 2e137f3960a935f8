"""How passes look at the wires between operators, and change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.declined import attempted

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    Merged = tuple[RuntimeOperator, RuntimeOperator]
    """A new operator, and the last of those that it has taken in."""

    Taken = tuple[RuntimeOperator, tuple[RuntimeOperator, ...]]
    """A new operator, and those in whose place it stands."""


def sole_reader(op: RuntimeOperator) -> RuntimeOperator | None:
    """The operator that reads the one output of ``op``, if no other does and it reads it once; otherwise None.

    Only then nobody misses that output when the two become one operator.
    """
    if len(op.outputs) != 1 or len(op.outputs[0].consumers) != 1:
        return None
    reader = op.outputs[0].consumers[0]
    return reader if reader.inputs.count(op.outputs[0]) == 1 else None


def constant_of(operand: RuntimeOperand) -> np.ndarray | None:
    """The array that the file has for an operand; None if an operator computes it."""
    op = operand.producer
    return op.attribute("data").data if op is not None and op.type == "pnnx.Attribute" and "data" in op.attrs else None


def expression_of(op: RuntimeOperator) -> str:
    """The text of an expression, without spaces; empty for any other operator."""
    return op.str_param("expr").replace(" ", "") if op.type == "pnnx.Expression" else ""


def replaced(operators: list[RuntimeOperator], find: Callable[[RuntimeOperator], Taken]) -> list[RuntimeOperator]:
    """The operators, with what ``find`` makes in the place of the first of those for which it stands.

    ``find`` declines where there is nothing to replace (``declined.py``).
    """
    made: dict[RuntimeOperator, RuntimeOperator | None] = {}
    for op in operators:
        taken = attempted(find, op)
        if taken is not None:
            new, old = taken
            substitute(old, new)
            made.update(dict.fromkeys(old))
            made[old[0]] = new
    return [kept for op in operators if (kept := made.get(op, op)) is not None]


def recognised(operators: list[RuntimeOperator], find: Callable[[RuntimeOperator], Merged]) -> list[RuntimeOperator]:
    """The operators, with what ``find`` makes in the place of the last of those for which it stands.

    The others may have more readers; they stay, and are dead code if they have not. ``find`` declines where there is
    nothing to recognise.
    """
    made = {end: new for op in operators if (pair := attempted(find, op)) is not None for new, end in [pair]}
    forget(set(made))
    for end, new in made.items():
        for operand in dict.fromkeys(new.inputs):
            operand.consumers = [*operand.consumers, new]
        end.outputs[0].producer = new
    return [made.get(op, op) for op in operators]


def merge_readers(
    operators: list[RuntimeOperator], merge: Callable[[RuntimeOperator], Merged]
) -> list[RuntimeOperator]:
    """The operators, each merged with its reader until ``merge`` declines.

    The new operator stands in the place of the old one and may be merged again: a convolution with two batch norms.
    """
    result: list[RuntimeOperator] = []
    taken_in: set[RuntimeOperator] = set()
    for op in operators:
        merged = None if op in taken_in else attempted(merge, op)
        while merged is not None:
            new, reader = merged
            substitute((op, reader), new)
            taken_in.add(reader)
            op, merged = new, attempted(merge, new)
        result.append(op)
    return [op for op in result if op not in taken_in]


def substitute(old: tuple[RuntimeOperator, ...], new: RuntimeOperator) -> None:
    """Wire ``new``, whose outputs are some of those of ``old``, in the place of ``old``."""
    for op in old:
        for operand in op.inputs:
            readers = [new if reader in old else reader for reader in operand.consumers]
            operand.consumers = list(dict.fromkeys(readers))
            if operand not in new.inputs:
                operand.consumers = [reader for reader in operand.consumers if reader is not new]
        for operand in op.outputs:
            operand.producer = new if operand in new.outputs else None
    for operand in new.inputs:
        if new not in operand.consumers:
            operand.consumers = [*operand.consumers, new]


def forget(gone: set[RuntimeOperator]) -> None:
    """Let these operators read nothing any more. All at once: an operand may have thousands of readers."""
    for operand in {operand for op in gone for operand in op.inputs}:
        operand.consumers = [reader for reader in operand.consumers if reader not in gone]


def read_instead(operand: RuntimeOperand, other: RuntimeOperand) -> None:
    """Let all who read ``operand`` read ``other``."""
    for reader in operand.consumers:
        reader.inputs = [other if read is operand else read for read in reader.inputs]
    other.consumers = list(dict.fromkeys([*other.consumers, *operand.consumers]))
    operand.consumers = []
