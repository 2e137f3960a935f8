"""The step that resamples images: one kernel, told by tables which pixels each output looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.upsample import Upsample
from kuiper.engine.lowering.image_numbers import image_numbers
from kuiper.engine.values import Value, whole_vectors
from kuiper.layers.resampled_axis import Axis, cubic_table, linear_table, nearest_table

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array


def emit_resampling(builder: Builder, x: Value, out: Value, down: Axis, across: Axis, mode: str) -> None:
    """Add the step that fills ``out`` (n, c, h, w) from ``x`` (n, c, h, w); channels lie in whole vectors."""
    n, c, _, w = x.shape
    rows, columns = (_table(axis, mode) for axis in (down, across))

    def make() -> Step:
        numbers = {
            "images": n, "in_w": w, "out_h": out.shape[2], "out_w": out.shape[3], "channels": whole_vectors(c),
            **image_numbers(x, out),
            "taps": len(rows[0]),
        }  # fmt: skip
        return Upsample(numbers, *rows, *columns)

    builder.emit(
        f"{mode} resampling",
        make,
        reads=[x],
        writes=[out],
        relocatable=True,
        flops=0 if len(rows[0]) == 1 else 2 * out.view.size * len(rows[0]) * len(columns[0]),
    )


def _table(axis: Axis, mode: str) -> tuple[Array, Array]:
    """Indices and weights, both (taps, outputs)."""
    if mode in ("nearest", "nearest-exact"):
        indices = nearest_table(axis, mode == "nearest-exact")[None]
        weights = np.ones(indices.shape, np.float32)
    else:
        indices, weights = (cubic_table if mode == "bicubic" else linear_table)(axis)
    return np.ascontiguousarray(indices, np.intp), np.ascontiguousarray(weights, np.float32)
