"""One operator with as many inputs and outputs as a graph would give it, the inputs named and declared if need be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
from kuiper.layers import create
from tests.layers.one_operator import operator


def wired(
    type_name: str,
    inputs: int = 1,
    outputs: int = 1,
    names: tuple[str, ...] = (),
    declared: tuple[Any, ...] | None = None,
    **params: Any,
) -> RuntimeOperator:
    """An operator 'it' with this many inputs and outputs; ``declared`` is the shape of its first input in the file."""
    shapes = [declared] + [None] * (inputs - 1)
    return replace(
        operator(type_name, **params),
        inputs=[RuntimeOperand(str(i), i, shape, DataType.F32) for i, shape in enumerate(shapes[:inputs])],
        outputs=[RuntimeOperand(str(i), i, None, DataType.F32) for i in range(inputs, inputs + outputs)],
        input_names=list(names) or [""] * inputs,
    )


def run_wired(type_name: str, *inputs: Any, outputs: int = 1, names: tuple[str, ...] = (), **params: Any) -> Any:
    """What the operator makes of these inputs."""
    return create(wired(type_name, len(inputs), outputs, names, **params)).forward(*inputs)
