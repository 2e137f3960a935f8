"""DynamicQuantizeLSTM: bytes of the inputs times W for all steps at once, and a step that goes through the sequence.

    x (l, n, features) -- range, bytes, product, all directions --> gates -- recurrent step --> outputs, states

The columns of the weights are put in another order: i, o, f and g of one vector of cells side by side. Lengths of
sequences are read in each call; if the longest has not all steps, the layer runs, as x then has other bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.integer_packing import without_zero_point
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.quantized_lstm import QuantizedLstm
from kuiper.engine.lowering.byte_sums import Dequantisation
from kuiper.engine.lowering.byte_values import constant_of
from kuiper.engine.lowering.convolution import POINTWISE
from kuiper.engine.lowering.integer_matmul import emit_rows
from kuiper.engine.lowering.integer_steps import IntegerLayer, ZeroPoint
from kuiper.engine.lowering.pick import is_index
from kuiper.engine.lowering.quantize import dynamic_bytes
from kuiper.engine.lowering.recurrent import lengths_for_kernel, place_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.memory import for_weights
from kuiper.engine.transfers import dense
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.onnx_contrib_lstm import WEIGHTS, DynamicQuantizeLSTM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array

_GATES = 4
_GIVEN = {"X", "sequence_lens", "initial_h", "initial_c"}
_MAX_INPUTS = (1 << 31) // 255**2
"""So many products of two bytes are no larger than an int32."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the gates i, o, f and g as the kernel has them: those of one vector of cells side by side.

    ``order`` (panels * 4 * LANES) has the place of each in the file, -1 where there is no such cell.
    """

    hidden: int
    panels: int
    order: Array

    @classmethod
    def of(cls, hidden: int) -> Columns:
        """Those of this many cells."""
        panels = -(-hidden // LANES)
        places = np.full((_GATES, panels * LANES), -1)
        places[:, :hidden] = np.arange(_GATES * hidden).reshape(_GATES, hidden)
        return cls(hidden, panels, places.reshape(_GATES, panels, LANES).swapaxes(0, 1).reshape(-1))

    def arranged(self, array: Array) -> Array:
        """The last axis in this order, with zeros where there is no cell; one number is that of all."""
        every = np.broadcast_to(array, (*array.shape[:-1], _GATES * self.hidden))
        return np.asarray(np.where(self.order < 0, every.dtype.type(0), every[..., self.order]))


@dataclass(frozen=True, slots=True)
class RecurrentWeights:
    """What the kernel multiplies h with, for all directions; see ``quantized_lstm.pyx``."""

    weights: Array
    sums: Array
    zeros: Array
    scale: Array
    bias: Array
    peepholes: Array


@lowers(DynamicQuantizeLSTM)
def lower_quantized_lstm(layer: DynamicQuantizeLSTM, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Constant weights, one or two directions."""
    given = dict(zip(layer.op.input_names, inputs, strict=True))
    decline_if(not given.keys() <= _GIVEN or not _fit(layer, given["X"].shape))
    length, n, _ = given["X"].shape
    shape = (len(layer.directions), n, layer.hidden)
    first = [_state(builder, given.get(name), shape) for name in ("initial_h", "initial_c")]
    lengths = _lengths(builder, given.get("sequence_lens"), (length, n))
    x, scale, zero = dynamic_bytes(builder, given["X"], spreads_nan=True)
    columns = Columns.of(layer.hidden)
    gates = builder.rows((length, n, shape[0] * len(columns.order)), fixed=True)
    matrix, of_columns = _of_input(layer.weights, columns)
    emit_rows(builder, x, gates, matrix, ZeroPoint(0, zero), Dequantisation(of_columns, scale))
    out = builder.rows((length, n, shape[0] * layer.hidden), fixed=True)
    by_direction = out.view.reshape(length, n, shape[0], layer.hidden).transpose(0, 2, 1, 3)
    made = {"Y": Value(out.buffer, by_direction), "Y_c": builder.rows(shape, fixed=True)}
    if "Y_h" in layer.returned:
        made["Y_h"] = builder.rows(shape, fixed=True)
    _emit_steps(builder, layer, columns, gates, first, made, lengths)
    return [made[name] for name in layer.returned]


def _fit(layer: DynamicQuantizeLSTM, shape: tuple[int, ...]) -> bool:
    """Whether the weights are constants that fit each other and inputs of this shape."""
    weights, count, columns = layer.weights, len(layer.directions), _GATES * layer.hidden
    if not set(WEIGHTS) - {"B", "P"} <= weights.keys() or len(shape) != 3:
        return False
    for name, rows in (("W", shape[2]), ("R", layer.hidden)):
        matrix, scale, zero = (weights[f"{name}{part}"] for part in ("", "_scale", "_zero_point"))
        fits = matrix.shape == (count, rows, columns) and rows <= _MAX_INPUTS and matrix.dtype in (np.int8, np.uint8)
        if not fits or not all(part.shape in ((count,), (count, columns)) for part in (scale, zero)):
            return False
    more = {"B": (count, 2 * columns), "P": (count, 3 * layer.hidden)}
    return all(name not in weights or weights[name].shape == sizes for name, sizes in more.items())


def _state(builder: Builder, value: AnyValue | None, shape: tuple[int, ...]) -> Value:
    """The first states (directions, n, hidden), cells side by side; zeros if the graph has none."""
    if value is None:
        zeros = builder.zeros(shape[2])
        return Value(zeros, np.broadcast_to(zeros.placeholder[: shape[2]], shape))
    decline_if(value.shape != shape)
    constant = constant_of(value)
    if constant is not None:
        decline_if(constant.dtype != np.float32)
        return builder.constant(constant)
    state = builder.on_arena(value)
    return state if state.strides[-1] == 1 or shape[2] == 1 else dense(builder, state)


