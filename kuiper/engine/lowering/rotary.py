"""Rotary position embedding, and the positions that it starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.positions import Positions as PositionsStep
from kuiper.engine.kernels.rotary import Rotary as RotaryStep
from kuiper.engine.kernels.rotary import RotaryAngles as AnglesStep
from kuiper.engine.lowering.chosen_rows import integers_of_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import dense
from kuiper.engine.values import Value
from kuiper.layers.operators.positions import Positions
from kuiper.layers.operators.rotary import Rotary, RotaryAngles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.engine.values import AnyValue


@lowers(Positions)
def lower_positions(layer: Positions, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """kuiper.Positions."""
    shape = inputs[0].shape
    decline_if(len(shape) != 2)
    if builder.paging is not None:
        decline_if(shape[0] != 1)
        return [integers_of_rows(builder, "positions", shape[1])]
    out = builder.typed((shape[1],), np.dtype(np.int64))
    position = builder.session_integers("position")

    def make() -> Step:
        return PositionsStep({"source": position[0], "out": out.byte_offset, "count": shape[1], "counts_on": True})

    builder.emit("positions", make, writes=[out], bindings=[position])
    return [out]


@lowers(RotaryAngles)
def lower_rotary_angles(layer: RotaryAngles, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """kuiper.RotaryAngles."""
    positions = builder.tensor(inputs[0])
    decline_if(positions.view.dtype != np.int64 or positions.view.ndim != 1)
    decline_if(positions.view.strides != (8,) and len(positions.view) > 1)
    shape = (len(positions.view), len(layer.frequencies))
    frequencies = builder.constant(layer.frequencies)
    cosines, sines = builder.rows(shape, fixed=True), builder.rows(shape, fixed=True)

    def make() -> Step:
        return AnglesStep({
            "positions": positions.byte_offset, "frequencies": frequencies.offset, "cosines": cosines.offset,
            "sines": sines.offset, "row": cosines.strides[0], "count": shape[0], "pairs": shape[1],
            "scale": layer.scale,
        })  # fmt: skip

    builder.emit(
        "angles",
        make,
        reads=[positions, frequencies],
        writes=[cosines, sines],
        flops=3 * cosines.view.size,
    )
    return [cosines, sines]


@lowers(Rotary)
def lower_rotary(layer: Rotary, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """kuiper.Rotary."""
    x, cosines, sines = (builder.on_arena(value) for value in inputs)
    fits = x.view.ndim == 4 and cosines.view.ndim == 2 and cosines.shape == sines.shape
    decline_if(not fits or cosines.shape[0] != x.shape[2] or 2 * cosines.shape[1] > x.shape[3])
    if x.strides[3] != 1 or cosines.strides[1] != 1 or sines.strides != cosines.strides:
        x, cosines, sines = dense(builder, x), dense(builder, cosines), dense(builder, sines)
    texts, heads, count, numbers = x.shape
    out = builder.rows((texts, count, heads, numbers), fixed=True)
    turned = Value(out.buffer, out.view.transpose(0, 2, 1, 3))

    def make() -> Step:
        return RotaryStep({
            **_place("x", x), **_place("out", turned),
            "cosines": cosines.offset, "sines": sines.offset, "row": cosines.strides[0],
            "texts": texts, "heads": heads, "count": count, "pairs": cosines.shape[1], "numbers": numbers,
        })  # fmt: skip

    builder.emit(
        "rotary",
        make,
        reads=[x, cosines, sines],
        writes=[turned],
        flops=3 * x.view.size,
    )
    return [turned]


def _place(name: str, value: Value) -> dict[str, int]:
    """Where it lies, for the kernel: its offset, and its strides along texts, heads and positions."""
    text, head, position, _ = value.strides
    return {name: value.offset, f"{name}_text": text, f"{name}_head": head, f"{name}_position": position}
