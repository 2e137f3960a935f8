"""Let a product of bytes give floats: the scale behind it, and the bias behind that.

    before   q -> ConvInteger 'conv' -> Tensor.to -> mul(@0,@1) -> add(@0,@1) -> y
                                          scale --------'     bias ----'
    after    q, scale -> kuiper.FusedConvInteger 'conv+mul+add' -> y

Tools for dynamic quantisation write this: DynamicQuantizeLinear finds the scale of q in the run, and sums of whole
numbers become floats behind the product. Each of these steps alone waits for memory longer than it computes. A bias in
integers, added before they become floats, goes along, too. MatMulInteger becomes kuiper.FusedMatMulInteger. The
passes that let a convolution or a linear layer apply the activation behind it do so for these.

Left alone: weights that the graph computes, sums that someone reads as integers, too, and scales and biases of
whose shape the file does not say that they have one number, or one for each output.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.fusion import INTEGER_CONVOLUTIONS, INTEGER_PRODUCTS, is_addition, is_product
from kuiper.graph.passes.rewiring import constant_of, replaced, sole_reader
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_attribute import attribute_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.passes.rewiring import Taken
    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

_FUSED = INTEGER_CONVOLUTIONS | INTEGER_PRODUCTS
_INPUTS = 4
"""Of ConvInteger and MatMulInteger, as the reader of ONNX gives them: two tensors and their zero points."""


def fuse_scales_into_integer_products(
    operators: list[RuntimeOperator], registry: RegistryProtocol
) -> list[RuntimeOperator]:
    """The operators with products that give floats in the place of those with a scale behind them."""
    return replaced(operators, lambda op: _with_scale(op, registry))


def _with_scale(op: RuntimeOperator, registry: RegistryProtocol) -> Taken:
    """The fused operator that a product makes, and those in whose place it stands; declines if it is to stay."""
    outputs = _outputs(op)
    decline_if(not (registry.is_built_in(op.type) and registry.is_built_in(_FUSED[op.type])))
    old: list[RuntimeOperator] = [op]
    more: list[RuntimeOperand] = []
    added = _other(op, is_addition, registry)
    if added is not None and added.type is DataType.I32 and _is_of_outputs(op, outputs, added.shape):
        old.append(_reader(op))
        more.append(added)
    cast = found(sole_reader(old[-1]))
    decline_if(not registry.is_built_in(cast.type) or not _makes_floats(cast))
    scale = found(_other(cast, is_product, registry))
    decline_if(scale.type is not DataType.F32 or not _is_of_outputs(op, outputs, scale.shape))
    old += [cast, _reader(cast)]
    name, attrs = f"{op.name}+mul", dict(op.attrs)
    bias = _other(old[-1], is_addition, registry)
    numbers = None if bias is None else constant_of(bias)
    if numbers is not None and numbers.dtype == np.float32 and _is_of_outputs(op, outputs, numbers.shape):
        every = np.broadcast_to(numbers.reshape(-1), (outputs,))
        attrs["bias"] = attribute_of(every)
        name += "+add"
        old.append(_reader(old[-1]))
    fused = replace(
        op,
        type=_FUSED[op.type],
        name=name,
        inputs=[*op.inputs, scale, *more],
        input_names=[""] * (_INPUTS + 1 + len(more)),
        outputs=old[-1].outputs,
        attrs=attrs,
        layer=None,
        grown_from=op.where,
    )
    return fused, tuple(old)


def _outputs(op: RuntimeOperator) -> int:
    """How many outputs, channels or columns, a product with constant weights has; declines any other operator."""
    decline_if(op.type not in _FUSED or len(op.inputs) != _INPUTS)
    weight, _ = (found(constant_of(op.inputs[k])) for k in (1, 3))
    is_convolution = op.type in INTEGER_CONVOLUTIONS
    decline_if(weight.ndim not in ((3, 4) if is_convolution else (2,)))
    return int(weight.shape[0 if is_convolution else 1])


def _is_of_outputs(op: RuntimeOperator, outputs: int, shape: tuple[Dimension, ...] | None) -> bool:
    """Whether a tensor of this shape has one number, or one for each output, and adds no axis to the product."""
    if shape is None or not all(isinstance(size, int) for size in shape):
        return False
    sizes = [size for size in shape if isinstance(size, int)]
    weight = constant_of(op.inputs[1])
    behind = weight.ndim - 2 if weight is not None and op.type in INTEGER_CONVOLUTIONS else 0
    known = op.outputs[0].shape
    axes = len(known) if known is not None else behind + 1
    if len(sizes) > axes:
        return False
    return math.prod(sizes) == 1 or (
        math.prod(sizes) == outputs and len(sizes) > behind and sizes[len(sizes) - 1 - behind] == outputs
    )


def _makes_floats(op: RuntimeOperator) -> bool:
    return op.type == "Tensor.to" and len(op.inputs) == 1 and op.outputs[0].type is DataType.F32


def _reader(op: RuntimeOperator) -> RuntimeOperator:
    """The one that alone reads ``op``."""
    return op.outputs[0].consumers[0]


def _other(
    op: RuntimeOperator, is_wanted: Callable[[RuntimeOperator], bool], registry: RegistryProtocol
) -> RuntimeOperand | None:
    """The other operand of the expression that alone reads ``op``; None if that is another operator."""
    reader = sole_reader(op)
    if reader is None or not registry.is_built_in(reader.type) or not is_wanted(reader):
        return None
    return next((operand for operand in reader.inputs if operand is not op.outputs[0]), None)
