"""Made-up inputs for a graph, and weights for one that was read without its .bin: for timing, for a first look."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.graph.boundary import input_dtype
from kuiper.graph.pnnx.data_types import numpy_layout
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.summary import format_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.pnnx.ir import Attribute, Dimension, Graph
    from kuiper.graph.protocols import WiredGraph


def sample_inputs(
    graph: WiredGraph, shapes: Sequence[tuple[int, ...]] | None = (), seed: int = 0
) -> tuple[np.ndarray, ...]:
    """One array for each input: seeded normal numbers, or zeros where the file wants integers.

    ``shapes`` stands in for what the file declares; it must be given where the file leaves a size open, unless that is
    the first of several axes only: one of a batch is enough to look at. None: the caller takes arrays, not shapes, and
    an error says so.

    Raises
    ------
    ShapeError
        If a shape is not known.
    """
    generator = np.random.default_rng(seed)
    arrays = []
    for i, op in enumerate(graph.input_operators):
        operand = op.outputs[0]
        shape = shapes[i] if shapes and i < len(shapes) else _batch_of_one(operand.shape)
        if shape is None or not all(isinstance(size, int) for size in shape):
            hint = "pass an array for each input" if shapes is None else f"give one for each input: {_options(graph)}"
            raise ShapeError(op.where, "a shape with all sizes", format_shape(operand.shape), hint)
        sizes = tuple(size for size in shape if isinstance(size, int))
        dtype = input_dtype(operand)
        floats = dtype.kind == "f"
        arrays.append(generator.standard_normal(sizes).astype(dtype) if floats else np.zeros(sizes, dtype))
    return tuple(arrays)


def _batch_of_one(shape: tuple[Dimension, ...] | None) -> tuple[Dimension, ...] | None:
    """The shape with a 1 where the first of several axes is open."""
    if shape is None or len(shape) < 2 or isinstance(shape[0], int):
        return shape
    return (1, *shape[1:])


def _options(graph: WiredGraph) -> str:
    """How the shapes of all inputs are given, a "?" for each size that is to be filled in."""
    shapes = [_batch_of_one(op.outputs[0].shape) for op in graph.input_operators]
    words = [
        "1,3,224,224" if shape is None else ",".join(str(n) if isinstance(n, int) else "?" for n in shape) or "'()'"
        for shape in shapes
    ]
    return " ".join(f"--shape {word}" for word in words)


def fill_random_weights(graph: Graph, seed: int = 0) -> None:
    """Give every attribute without data seeded values that keep activations of about size one.

    Weights are normal with variance 2 / fan-in (He et al., 2015), variances and scales are one, integers zero
    (they may be indices).
    """
    generator = np.random.default_rng(seed)
    for op in graph.operators:
        for key, attr in op.attrs.items():
            if attr.data is None:
                attr.data = _values(key, attr, generator)


def _values(key: str, attr: Attribute, generator: np.random.Generator) -> np.ndarray:
    dtype, shape = numpy_layout(attr.type, attr.shape)
    if dtype.kind != "f" or attr.type is DataType.C32:
        return np.zeros(shape, dtype)
    if key.endswith("running_var") or (key.endswith("weight") and len(shape) == 1):
        return np.ones(shape, dtype)
    fan_in = math.prod(shape[1:]) if len(shape) > 1 else 1
    scale = math.sqrt(2 / max(fan_in, 1)) if len(shape) > 1 else 0.1
    return (generator.standard_normal(shape) * scale).astype(dtype)
