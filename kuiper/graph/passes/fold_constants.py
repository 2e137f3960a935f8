"""Compute once, now, what does not depend on the inputs.

    before   pnnx.Attribute -> torch.permute -> torch.matmul -> y
                                           x ---'
    after    pnnx.Attribute 'permute' -> torch.matmul -> y      its data is what torch.permute gave
                                    x ---'

An operator all of whose inputs are constants (or that has none: torch.arange) is run by its own layer, in the order of
execution, so whole branches become one constant. What the branch was made of then is dead code.

Left alone: results that are no arrays (a list of sizes), results of more than LARGEST bytes that are larger than what
they are made from (a model should not grow in memory because of torch.zeros), operators that refuse their inputs (they
are to say so when the model runs) and layers that are not kuiper's own. Those of kuiper's own that draw numbers draw
the same ones at each call (onnx_random.py, onnx_dropout.py), so they are folded like the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import KuiperError
from kuiper.graph.fallback import noting
from kuiper.graph.pnnx.data_types import DATA_TYPES
from kuiper.graph.pnnx.ir import BOUNDARY
from kuiper.graph.runtime_attribute import AnyAttribute, attribute_of
from kuiper.graph.schedule import queue_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

LARGEST = 4 << 20
"""Bytes that a folded constant may have in any case."""


def fold_constants(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with a pnnx.Attribute in the place of each whose output is always the same array."""
    known: dict[RuntimeOperand, Any] = {}
    constants: dict[RuntimeOperator, RuntimeOperator] = {}
    for op in queue_order(operators):
        if not _is_constant(op, known, registry):
            continue
        if op.type == "pnnx.Attribute" and "data" in op.attrs:
            known[op.outputs[0]] = op.attrs["data"]
            continue
        result = _run(op, [_value(known[operand]) for operand in op.inputs], registry)
        if len(op.outputs) != 1 or result is None:
            continue
        known[op.outputs[0]] = result
        if isinstance(result, np.ndarray) and result.dtype in DATA_TYPES:
            constants[op] = _as_attribute(op, result)
    return [constants.get(op, op) for op in operators]


def _value(known: Any) -> Any:
    """What is known of an operand; a stored weight is unpacked only where an operator is run on it."""
    return known.data if isinstance(known, AnyAttribute) else known


def _is_constant(op: RuntimeOperator, known: dict[RuntimeOperand, Any], registry: RegistryProtocol) -> bool:
    if op.graphs or op.type in BOUNDARY or not registry.is_built_in(op.type):
        return False
    return all(operand in known for operand in op.inputs) and registry.is_built_in("pnnx.Attribute")


def _run(op: RuntimeOperator, inputs: list[Any], registry: RegistryProtocol) -> Any:
    """What the layer makes of these inputs; None if it refuses them, or if that is too large to keep."""
    op.layer = op.layer or registry.create(op)
    try:
        with noting(op.where), np.errstate(all="ignore"):
            result = op.layer.forward(*inputs)
    except (KuiperError, MemoryError):  # the graph reports it when it runs
        return None
    distinct = {id(value): value for value in inputs}.values()
    return result if _bytes([result]) <= max(LARGEST, _bytes(distinct)) else None


def _bytes(values: Iterable[Any]) -> int:
    """The memory of all arrays among these values and in lists of them."""
    return sum(_bytes(value) if isinstance(value, (list, tuple)) else getattr(value, "nbytes", 0) for value in values)


def _as_attribute(op: RuntimeOperator, result: np.ndarray) -> RuntimeOperator:
    """A constant with the name, the output and the readers of ``op``; its array cannot be written to."""
    data = np.ascontiguousarray(result).reshape(result.shape).view()
    data.flags.writeable = False
    constant = replace(
        op,
        type="pnnx.Attribute",
        inputs=[],
        input_names=[],
        params={},
        attrs={"data": attribute_of(data)},
        layer=None,
    )
    for operand in op.inputs:
        operand.consumers = [reader for reader in operand.consumers if reader is not op]
    op.outputs[0].producer = constant
    return constant
