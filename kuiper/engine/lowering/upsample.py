"""Resampling: one kernel, told by tables which pixels each output looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.cost import MAP_BYTES
from kuiper.engine.kernels.upsample import Upsample as UpsampleStep
from kuiper.engine.lowering.image_numbers import image_numbers
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, whole_vectors
from kuiper.layers.operators.upsample import Upsample
from kuiper.layers.resampled_axis import Axis, cubic_table, linear_table, nearest_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array


@lowers(Upsample)
def lower_upsample(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """nn.Upsample and F.interpolate of images, by all modes but area."""
    x = planner.image_of(inputs[0])
    if x is None or layer.mode not in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        return None
    n, c, h, w = x.shape
    rows, columns = (_table(axis, layer.mode) for axis in layer.axes((h, w)))
    out_h, out_w = rows[0].shape[1], columns[0].shape[1]
    out = planner.image((n, c, out_h, out_w))

    def make() -> Step:
        numbers = {
            "images": n, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": whole_vectors(c),
            **image_numbers(x, out),
            "taps": len(rows[0]),
        }  # fmt: skip
        return UpsampleStep(numbers, *rows, *columns)

    planner.emit(
        f"{layer.mode} resampling",
        make,
        reads=[x],
        writes=[out],
        flops=0 if len(rows[0]) == 1 else 2 * out.view.size * len(rows[0]) * len(columns[0]),
        expected=4 * (x.view.size + out.view.size) * len(rows[0]) / MAP_BYTES,
    )
    return [out]


def _table(axis: Axis, mode: str) -> tuple[Array, Array]:
    """Indices and weights, both (taps, outputs)."""
    if mode in ("nearest", "nearest-exact"):
        indices = nearest_table(axis, mode == "nearest-exact")[None]
        weights = np.ones(indices.shape, np.float32)
    else:
        indices, weights = (cubic_table if mode == "bicubic" else linear_table)(axis)
    return np.ascontiguousarray(indices, np.intp), np.ascontiguousarray(weights, np.float32)
