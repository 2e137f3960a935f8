"""Values that come from settings and sizes alone: constants, ranges, and numbers from a generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ModelFormatError
from kuiper.onnx.element_types import ELEMENT_TYPES, FLOAT, HALVES, INT32, INT64, element_type, numbers
from kuiper.onnx.operators.casts import as_type
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_NUMBERS = {"value_float": (np.float32, FLOAT), "value_int": (np.int64, INT64)}


@operator("Constant")
def constant(node: Node, build: GraphBuilder) -> Value:
    """The one setting is the value: a tensor, a number or a list of numbers."""
    code = next(iter(node.output_types.values()), 0)
    for name, (dtype, of) in _NUMBERS.items():
        if name in node.attributes:
            return build.constant(np.array(node.get(name), dtype), of)
        if name + "s" in node.attributes:
            return build.constant(np.array(node.get(name + "s"), dtype), of)
    if "value" in node.attributes:
        return build.constant(node.get("value"), code or None)
    if "sparse_value" in node.attributes:
        return build.constant(_dense(node, node.get("sparse_value")), code or None)
    raise node.unsupported("a value of numbers", ", ".join(node.attributes) or "none")


def _dense(node: Node, sparse: Any) -> np.ndarray:
    """A tensor of which the file stores only what is not 0, with places in C order or one index for each axis."""
    values, places = (numbers(tensor, node.where) for tensor in (sparse.values, sparse.indices))
    shape = tuple(sparse.dims)
    places = places.T if places.ndim == 2 else np.stack(np.unravel_index(places, shape))
    if len(places) != len(shape) or places.shape[1] != len(values):
        raise ModelFormatError(node.where, f"an index of {len(shape)} axes for each value", places.shape)
    dense = np.zeros(shape, values.dtype)
    dense[tuple(places)] = values
    return dense


@operator("ConstantOfShape")
def constant_of_shape(node: Node, build: GraphBuilder) -> Value:
    """One number everywhere; the shape may be computed."""
    number = np.asarray(node.get("value", np.zeros(1, np.float32)))
    code = next(iter(node.output_types.values()), 0) or build.constant(number).type
    if number.size != 1:
        raise ModelFormatError(node.where, "value=a tensor of one number", number.shape)
    attrs = {"value": number.reshape(1).astype(element_type(code, node.where).inside)}
    return build.op("ConstantOfShape", node.value(0), attrs=attrs, type=code)


@operator("Range")
def range_(node: Node, build: GraphBuilder) -> Value:
    """``start``, ``start + delta``, ... below ``limit``; halves are computed in float32 unless stash_type says else."""
    start = node.value(0)
    result = build.op("Range", start, node.value(1), node.value(2), type=start.type)
    if start.type in HALVES:
        result.type = FLOAT
        return as_type(node, build, result, start.type)
    return result


@operator("EyeLike")
def eye_like(node: Node, build: GraphBuilder) -> Value:
    value = node.value(0)
    eye = build.op("EyeLike", value, params={"k": node.int("k", 0)}, shape=value.shape)
    return as_type(node, build, eye, node.int("dtype", value.type))


@operator("RandomNormal", "RandomUniform")
def random(node: Node, build: GraphBuilder) -> Value:
    """Numbers from a generator, which every run of a model starts anew."""
    shape = build.sizes(*node.ints("shape"))
    return _drawn(node, build, node.type, shape, node.int("dtype", FLOAT))


@operator("RandomNormalLike", "RandomUniformLike")
def random_like(node: Node, build: GraphBuilder) -> Value:
    """The same in the shape of an input."""
    value = node.value(0)
    shape = build.op("Shape", value, type=INT64)
    return _drawn(node, build, node.type.removesuffix("Like"), shape, node.int("dtype", value.type))


@operator("Bernoulli", "Multinomial")
def random_choice(node: Node, build: GraphBuilder) -> Value:
    """1 with the probability that the input says; or one of as many classes as it has probabilities, as logarithms."""
    value = node.value(0)
    params = {"seed": float(node.get("seed", 0.0)), "sample_size": node.int("sample_size", 1)}
    drawn = build.op(node.type, value, params=params)
    if node.type == "Multinomial":
        drawn.type = INT64
        return as_type(node, build, drawn, node.int("dtype", INT32))
    return as_type(node, build, drawn, node.int("dtype", value.type))


def _drawn(node: Node, build: GraphBuilder, kind: str, shape: Value, code: int) -> Value:
    """Numbers of this shape, drawn by the layer of ``kind``, in an element type."""
    defaults = {"mean": 0.0, "scale": 1.0} if kind == "RandomNormal" else {"low": 0.0, "high": 1.0}
    params = {name: node.float(name, default) for name, default in defaults.items()}
    drawn = build.op(kind, shape, params={**params, "seed": float(node.get("seed", 0.0))}, type=FLOAT)
    return as_type(node, build, drawn, code if code in ELEMENT_TYPES else FLOAT)
