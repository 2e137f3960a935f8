"""Look up what a quantised file computes of one byte, with floats in between.

    before   q -> DequantizeLinear -> torch.clamp -> QuantizeLinear -> y        q and y are int8 or uint8
    after    q -> kuiper.ByteTable -> y       its table has what becomes of each of the 256 bytes

The layers themselves make the table, of all bytes, so it has the numbers of the file. What is computed of a tensor and
of functions of the same tensor is a function of one byte, too, through any number of quantisations: GELU, which a file
spells with Div, Erf, Add and Mul, each in bytes, is one table.

Left alone: what reads two tensors of bytes, functions of neighbours (softmax), scales for each entry of an axis or that
the graph computes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import KuiperError
from kuiper.graph.declined import Declined, attempted, decline_if, found
from kuiper.graph.fallback import noting
from kuiper.graph.passes.activations import activation_of
from kuiper.graph.passes.multiply_in_bytes import bytes_of
from kuiper.graph.passes.rewiring import constant_of, substitute
from kuiper.graph.runtime_attribute import attribute_of
from kuiper.graph.runtime_operator import parameters
from kuiper.graph.schedule import queue_order

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator


class _Function(NamedTuple):
    """What an operand is for each of the 256 bytes of a tensor of bytes, in the order of their bits."""

    source: RuntimeOperand
    kind: np.dtype
    values: np.ndarray


def tabulate_functions_of_bytes(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with a kuiper.ByteTable in the place of each QuantizeLinear that gives a function of one byte."""
    if not registry.is_built_in("kuiper.ByteTable") or not registry.is_supported("kuiper.ByteTable"):
        return operators
    known: dict[RuntimeOperand, _Function] = {}
    made: dict[RuntimeOperator, RuntimeOperator] = {}
    for op in queue_order(operators):
        function = attempted(_function_of, op, known, registry)
        if function is None:
            continue
        known[op.outputs[0]] = function
        if op.type == "QuantizeLinear":
            made[op] = _table(op, function)
            substitute((op,), made[op])
    return [made.get(op, op) for op in operators]


def _function_of(op: RuntimeOperator, known: dict[RuntimeOperand, _Function], registry: RegistryProtocol) -> _Function:
    """What an operator makes of a byte; declines if that is not all it reads, or if neighbours matter."""
    decline_if(not registry.is_built_in(op.type))
    if op.type == "DequantizeLinear":
        bytes_ = bytes_of(op, op.inputs[0])
        decline_if(constant_of(op.inputs[0]) is not None)
        every = np.arange(256, dtype=np.uint8).view(bytes_.dtype)
        source = known.get(op.inputs[0]) or _Function(op.inputs[0], bytes_.dtype, every)
        return _applied(op, source, [source.values, *_constants(op)], np.dtype(np.float32), registry)
    if op.type == "QuantizeLinear":
        bytes_ = bytes_of(op, op.outputs[0])
        source = found(known.get(op.inputs[0]))
        return _applied(op, source, [source.values, *_constants(op)], bytes_.dtype, registry)
    decline_if(not _is_elementwise(op, registry))
    functions = [found(known.get(operand)) for operand in op.inputs]
    decline_if(len({function.source for function in functions}) != 1)
    return _applied(op, functions[0], [function.values for function in functions], np.dtype(np.float32), registry)


def _is_elementwise(op: RuntimeOperator, registry: RegistryProtocol) -> bool:
    """Whether each number of the output follows from those at the same place."""
    if op.type == "pnnx.Expression":
        return "size(" not in op.str_param("expr")
    return activation_of(op, registry) is not None


def _constants(op: RuntimeOperator) -> list[np.ndarray]:
    """Scale and zero point."""
    return [array for operand in op.inputs[1:] if (array := constant_of(operand)) is not None]


def _applied(
    op: RuntimeOperator, of: _Function, values: list[np.ndarray], dtype: np.dtype, registry: RegistryProtocol
) -> _Function:
    """What the layer makes of all bytes; declines if it refuses them, or gives no number for each."""
    op.layer = op.layer or registry.create(op)
    try:
        with noting(op.where), np.errstate(all="ignore"):
            result = op.layer.forward(*values)
    except KuiperError as error:
        raise Declined from error  # the layer says so when it runs
    decline_if(not (isinstance(result, np.ndarray) and result.shape == (256,) and result.dtype == dtype))
    return of._replace(values=result)


def _table(quantize: RuntimeOperator, function: _Function) -> RuntimeOperator:
    """The operator that looks up."""
    return replace(
        quantize,
        type="kuiper.ByteTable",
        name=f"{quantize.name}+table",
        inputs=[function.source],
        input_names=[""],
        params=parameters(of=function.kind.name),
        attrs={"table": attribute_of(np.ascontiguousarray(function.values))},
        layer=None,
        grown_from=quantize.where,
    )
