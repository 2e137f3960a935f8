"""Made-up weights for a graph that was read without its .bin: enough to time it, not to trust it."""

from __future__ import annotations

import math

import numpy as np

from kuiper.graph.pnnx import Attribute, DataType, Graph

_DTYPES = {
    DataType.F32: np.float32,
    DataType.F64: np.float64,
    DataType.F16: np.float16,
    DataType.BF16: np.uint16,
    DataType.I64: np.int64,
    DataType.I32: np.int32,
    DataType.I16: np.int16,
    DataType.I8: np.int8,
    DataType.U8: np.uint8,
    DataType.BOOL: np.bool_,
    DataType.C64: np.complex64,
    DataType.C128: np.complex128,
}


def fill_random_weights(graph: Graph, seed: int = 0) -> None:
    """Give every attribute without data seeded values that keep activations of about size one.

    Weights are normal with variance 2 / fan-in (He et al., 2015), variances and scales are one, whole numbers zero
    (they may be indices).
    """
    generator = np.random.default_rng(seed)
    for op in graph.operators:
        for key, attr in op.attrs.items():
            if attr.data is None:
                attr.data = _values(key, attr, generator)


def _values(key: str, attr: Attribute, generator: np.random.Generator) -> np.ndarray:
    if attr.type is DataType.C32:
        return np.zeros((*attr.shape, 2), np.float16)
    dtype = np.dtype(_DTYPES[attr.type])
    if dtype.kind != "f":
        return np.zeros(attr.shape, dtype)
    if key.endswith("running_var") or (key.endswith("weight") and len(attr.shape) == 1):
        return np.ones(attr.shape, dtype)
    fan_in = math.prod(attr.shape[1:]) if len(attr.shape) > 1 else 1
    scale = math.sqrt(2 / max(fan_in, 1)) if len(attr.shape) > 1 else 0.1
    return (generator.standard_normal(attr.shape) * scale).astype(dtype)
