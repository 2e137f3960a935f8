"""Made-up inputs for a graph: for timing, for drawing, for a first look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.graph.boundary import input_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.protocols import WiredGraph


def sample_inputs(graph: WiredGraph, shapes: Sequence[tuple[int, ...]] = (), seed: int = 0) -> tuple[np.ndarray, ...]:
    """One array for each input: seeded normal numbers, or zeros where the file wants whole numbers.

    ``shapes`` stands in for what the file declares; it must be given where the file leaves a size open.

    Raises
    ------
    ShapeError
        If a shape is not known.
    """
    generator = np.random.default_rng(seed)
    arrays = []
    for i, op in enumerate(graph.input_operators):
        operand = op.outputs[0]
        shape = shapes[i] if i < len(shapes) else operand.shape
        if shape is None or not all(isinstance(size, int) for size in shape):
            raise ShapeError(
                op.where, "a shape with all sizes", shape, hint="give one for each input: --shape 1,3,224,224"
            )
        sizes = tuple(size for size in shape if isinstance(size, int))
        dtype = input_dtype(operand)
        floats = dtype.kind == "f"
        arrays.append(generator.standard_normal(sizes).astype(dtype) if floats else np.zeros(sizes, dtype))
    return tuple(arrays)
