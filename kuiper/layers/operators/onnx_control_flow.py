"""If, Loop and Scan, whose bodies are graphs: they run as any graph does, by the engine if the outer one has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.graph.protocols import BodyProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


class LayerWithBodies(Layer):
    """The base: ``bodies`` are the graphs by name, which the graph around the layer makes with the layer itself."""

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if not op.graphs:
            raise self.unsupported("bodies, which only an .onnx file holds", "none")
        self.bodies: Mapping[str, BodyProtocol] = {}

    def take_bodies(self, bodies: Mapping[str, BodyProtocol]) -> None:
        """Be given what runs the bodies."""
        self.bodies = bodies


@register("If")
class If(LayerWithBodies):
    """The outputs of ``then_branch`` if the first input is true, else those of ``else_branch``.

    The inputs behind it are what the bodies read of the graph around them, first ``then_inputs`` for the one.

    Source: ONNX, If.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.split = op.int_param("then_inputs")

    def chosen(self, condition: Any, captured: Sequence[Any]) -> tuple[BodyProtocol, Sequence[Any]]:
        """The body that a condition asks for, and which of what the two read are its inputs.

        Raises
        ------
        ShapeError
            If the condition has not one element.
        """
        self.expect(np.size(condition) == 1, "a condition of one element", np.shape(condition))
        if np.reshape(condition, -1)[0]:
            return self.bodies["then_branch"], captured[: self.split]
        return self.bodies["else_branch"], captured[self.split :]

    def forward(self, condition: Any, *captured: Any) -> Any:
        body, inputs = self.chosen(condition, captured)
        results = body.run_body(inputs)
        return results[0] if len(results) == 1 else results


@register("Loop")
class Loop(LayerWithBodies):
    """A body that runs until its limit or until its condition is false.

    Inputs: the limit and the first condition, if there are such, the ``states``, what the body reads of the graph
    around it. The body takes the number of the run, the condition and the states, and gives the next condition, the
    next states, and rows: those of all runs together are the outputs behind the last states.

    Source: ONNX, Loop.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.has_limit, self.has_condition = op.bool_param("has_limit"), op.bool_param("has_condition")
        self.states = op.int_param("states")
        texts = op.params["empty_shapes"].value if op.has_param("empty_shapes") else []
        self.empty_shapes = [tuple(int(size) for size in text.split(",") if size) for text in texts]
        types = op.params["empty_types"].value if op.has_param("empty_types") else []
        self.empty_types = [np.dtype(name) for name in types] or [np.dtype(np.float32)] * len(self.empty_shapes)

    @property
    def ends(self) -> int:
        """How many of the first inputs say when it ends."""
        return self.has_limit + self.has_condition

    @property
    def is_counted(self) -> bool:
        """Whether the limit alone ends it: the body passes the condition on as it is given, or says that it is true."""
        (end,) = self.bodies["body"].output_operators[:1]
        goes_on = end.inputs[0].producer
        if not self.has_limit or goes_on is None:
            return False
        if goes_on.type == "pnnx.Input":
            return end.inputs[0] is self.bodies["body"].input_operators[1].outputs[0]
        return goes_on.type == "pnnx.Attribute" and bool(np.all(goes_on.attribute("data").data))

    def forward(self, *inputs: Any) -> Any:
        values = list(inputs)
        limit = int(np.reshape(values.pop(0), ())) if self.has_limit else None
        condition = bool(np.reshape(values.pop(0), ())) if self.has_condition else True
        states, captured = values[: self.states], values[self.states :]
        rows: list[list[Array]] = [[] for _ in self.empty_shapes]
        run = 0
        while condition and (limit is None or run < limit):
            given = (np.array(run, np.int64), np.array(condition), *states, *captured)
            going_on, *results = self.bodies["body"].run_body(given)
            states = results[: self.states]
            for collected, row in zip(rows, results[self.states :], strict=True):
                collected.append(row)
            condition = bool(np.reshape(going_on, ()))
            run += 1
        empty = zip(self.empty_shapes, self.empty_types, strict=True)
        collected_rows = [self._together(row, *one) for row, one in zip(rows, empty, strict=True)]
        outputs = (*states, *collected_rows)
        return outputs[0] if len(outputs) == 1 else outputs

    def _together(self, rows: Sequence[Array], shape: tuple[int, ...], dtype: np.dtype) -> Array:
        return _stacked(rows, 0, self.op.where) if rows else np.zeros((0, *shape), dtype)


@register("Scan")
class Scan(LayerWithBodies):
    """A body that runs once for each row of the last ``rows`` inputs, with ``states`` that it computes anew each time.

    ``input_axes`` and ``output_axes`` say along which axes rows are taken and put, the directions 1 from the last to
    the first. With ``batched``, all have an axis of sequences in front, each of which is scanned on its own.

    Source: ONNX, Scan.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.states, self.rows = op.int_param("states"), op.int_param("rows")
        self.input_axes, self.output_axes = op.ints_param("input_axes"), op.ints_param("output_axes")
        self.input_reversed = op.ints_param("input_directions")
        self.output_reversed = op.ints_param("output_directions")
        self.batched = op.bool_param("batched")

    def forward(self, *inputs: Array) -> Any:
        own, captured = inputs[: self.states + self.rows], inputs[self.states + self.rows :]
        if not self.batched:
            outputs = self._scanned(own, captured)
        else:
            each = [self._scanned([one[i] for one in own], captured) for i in range(len(own[0]))]
            outputs = [np.stack(parts) for parts in zip(*each, strict=True)]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _scanned(self, own: Sequence[Array], captured: Sequence[Array]) -> list[Array]:
        states, scanned = list(own[: self.states]), own[self.states :]
        for one, axis in zip(scanned, self.input_axes, strict=True):
            self.expect(-one.ndim <= axis < one.ndim, f"an input with axis {axis}", one.shape)
        columns = [np.moveaxis(one, axis, 0) for one, axis in zip(scanned, self.input_axes, strict=True)]
        columns = [one[::-1] if back else one for one, back in zip(columns, self.input_reversed, strict=True)]
        lengths = {len(one) for one in columns}
        self.expect(len(lengths) == 1, "inputs with as many rows", [one.shape for one in scanned])
        rows: list[list[Array]] = [[] for _ in self.output_axes]
        for row in zip(*columns, strict=True):
            results = self.bodies["body"].run_body((*states, *row, *captured))
            states = list(results[: self.states])
            for collected, one in zip(rows, results[self.states :], strict=True):
                collected.append(one)
        pairs = zip(rows, self.output_axes, self.output_reversed, strict=True)
        return [*states, *(_stacked(one[::-1] if back else one, axis, self.op.where) for one, axis, back in pairs)]


def _stacked(rows: Sequence[Array], axis: int, where: str) -> Array:
    """Rows along a new axis."""
    shapes = {np.shape(row) for row in rows}
    if len(shapes) > 1:
        raise ShapeError(where, "rows of one shape", ", ".join(map(str, sorted(shapes))))
    (shape,) = shapes or {()}
    if not -len(shape) - 1 <= axis <= len(shape):
        raise ShapeError(where, f"rows that can be stacked along axis {axis}", shape)
    return np.stack(rows, axis) if rows else np.zeros(0, np.float32)
