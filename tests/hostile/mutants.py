"""One thing about a graph changed at a time: each number to extremes, each weight to other shapes."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph import pnnx

EXTREMES = (0, -1, 2**31, 2**40, 2**62, 2**63)
WHOLE_NUMBER = re.compile(r"(?<![@\w.])-?\d+(?![\w.])")


class Mutant(NamedTuple):
    """An object of the graph, and what its fields are to become."""

    label: str
    target: Any
    fields: dict[str, Any]

    @contextmanager
    def alive(self) -> Iterator[None]:
        """The graph is changed within, and as it was before afterwards."""
        before = {name: getattr(self.target, name) for name in self.fields}
        try:
            for name, value in self.fields.items():
                setattr(self.target, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self.target, name, value)


def mutants(graph: pnnx.Graph) -> Iterator[Mutant]:
    """All of a graph, always in the same order."""
    for op in graph.operators:
        where = f"{op.type} '{op.name}'"
        for key, param in op.params.items():
            for value in _other_values(op.type, param.value):
                yield Mutant(f"{where} {key}={value}", param, {"value": value})
        for key, attr in op.attrs.items():
            if attr.data is not None:
                for data in _other_shapes(attr.data):
                    yield Mutant(f"{where} @{key}={data.shape}", attr, {"data": data, "shape": data.shape})
    for operand in graph.operands:
        for axis in sorted({0, len(operand.shape) - 1}) if operand.shape else ():
            for size in (0, -1, 7, 2**31, 2**62, 2**63):
                shape = (*operand.shape[:axis], size, *operand.shape[axis + 1 :])
                yield Mutant(f"operand {operand.name} {shape}", operand, {"shape": shape})


def _other_values(op_type: str, value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from EXTREMES
        yield "word"
    elif isinstance(value, float):
        yield from (float("nan"), float("inf"), -1e300, 0.0)
    elif isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
        for place in range(len(value)):
            yield from ([*value[:place], extreme, *value[place + 1 :]] for extreme in EXTREMES)
        yield from ([extreme] * len(value) for extreme in EXTREMES)
        yield []
        yield "word"
    elif isinstance(value, str) and op_type == "pnnx.Expression":
        for number in WHOLE_NUMBER.finditer(value):
            yield from (f"{value[: number.start()]}{extreme}{value[number.end() :]}" for extreme in EXTREMES)


def _other_shapes(data: np.ndarray) -> Iterator[np.ndarray]:
    flat = data.reshape(-1)
    others = [flat, data[None], flat[:0], flat[:1]]
    if data.size:
        others.append(flat[:1].reshape(()))
    if data.ndim:
        half = data.shape[0] // 2, data.shape[-1] // 2
        others += [data[: half[0]], data[..., : half[1]], np.concatenate([data, data]), np.moveaxis(data, 0, -1)]
    for other in others:
        if other.shape != data.shape:
            yield np.ascontiguousarray(other).reshape(other.shape)
