"""LSTM, GRU and RNN: what the inputs give to the gates as one product, and a step that goes through the sequence.

    x (l, n, features) -- projection, both directions --> gates -- recurrent step, both directions --> outputs, states

The rows of the weights are put in another order: all gates of one vector of cells side by side (see
``kernels/recurrent.pyx``). The outputs of a layer are the inputs of the next one. A projection of an LSTM's outputs is
left to the layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.convolution import LANES, TILE_ROWS
from kuiper.engine.kernels.recurrent import KINDS, Recurrent
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.lowering.pick import is_index
from kuiper.engine.lowering.projection import emit_projection
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.memory import for_weights
from kuiper.engine.transfers import dense
from kuiper.engine.values import AnyValue, PythonValue, Value, whole_vectors
from kuiper.layers.operators.gru import GRU, ResetFirstGRU
from kuiper.layers.operators.lstm import LSTM
from kuiper.layers.operators.rnn import RNN
from kuiper.layers.recurrent import for_sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.layers.recurrent import CellWeights
    from kuiper.layers.recurrent_layer import Recurrent as Layer

NO_LENGTHS = {"lengths": -1, "length_bytes": 0, "length_type": 0, "error_flag": -1}
"""What a kernel is told where all sequences have all steps."""


@dataclass(frozen=True)
class Cells:
    """How the gates of a layer's cells lie in memory: ``panels`` of ``vectors`` vectors each."""

    kind: str
    gates: int
    hidden: int

    @property
    def behind(self) -> Cells | None:
        """Of a GRU that resets first: the panels that meet what is left of the state, behind those of its two gates."""
        return Cells("tanh", 1, self.hidden) if self.kind == "reset first" else None

    @property
    def vectors(self) -> int:
        return self.gates if self.gates > 1 else min(whole_vectors(self.hidden) // LANES, len(TILE_ROWS))

    @property
    def in_panel(self) -> int:
        """Cells of a panel."""
        return self.vectors // self.gates * LANES

    @property
    def panels(self) -> int:
        return -(-self.hidden // self.in_panel)

    @property
    def width(self) -> int:
        """Numbers that the gates of one direction take."""
        return self.panels * self.vectors * LANES + (self.behind.width if self.behind else 0)

    def ordered(self, rows: Array) -> Array:
        """``rows`` (gates * hidden, ...), gate after gate, as (width, ...), panel after panel; zeros fill them up."""
        if self.behind:
            gates = Cells("gates", self.gates, self.hidden).ordered(rows[: self.gates * self.hidden])
            return np.concatenate([gates, self.behind.ordered(rows[self.gates * self.hidden :])])
        by_gate = rows.reshape(self.gates, self.hidden, *rows.shape[1:])
        room = np.zeros((self.gates, self.panels * self.in_panel, *rows.shape[1:]), np.float32)
        room[:, : self.hidden] = by_gate
        by_panel = room.reshape(self.gates, self.panels, self.in_panel, *rows.shape[1:]).swapaxes(0, 1)
        return np.ascontiguousarray(by_panel).reshape(self.width, *rows.shape[1:])

    def by_panel(self, rows: Array) -> Array:
        """Rows in order (width, hidden) as the panels that a tile reads, one behind the other."""
        own = self.panels * self.vectors * LANES
        panels = rows[:own].reshape(self.panels, -1, self.hidden).swapaxes(1, 2).reshape(-1)
        return np.concatenate([panels, self.behind.by_panel(rows[own:])]) if self.behind else panels

    def packed(self, weights: Sequence[CellWeights]) -> tuple[Array, Array]:
        """The weights of h [directions][panels][hidden][vectors * LANES], and what is added to its product."""
        packed = for_weights(len(weights) * self.width * self.hidden)
        directions = packed.reshape(len(weights), -1)
        bias = for_weights(len(weights) * self.width)
        bias[:] = 0
        for k, cell in enumerate(weights):
            directions[k] = self.by_panel(self.ordered(cell.hidden))
            if self.kind == "gru" and cell.hidden_bias is not None:
                bias[k * self.width : (k + 1) * self.width] = self.ordered(cell.hidden_bias)
        return packed, bias

    def of_input(self, weights: Sequence[CellWeights]) -> tuple[Array, Array]:
        """The weights of x (directions * width, features), and the bias that does not depend on h."""
        matrices = [self.ordered(cell.input) for cell in weights]
        biases = []
        for cell in weights:
            own = [cell.input_bias] if self.kind == "gru" else [cell.input_bias, cell.hidden_bias]
            given = [bias for bias in own if bias is not None]
            biases.append(self.ordered(np.sum(given, axis=0)) if given else np.zeros(self.width, np.float32))
        return np.concatenate(matrices), np.concatenate(biases)


@lowers(LSTM, GRU, ResetFirstGRU, RNN)
def lower_recurrent(layer: Layer, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.LSTM, nn.GRU and nn.RNN, all layers and directions."""
    stack = layer.stack
    x = builder.on_arena(inputs[0])
    fits = x.view.ndim in (2, 3) and x.shape[-1] == stack.weights[0].input.shape[1]
    assert builder.op is not None
    decline_if(not fits or len(builder.op.outputs) != len(layer.returned))
    decline_if(any(weights.projection is not None for weights in stack.weights))
    n = 1 if x.view.ndim == 2 else x.shape[0 if layer.batch_first else 1]
    lengths = _lengths(inputs, builder, n) if layer.has_lengths else None
    first = _first_states(layer, inputs[: len(inputs) - layer.has_lengths], builder, n)
    kind = _kind(layer)
    cells = Cells(kind, 2 if kind == "reset first" else layer.gates, layer.hidden)
    last = _last_states(layer, builder, n)
    for k in range(layer.layers):
        x = _emit_layer(builder, layer, cells, k, x, first, last, lengths)
    made = {"output": x, **{name: _without_batch(state, x) for name, state in last.items()}}
    return [made[name] for name in layer.returned]


def _kind(layer: Layer) -> str:
    if isinstance(layer, LSTM):
        return "lstm"
    if isinstance(layer, ResetFirstGRU):
        return "reset first"
    if isinstance(layer, GRU):
        return "gru"
    cell: Any = layer.stack.cell
    return "relu" if isinstance(cell, partial) and cell.keywords["is_relu"] else "tanh"


def _lengths(inputs: list[AnyValue], builder: Builder, n: int) -> Value:
    """How many steps each sequence has."""
    lengths = builder.tensor(inputs[-1])
    decline_if(lengths.shape != (n,) or not is_index(lengths) or len(inputs[0].shape) != 3)
    return lengths


def _first_states(layer: Layer, inputs: list[AnyValue], builder: Builder, n: int) -> list[Value]:
    """The states (layers * directions, n, hidden) before the first step."""
    shape = (layer.layers * layer.directions, n, layer.hidden)
    if len(inputs) == 1:
        zeros = Value(builder.zeros(layer.hidden), builder.zeros(layer.hidden).placeholder[: layer.hidden])
        return [Value(zeros.buffer, np.broadcast_to(zeros.view, shape))] * len(layer.states)
    decline_if(len(inputs) != 1 + len(layer.states))
    found = []
    batched = len(inputs[0].shape) == 3
    for value, operand in zip(inputs[1:], layer.op.inputs[1 : len(inputs)], strict=True):
        if isinstance(value, PythonValue) and value.constant and isinstance(value.example, np.ndarray) and batched:
            (array,) = for_sequences(n, (value.example,), (operand,))
            decline_if(array.dtype != np.float32)
            state = builder.constant(np.ascontiguousarray(array))
        else:
            state = builder.on_arena(value)
        decline_if(state.shape != (shape if batched else (shape[0], shape[2])))
        if state.strides[-1] != 1 and layer.hidden > 1:
            state = dense(builder, state)
        found.append(state if batched else Value(state.buffer, state.view[:, None]))
    return found


def _last_states(layer: Layer, builder: Builder, n: int) -> dict[str, Value]:
    """Memory for the states after the last step: those that are wanted, and the one that an LSTM works with."""
    shape = (layer.layers * layer.directions, n, layer.hidden)
    wanted = [name for name in layer.states if name in layer.returned or name == "c_n"]
    return {name: builder.rows(shape, fixed=True) for name in wanted}


def _emit_layer(
    builder: Builder,
    layer: Layer,
    cells: Cells,
    k: int,
    x: Value,
    first: list[Value],
    last: dict[str, Value],
    lengths: Value | None,
) -> Value:
    """One layer of the network, in all directions: its outputs, whose axes are those of ``x``."""
    directions = slice(k * layer.directions, (k + 1) * layer.directions)
    weights = layer.stack.weights[directions]
    gates = builder.rows((*x.shape[:-1], layer.directions * cells.width), fixed=True)
    emit_projection(builder, x, gates, *cells.of_input(weights), name=f"layer {k}")
    out_shape = (*x.shape[:-1], layer.directions * layer.hidden)
    out = builder.rows(out_shape, exact=True)
    packed, bias = builder.pack(("recurrent", k), lambda: cells.packed(weights))
    past = [Value(state.buffer, state.view[directions]) for state in first]
    after = {name: Value(state.buffer, state.view[directions]) for name, state in last.items()}
    by_step = [_as_sequence(value, layer.batch_first) for value in (gates, out)]
    find_lengths, length_reads = lengths_for_kernel(builder, lengths)

    def make() -> Step:
        numbers = {
            "kind": KINDS[cells.kind], "directions": layer.directions, "cells": layer.hidden,
            "steps": by_step[0].shape[0], "sequences": by_step[0].shape[1],
            "vectors": cells.vectors, "panels": cells.panels,
            "cell_vectors": cells.behind.vectors if cells.behind else 0,
            "cell_panels": cells.behind.panels if cells.behind else 0,
            "gates": gates.offset, "gates_step": by_step[0].strides[0], "gates_row": by_step[0].strides[1],
            "out": out.offset, "out_step": by_step[1].strides[0], "out_row": by_step[1].strides[1],
            **find_lengths(),
        }  # fmt: skip
        h, c = place_of(past[0]), place_of(past[-1])
        return Recurrent(numbers, (h, c, place_of(after.get("h_n")), place_of(after.get("c_n"))), packed, bias)

    steps, n, _ = by_step[0].shape
    builder.emit(
        f"{type(layer).__name__} {steps}x{n}x{layer.hidden}",
        make,
        reads=[gates, *past, *length_reads],
        writes=[out, *after.values()],
        flops=2 * steps * n * layer.directions * layer.gates * layer.hidden**2,
        more_bytes=packed.nbytes,
        relocatable=True,
    )
    return out


def _as_sequence(value: Value, batch_first: bool) -> Value:
    """The value as (steps, sequences, numbers)."""
    if value.view.ndim == 2:
        return Value(value.buffer, value.view[:, None])
    return Value(value.buffer, value.view.swapaxes(0, 1)) if batch_first else value


def _without_batch(state: Value, x: Value) -> Value:
    """A last state as the layer returns it: without the axis of the batch if ``x`` has none."""
    return state if x.view.ndim == 3 else Value(state.buffer, state.view[:, 0])


def place_of(state: Value | None) -> dict[str, int]:
    """Where a state (directions, n, hidden) lies, for a kernel; -1 if there is none."""
    if state is None:
        return {"offset": -1, "direction": 0, "row": 0}
    return {"offset": state.offset, "direction": state.strides[0], "row": state.strides[1]}


def lengths_for_kernel(builder: Builder, lengths: Value | None) -> tuple[Callable[[], dict[str, int]], list[Value]]:
    """Where a kernel finds the lengths of sequences and sets its flag, once offsets are known; and what it reads."""
    if lengths is None:
        return lambda: NO_LENGTHS, []
    flag = builder.shared_error_flag()
    type_code = TYPES[lengths.view.dtype.name]

    def fields() -> dict[str, int]:
        return {
            "lengths": lengths.byte_offset, "length_bytes": lengths.view.strides[0], "length_type": type_code,
            "error_flag": flag.offset,
        }  # fmt: skip

    return fields, [lengths, Value(flag, flag.placeholder)]
