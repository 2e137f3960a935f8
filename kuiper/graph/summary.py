"""``model.summary()``: the operators of a graph with shapes, parameters and floating-point operations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.graph.pnnx.ir import Dimension
from kuiper.graph.report import Column, Report, format_count, format_flops

if TYPE_CHECKING:
    from kuiper.graph.protocols import RunnableGraph
    from kuiper.graph.runtime_operator import RuntimeOperator

Shape = tuple[Dimension, ...]


@dataclass(frozen=True)
class SummaryRow:
    """One operator; ``flops`` is None where a shape is not known."""

    type: str
    name: str
    outputs: list[Shape | None]
    parameters: int
    flops: int | None


@dataclass(frozen=True)
class Summary:
    """A table of operators; ``print`` it, show it in a notebook, or read ``rows``."""

    name: str
    rows: list[SummaryRow]

    @classmethod
    def of(cls, graph: RunnableGraph, inputs: tuple[Any, ...] = ()) -> Summary:
        """The summary of a graph, with the shapes that the file declares.

        Parameters
        ----------
        graph : a graph that has been built
        inputs : one argument for each input; with them the graph runs once, and the shapes are those of that run

        Returns
        -------
        A table with a row for each operator.

        Raises
        ------
        KuiperError
            If an operator fails on these inputs.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> summary = Summary.of(model, (np.zeros((4, 3, 32, 32), np.float32),))
        >>> summary.parameters, summary.rows[0].outputs
        (271690, [(4, 3, 32, 32)])
        """
        shapes: dict[int, Shape | None] = {operand.index: operand.shape for operand in graph.operands}
        if inputs:
            shapes |= _measured_shapes(graph, inputs)
        order = graph.order or graph.operators
        return cls(graph.name, [summary_row(op, shapes) for op in order])

    @property
    def parameters(self) -> int:
        """The number of weights in all operators."""
        return sum(row.parameters for row in self.rows)

    @property
    def flops(self) -> int:
        """Floating-point operations of one forward pass, a multiply-add counted as two."""
        return sum(row.flops or 0 for row in self.rows)

    def report(self) -> Report:
        """The table as text and HTML."""
        rows = [
            (
                row.name,
                row.type,
                ", ".join(format_shape(shape) for shape in row.outputs),
                format_count(row.parameters),
                format_flops(row.flops),
            )
            for row in self.rows
        ]
        columns = [
            Column("operator"),
            Column("type"),
            Column("output"),
            Column("parameters", numeric=True),
            Column("FLOPs", numeric=True),
        ]
        footer = f"{len(rows)} operators, {self.parameters:,} parameters"
        if self.flops:
            unknown = any(row.flops is None for row in self.rows)
            footer += (
                f", {'at least ' if unknown else ''}{format_flops(self.flops)}FLOPs (a multiply-add counts as two)"
            )
        return Report(self.name, columns, rows, footer)

    def __str__(self) -> str:
        return str(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def format_shape(shape: Shape | None) -> str:
    """``(1, 64, ?, ?)``; a lone "?" for an unknown shape."""
    if shape is None:
        return "?"
    return f"({', '.join('?' if size is None else str(size) for size in shape)})"


def summary_row(op: RuntimeOperator, shapes: dict[int, Shape | None]) -> SummaryRow:
    """The row of an operator, with the shapes of operands by their index."""
    inputs = [shapes[operand.index] for operand in op.inputs]
    outputs = [shapes[operand.index] for operand in op.outputs]
    known = [shape for shape in (*inputs, *outputs) if _is_known(shape)]
    flops = 0 if op.layer is None else None
    if op.layer is not None and len(known) == len(inputs) + len(outputs):
        flops = op.layer.flops(known[: len(inputs)], known[len(inputs) :])  # type: ignore[arg-type]
    parameters = sum(math.prod(attr.shape) for attr in op.attrs.values())
    return SummaryRow(op.type, op.name, outputs, parameters, flops)


def _is_known(shape: Shape | None) -> bool:
    return shape is not None and all(isinstance(size, int) for size in shape)


def _measured_shapes(graph: RunnableGraph, inputs: tuple[Any, ...]) -> dict[int, Shape | None]:
    """The shapes of all operands in one run; values that are no arrays have none."""
    shapes: dict[int, Shape | None] = {}

    def observe(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        for operand, value in zip(op.outputs, outputs, strict=True):
            shapes[operand.index] = getattr(value, "shape", None)

    graph.forward(*inputs, observer=observe)
    for op, value in zip(graph.input_operators, inputs, strict=True):
        shapes[op.outputs[0].index] = getattr(value, "shape", op.outputs[0].shape)
    return shapes
