"""Run one operator as a graph would, from its type and parameters, without a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from kuiper.graph.pnnx.ir import DataType, ParameterType
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter
from kuiper.layers import Layer, create


def layer(type_name: str, weights: dict[str, np.ndarray] | None = None, **params: Any) -> Layer:
    """The layer of an operator 'it' of this type, with these parameters (plain Python values) and weights."""
    return create(operator(type_name, weights, **params))


def operator(type_name: str, weights: dict[str, np.ndarray] | None = None, **params: Any) -> RuntimeOperator:
    """An operator 'it' that stands in no graph: one unnamed input, one output."""
    return RuntimeOperator(
        type_name,
        "it",
        inputs=[RuntimeOperand("0", 0, None, DataType.F32)],
        outputs=[RuntimeOperand("1", 1, None, DataType.F32)],
        input_names=[""],
        params={key: RuntimeParameter(ParameterType.OTHER, value) for key, value in params.items()},
        attrs={
            key: RuntimeAttribute(DataType.F32, array.shape, array.astype(np.float32))
            for key, array in (weights or {}).items()
        },
    )


def run(type_name: str, *inputs: Any, **params: Any) -> Any:
    """The outputs of an operator without weights."""
    return layer(type_name, **params).forward(*inputs)
