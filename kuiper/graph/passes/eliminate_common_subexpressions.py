"""Compute once what is computed twice.

    before   x -+-> A = nn.Conv2d -> add(@0,@1) -> y            A and B have equal parameters and equal weights
                '-> B = nn.Conv2d --'
    after    x -> A = nn.Conv2d -> add(@0,@1) -> y              both operands are A

Two operators compute the same if type, parameters and weights are equal and they read the same operands. Then those who
read the second read the first instead. The order is that of execution, so whole branches that are equal fall together
step by step. Constants that are stored twice are the case without inputs.

This holds for all layers of kuiper's own. None remembers a call, and those that draw numbers (onnx_random.py,
onnx_dropout.py) draw the same ones for the same seed and shape. Left alone: other layers; and two outputs of the graph,
which the caller may change independently of each other.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.passes.rewiring import forget, read_instead
from kuiper.graph.pnnx.ir import BOUNDARY, OUTPUT
from kuiper.graph.schedule import queue_order

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_attribute import AnyAttribute
    from kuiper.graph.runtime_operator import RuntimeOperator

_PACKERS = ("prim::TupleConstruct", "prim::ListConstruct")
_UNPACKERS = ("prim::TupleUnpack", "prim::ListUnpack")
_FEW = 16  # numbers of a weight that are looked at first


def eliminate_common_subexpressions(
    operators: list[RuntimeOperator], registry: RegistryProtocol
) -> list[RuntimeOperator]:
    """The operators without those that compute what an earlier one has computed."""
    known: dict[Hashable, RuntimeOperator] = {}
    gone: set[RuntimeOperator] = set()
    for op in queue_order(operators):
        if op.graphs or op.type in BOUNDARY or not registry.is_built_in(op.type):
            continue
        first = _first_like(op, known)
        if first is op or (_is_returned(first) and _is_returned(op)):
            continue
        for mine, other in zip(op.outputs, first.outputs, strict=True):
            read_instead(mine, other)
        gone.add(op)
    forget(gone)
    return [op for op in operators if op not in gone]


def _key(op: RuntimeOperator) -> Hashable:
    """What two operators that compute the same agree in, with no more of their weights than the first numbers."""
    return (
        op.type,
        tuple((name, operand.index) for name, operand in zip(op.input_names, op.inputs, strict=True)),
        tuple((operand.shape, operand.type) for operand in op.outputs),
        tuple(sorted((key, repr(param.value)) for key, param in op.params.items())),
        tuple((key, attr.type, attr.shape, _beginning(attr)) for key, attr in sorted(op.attrs.items())),
        _is_read_by(op, _UNPACKERS),  # a split with one output gives all pieces if they are unpacked later
    )


def _first_like(op: RuntimeOperator, known: dict[Hashable, RuntimeOperator]) -> RuntimeOperator:
    """The first operator that computes the same, perhaps ``op`` itself; both are noted in ``known``.

    Weights are summed up, so that each is read once, and not at all where no two operators have equal keys.
    """
    key = _key(op)
    first = known.setdefault(key, op)
    if first is op or not op.attrs:
        return first
    if (key, "summed up") not in known:
        known[key, "summed up"] = known[key, _digest(first)] = first
    return known.setdefault((key, _digest(op)), op)


def _beginning(attr: AnyAttribute) -> bytes:
    """The first bytes of a weight: where they differ, nobody needs to read the others."""
    return b"".join(part.reshape(-1)[:_FEW].tobytes() for part in attr.parts())


def _digest(op: RuntimeOperator) -> bytes:
    """The weights in a few bytes; no two that differ have the same."""
    digest = hashlib.blake2b()
    for key in sorted(op.attrs):
        for part in op.attrs[key].parts():
            digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


def _is_returned(op: RuntimeOperator) -> bool:
    return _is_read_by(op, (OUTPUT, *_PACKERS))


def _is_read_by(op: RuntimeOperator, types: tuple[str, ...]) -> bool:
    return any(reader.type in types for operand in op.outputs for reader in operand.consumers)
