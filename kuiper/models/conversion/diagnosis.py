"""Which operator is the first to compute something that the model never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import kuiper
from kuiper.errors import KuiperError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kuiper.graph.runtime_operator import RuntimeOperator


def first_difference(
    param: str | Path, inputs: Sequence[np.ndarray], steps: Sequence[np.ndarray], tolerance: float
) -> str:
    """The first operator of the graph whose inputs the model has, and whose output it has not; "" if there is none.

    ``steps`` are all arrays that the model computes. Operators are recognised by what comes out, not by name, so it
    does not matter how the converter named, fused or split them, as long as the number of elements is the same.
    """
    if not steps:
        return ""
    graph = kuiper.load(param, optimize=False)
    known = {operand.index for op in graph.input_operators for operand in op.outputs}
    suspects: list[RuntimeOperator] = []
    by_size: dict[int, list[np.ndarray]] = {}
    for step in steps:
        by_size.setdefault(step.size, []).append(step.ravel())

    def observe(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        before = all(operand.index in known for operand in op.inputs)
        for operand, output in zip(op.outputs, outputs, strict=True):
            if not op.inputs or not isinstance(output, np.ndarray) or _is_among(output, by_size, tolerance):
                known.add(operand.index)
        if before and any(operand.index not in known for operand in op.outputs):
            suspects.append(op)

    try:
        graph.forward(*inputs, observer=observe)
    except KuiperError:
        return ""  # the error that was raised before names the operator
    return _described(suspects[0]) if suspects else ""


def _is_among(output: np.ndarray, by_size: dict[int, list[np.ndarray]], tolerance: float) -> bool:
    """Whether the model computes these numbers, within ten times what is accepted of the whole graph."""
    values = output.ravel()
    limit = 0.0
    if values.dtype.kind == "f":
        limit = 10 * tolerance * float(np.nan_to_num(np.abs(values), posinf=0).max(initial=0))
    steps = by_size.get(values.size, ())
    return any(np.allclose(step, values, rtol=0, atol=limit, equal_nan=True) for step in steps)


def _described(op: RuntimeOperator) -> str:
    expression = f" ({op.str_param('expr')})" if op.type == "pnnx.Expression" else ""
    return f"{op.where}{expression}"