def _lengths(builder: Builder, value: AnyValue | None, sizes: tuple[int, int]) -> Value | None:
    """How many steps each sequence has; None if all have all."""
    length, n = sizes
    if value is None:
        return None
    constant = constant_of(value)
    if constant is None:
        lengths = builder.tensor(value)
    else:
        decline_if(constant.dtype not in (np.int32, np.int64) or constant.size == 0 or constant.max() != length)
        lengths = builder.typed_constant(constant)
    decline_if(lengths.shape != (n,) or not is_index(lengths))
    return lengths


def _of_direction(array: Array, k: int) -> Array:
    """Scales or zero points of a direction: one, or one for each column."""
    return np.asarray(array[k]).reshape(-1)


def _of_input(weights: dict[str, Array], columns: Columns) -> tuple[IntegerLayer, Array]:
    """The matrix W of all directions, and the scale of each of its columns."""
    matrices, scales = [], []
    for k, numbers in enumerate(weights["W"]):
        zeros = _of_direction(weights["W_zero_point"], k)
        matrices.append(columns.arranged(without_zero_point(numbers.T, zeros).T).T)
        scales.append(columns.arranged(_of_direction(weights["W_scale"], k).astype(np.float32)))
    matrix = np.ascontiguousarray(np.concatenate(matrices)[:, :, None, None])
    return IntegerLayer(matrix, None, 1, POINTWISE), np.concatenate(scales)


def packed_recurrent(weights: dict[str, Array], columns: Columns, fours: bool) -> RecurrentWeights:
    """The matrix R of all directions in panels, [directions][panels][words][4 * LANES][numbers of a word] of int8.

    A uint8 becomes an int8 by taking off 128, and so does its zero point.
    """
    count, width, of_word = len(weights["R"]), len(columns.order), 4 if fours else 2
    words = -(-columns.hidden // of_word)
    size = count * columns.panels * words * of_word * _GATES * LANES
    packed = for_weights(-(-size // 4)).view(np.int8)[:size]
    panels = packed.reshape(count, columns.panels, words, _GATES * LANES, of_word)
    sums, zeros = np.zeros((2, count, width), np.int32)
    scale, bias, peepholes = np.zeros((3, count, width), np.float32)
    offset = 128 if weights["R"].dtype == np.uint8 else 0
    for k, numbers in enumerate(weights["R"]):
        room = np.zeros((words * of_word, width), np.int8)
        room[: columns.hidden] = columns.arranged((numbers.astype(np.int16) - offset).astype(np.int8))
        panels[k] = room.reshape(words, of_word, columns.panels, -1).transpose(2, 0, 3, 1)
        sums[k] = room.sum(axis=0, dtype=np.int32)
        zeros[k] = columns.arranged(_of_direction(weights["R_zero_point"], k).astype(np.int32) - offset)
        scale[k] = columns.arranged(_of_direction(weights["R_scale"], k).astype(np.float32))
        if "B" in weights:
            halves = weights["B"][k].astype(np.float32).reshape(2, -1)
            bias[k] = columns.arranged(halves[0] + halves[1])
        if "P" in weights:
            peepholes[k] = columns.arranged(np.pad(weights["P"][k].astype(np.float32), (0, columns.hidden)))
    return RecurrentWeights(packed, *(array.reshape(-1) for array in (sums, zeros, scale, bias, peepholes)))


def _emit_steps(
    builder: Builder,
    layer: DynamicQuantizeLSTM,
    columns: Columns,
    gates: Value,
    first: list[Value],
    made: dict[str, Value],
    lengths: Value | None,
) -> None:
    """Add the step that goes through the sequence."""
    find_lengths, length_reads = lengths_for_kernel(builder, lengths)
    fours = builder.machine.vnni
    packed: RecurrentWeights = builder.pack(
        ("recurrent bytes", fours), lambda: packed_recurrent(layer.weights, columns, fours)
    )
    (length, directions, n, hidden), out = made["Y"].shape, made["Y"]

    def make() -> Step:
        numbers = {
            "directions": directions, "backwards": int(layer.directions[0] == 1), "steps": length, "sequences": n,
            "cells": hidden, "panels": columns.panels, "words": -(-hidden // (4 if fours else 2)), "fours": fours,
            "couples": layer.couples, "has_zeros": bool(packed.zeros.any()), "bound": layer.bound,
            "has_peepholes": "P" in layer.weights,
            "gates": gates.offset, "gates_step": gates.strides[0], "gates_row": gates.strides[1],
            "out": out.offset, "out_step": out.strides[0], "out_row": out.strides[2], "out_direction": out.strides[1],
            "keeps": "Y" not in layer.returned, **find_lengths(),
        }  # fmt: skip
        states = [place_of(state) for state in (*first, made.get("Y_h"), made["Y_c"])]
        of_columns = packed.sums, packed.zeros, packed.scale, packed.bias, packed.peepholes
        return QuantizedLstm(numbers, states, packed.weights, *of_columns)

    builder.emit(
        f"LSTM on bytes {length}x{n}x{hidden}, {'fours' if fours else 'pairs'}",
        make,
        reads=[gates, *first, *length_reads],
        writes=list(made.values()),
        flops=2 * length * n * directions * _GATES * hidden**2,
        more_bytes=packed.weights.nbytes,
    )
