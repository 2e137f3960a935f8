"""A single operator of onnxruntime with made-up inputs, as a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper

CONTRIB = "com.microsoft"


class Case(NamedTuple):
    """A node: inputs are arrays, or None where one is left out; ``step`` is how far a byte may be off, or a float.

    ``weights`` are the places of inputs that a file would have as constants.
    """

    name: str
    type: str
    inputs: list[np.ndarray | None]
    settings: dict[str, Any]
    outputs: str = "F"
    weights: tuple[int, ...] = ()
    tolerance: float = 0.0
    domain: str = CONTRIB
    opset: int = 17


_TYPES = {"F": 1, "U": 2, "I": 3, "i": 6, "l": 7, "d": 11, "_": 0}


def model(case: Case, constant: bool = False) -> onnx.ModelProto:
    """The case as a model; its weights are inputs, or constants."""
    names = ["" if value is None else f"x{place}" for place, value in enumerate(case.inputs)]
    given = [(place, value) for place, value in enumerate(case.inputs) if value is not None]
    fixed = case.weights if constant else ()
    made = [f"y{place}" if kind != "_" else "" for place, kind in enumerate(case.outputs)]
    node = helper.make_node(case.type, names, made, "node", domain=case.domain, **case.settings)
    infos = [_info(f"x{place}", value) for place, value in given if place not in fixed]
    outputs = [
        helper.make_tensor_value_info(f"y{place}", _TYPES[kind], None)
        for place, kind in enumerate(case.outputs)
        if kind != "_"
    ]
    weights = [onnx.numpy_helper.from_array(value, f"x{place}") for place, value in given if place in fixed]
    graph = helper.make_graph([node], "contrib", infos, outputs, weights)
    opsets = [helper.make_opsetid("", case.opset), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def arguments(case: Case, constant: bool = False) -> dict[str, np.ndarray]:
    """What the model is called with, by name."""
    fixed = case.weights if constant else ()
    pairs = enumerate(case.inputs)
    return {f"x{place}": value for place, value in pairs if value is not None and place not in fixed}


def _info(name: str, value: np.ndarray) -> onnx.ValueInfoProto:
    """An input with open sizes."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(value.dtype), [f"{name}_{axis}" for axis in range(value.ndim)]
    )


class Numbers:
    """Numbers from a seed, always the same."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)

    def floats(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Normally distributed float32."""
        return np.asarray(self._random.standard_normal(shape) * scale, np.float32)

    def bytes(self, *shape: int, kind: str = "uint8") -> np.ndarray:
        """All bytes of a type, equally often."""
        limits = np.iinfo(kind)
        return np.asarray(self._random.randint(limits.min, limits.max + 1, shape), kind)

    def whole(self, high: int, *shape: int, kind: str = "int64") -> np.ndarray:
        """Integers below a limit."""
        return np.asarray(self._random.randint(0, high, shape), kind)


def scalar(value: float, kind: str = "float32") -> np.ndarray:
    """A tensor without axes."""
    return np.asarray(value, kind)
