"""Compute in bytes what a file spells with floats between DequantizeLinear and QuantizeLinear ("QDQ").

    before   q -> DequantizeLinear -> nn.Conv2d -> nn.ReLU -> QuantizeLinear -> y        q and y are int8 or uint8
    after    q -> kuiper.QuantizedConv -> y

Such a file has weights that a tool has rounded to whole multiples of a step; here they become integers again, the
bias whole multiples of the step of a product, and sums of 32 bits are exact. nn.Linear becomes kuiper.QuantizedLinear,
the sum of two tensors kuiper.QuantizedAdd, a pool of the largest MaxPool, and others what onnxruntime has for bytes
(byte_operators.py). What only moves numbers moves bytes, if they mean the same before and behind it; so do a split, all
of whose pieces become bytes, and a border, whose number becomes a byte. An activation that only clamps goes where bytes
saturate at its bounds anyway. Results may differ by one step from those of the file, which rounds in float32 what is
exact here.

A QuantizeLinear whose only reader is its own DequantizeLinear becomes one expression: round, and clamp.

Left alone: scales for each entry of an axis (but those of weights) or that the graph computes, weights that are no
multiples of a step, a bias whose rounding could be seen, outputs that someone reads as floats, too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.graph.declined import attempted, decline_if, found
from kuiper.graph.passes.activations import activation_of
from kuiper.graph.passes.byte_operators import only_moves, operator_of_bytes
from kuiper.graph.passes.fusion import is_addition
from kuiper.graph.passes.rewiring import constant_of, replaced, sole_reader
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_attribute import attribute_of
from kuiper.graph.runtime_operator import parameters
from kuiper.graph.whole_multiples import whole_multiples

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.layer_protocol import ActivationProtocol
    from kuiper.graph.passes.rewiring import Taken
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

_BYTES = {np.dtype(np.uint8): DataType.U8, np.dtype(np.int8): DataType.I8}
_CONVOLUTIONS = {"nn.Conv1d": 1, "nn.Conv2d": 2}
_POOLS = ("nn.MaxPool2d", "F.max_pool2d")
_SEEN = 0.05
"""Steps of the output by which the rounding of a bias may move it."""

_MAX_BIAS = 1 << 30
_MAX_SCALE = 2.0**100
"""So no byte stands for a number beyond float32."""


class Bytes(NamedTuple):
    """How the bytes of an operand stand for numbers."""

    operand: RuntimeOperand
    scale: np.float32
    zero: int
    dtype: np.dtype


def multiply_in_bytes(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with products and sums of bytes in the place of those between bytes."""
    operators = replaced(operators, lambda op: _split(op, registry))
    operators = replaced(operators, lambda op: _in_bytes(op, registry))
    return replaced(operators, lambda op: _pair(op, registry))


def _in_bytes(quantize: RuntimeOperator, registry: RegistryProtocol) -> Taken:
    """What the operators up to a QuantizeLinear are in bytes; declines if they are to stay."""
    decline_if(quantize.type != "QuantizeLinear" or not registry.is_built_in(quantize.type))
    out = bytes_of(quantize, quantize.outputs[0])
    op = found(quantize.inputs[0].producer)
    old = [quantize]
    activation = activation_of(op, registry)
    if activation is not None:
        decline_if(not _saturates(out, activation) or sole_reader(op) is not quantize)
        old.insert(0, op)
        op = found(op.inputs[0].producer)
    decline_if(sole_reader(op) is not old[0] or not registry.is_built_in(op.type))
    sources = [_dequantized(operand, registry) for operand in op.inputs]
    new = attempted(operator_of_bytes, op, quantize, [one.dtype for one in (*sources, out)])
    if new is None:
        new = _makes(op)(op, sources, out)
    decline_if(not registry.is_supported(new.type) or not registry.is_built_in(new.type))
    return replace(new, name=f"{op.name}+bytes", outputs=quantize.outputs, layer=None, grown_from=op.where), (op, *old)


def _makes(op: RuntimeOperator) -> Callable[[RuntimeOperator, list[Bytes], Bytes], RuntimeOperator]:
    """What makes an operator on bytes of one on floats."""
    if only_moves(op):
        return _moved
    if op.type == "F.pad":
        return _bordered
    return _sum if is_addition(op) else _pool if op.type in _POOLS else _product


def bytes_of(op: RuntimeOperator, operand: RuntimeOperand) -> Bytes:
    """How QuantizeLinear or DequantizeLinear takes the bytes of an operand: by one constant scale and zero point."""
    numbers = [found(constant_of(one)) for one in op.inputs[1:]]
    decline_if(not numbers or any(one.size != 1 for one in numbers))
    decline_if(op.has_param("precision") and op.str_param("precision") != "float")
    scale, zero = numbers[0], numbers[1] if len(numbers) > 1 else None
    kinds = [np.dtype(dtype) for dtype in _BYTES if zero is None and _BYTES[dtype] is operand.type]
    dtype = found(zero.dtype if zero is not None else kinds[0] if kinds else None)
    decline_if(dtype not in _BYTES or scale.dtype != np.float32 or not 0 < scale.reshape(-1)[0] < _MAX_SCALE)
    decline_if(op.type == "QuantizeLinear" and op.str_param("to") != dtype.name)
    return Bytes(operand, scale.reshape(-1)[0], 0 if zero is None else int(zero.reshape(-1)[0]), dtype)


def _dequantized(operand: RuntimeOperand, registry: RegistryProtocol) -> Bytes:
    """The bytes that an operand is made from."""
    op = found(operand.producer)
    decline_if(op.type != "DequantizeLinear" or not registry.is_built_in(op.type))
    return bytes_of(op, op.inputs[0])


def _saturates(out: Bytes, activation: ActivationProtocol) -> bool:
    """Whether an activation only clamps, and bytes reach no further than its bounds."""
    low, high = (0.0, math.inf) if activation.name == "relu" else (activation.alpha, activation.beta)
    if activation.name not in ("relu", "clip") or math.isnan(low) or math.isnan(high):
        return False
    limits = np.iinfo(out.dtype)
    steps = [bound if math.isinf(bound) else round(bound / float(out.scale)) for bound in (low, high)]
    return steps[0] <= limits.min - out.zero and steps[1] >= limits.max - out.zero


def _product(op: RuntimeOperator, sources: list[Bytes], out: Bytes) -> RuntimeOperator:
    """A convolution or a linear layer in bytes."""
    settings = _settings(op)
    decline_if(len(sources) != 1 or op.attrs["weight"].type is not DataType.F32)
    (x,), (numbers, steps) = sources, found(whole_multiples(op.attr("weight")))
    scale = np.broadcast_to(x.scale * steps / out.scale, len(numbers)).astype(np.float32)
    attrs = {"weight": numbers, "scale": scale}
    if "bias" in op.attrs:
        bias = op.attr("bias").astype(np.float64) / (x.scale.astype(np.float64) * steps)
        whole = np.rint(bias)
        seen = np.abs(bias - whole) * scale
        decline_if(not (np.abs(whole) < _MAX_BIAS).all() or not (seen < _SEEN).all())
        attrs["bias"] = whole.astype(np.int32)
    kind = "kuiper.QuantizedLinear" if op.type == "nn.Linear" else "kuiper.QuantizedConv"
    return _made(op, kind, sources, settings | {"x_zero_point": x.zero}, attrs, out)


def _settings(op: RuntimeOperator) -> dict[str, Any]:
    """Those of a convolution in ONNX's words, none of a linear layer; declines anything else."""
    decline_if("weight" not in op.attrs)
    if op.type == "nn.Linear":
        return {}
    axes = found(_CONVOLUTIONS.get(op.type))
    decline_if(op.has_param("padding") and isinstance(op.params["padding"].value, str))
    decline_if(op.str_param("padding_mode", "zeros") != "zeros")
    pads, strides, dilations = (
        _for_axes(op, key, axes, default) for key, default in (("padding", 0), ("stride", 1), ("dilation", 1))
    )
    return {"pads": pads * 2, "strides": strides, "dilations": dilations, "group": op.int_param("groups", 1)}


def _for_axes(op: RuntimeOperator, key: str, axes: int, default: int) -> list[int]:
    """A setting of a convolution along each axis."""
    numbers = op.ints_param(key, (default,))
    return list(numbers * axes if len(numbers) == 1 else numbers)


def _sum(op: RuntimeOperator, sources: list[Bytes], out: Bytes) -> RuntimeOperator:
    """The sum of two tensors of bytes of one type."""
    decline_if(len(sources) != 2 or any(one.dtype != out.dtype for one in sources))
    scales = np.array([sources[0].scale, sources[1].scale, out.scale], np.float32)
    return _made(
        op, "kuiper.QuantizedAdd", sources, {"zero_points": [one.zero for one in sources]}, {"scales": scales}, out
    )


def _moved(op: RuntimeOperator, sources: list[Bytes], out: Bytes) -> RuntimeOperator:
    """The same operator on bytes, which stand for the same numbers at both ends."""
    decline_if(len(sources) != 1 or sources[0][1:] != out[1:])
    return replace(op, inputs=[sources[0].operand])


def _bordered(op: RuntimeOperator, sources: list[Bytes], out: Bytes) -> RuntimeOperator:
    """The same border of bytes: of one number, which is a byte, or of what there is."""
    number, limits = np.float32(op.float_param("value", 0.0)), np.iinfo(out.dtype)
    decline_if(np.isnan(number))
    byte = np.rint(np.clip(number / out.scale, limits.min - out.zero, limits.max - out.zero)) + out.zero
    return replace(_moved(op, sources, out), params=op.params | parameters(value=float(byte)))


def _split(quantize: RuntimeOperator, registry: RegistryProtocol) -> Taken:
    """A split of bytes, for one whose first piece ends in this QuantizeLinear and all others in others like it."""
    decline_if(quantize.type != "QuantizeLinear")
    op = found(quantize.inputs[0].producer)
    decline_if(op.type != "torch.split" or len(op.inputs) != 1 or quantize.inputs[0] is not op.outputs[0])
    source = _dequantized(op.inputs[0], registry)
    decline_if(any(len(operand.consumers) != 1 for operand in op.outputs))
    ends = [operand.consumers[0] for operand in op.outputs]
    decline_if(any(end.type != "QuantizeLinear" for end in ends))
    decline_if(any(bytes_of(end, end.outputs[0])[1:] != source[1:] for end in ends))
    decline_if(not all(map(registry.is_built_in, (op.type, "QuantizeLinear"))))
    outputs = [end.outputs[0] for end in ends]
    new = replace(op, inputs=[source.operand], outputs=outputs, name=f"{op.name}+bytes", layer=None)
    return replace(new, grown_from=op.where), (op, *ends)


def _pool(op: RuntimeOperator, sources: list[Bytes], out: Bytes) -> RuntimeOperator:
    """The largest bytes of each window, which stand for the largest numbers."""
    decline_if(len(sources) != 1 or sources[0][1:] != out[1:] or op.bool_param("ceil_mode", False))
    kernel = _for_axes(op, "kernel_size", 2, 1)
    strides = _for_axes(op, "stride", 2, 1) if op.has_param("stride") else kernel
    pads, dilations = _for_axes(op, "padding", 2, 0) * 2, _for_axes(op, "dilation", 2, 1)
    settings = {"kernel_shape": kernel, "strides": strides, "pads": pads, "dilations": dilations}
    return _made(op, "MaxPool", sources, settings, {}, out)


def _made(
    op: RuntimeOperator,
    kind: str,
    sources: list[Bytes],
    params: dict[str, Any],
    attrs: dict[str, np.ndarray],
    out: Bytes,
) -> RuntimeOperator:
    """An operator that reads these bytes."""
    settings = {**params, "zero_point": out.zero, "to": out.dtype.name}
    return replace(
        op,
        type=kind,
        inputs=[source.operand for source in sources],
        input_names=[""] * len(sources),
        params=parameters(**settings),
        attrs={key: attribute_of(data) for key, data in attrs.items()},
    )


def _pair(quantize: RuntimeOperator, registry: RegistryProtocol) -> Taken:
    """The expression that a QuantizeLinear and the DequantizeLinear that alone reads it are."""
    decline_if(quantize.type != "QuantizeLinear")
    dequantize = found(sole_reader(quantize))
    decline_if(dequantize.type != "DequantizeLinear")
    decline_if(not all(map(registry.is_built_in, ("QuantizeLinear", "DequantizeLinear", "pnnx.Expression"))))
    operand = quantize.outputs[0]
    there, back = bytes_of(quantize, operand), bytes_of(dequantize, operand)
    decline_if(there != back or quantize.inputs[0].type is not DataType.F32)
    low, high = (float(limit - there.zero) for limit in (np.iinfo(there.dtype).min, np.iinfo(there.dtype).max))
    scale = repr(float(there.scale))
    text = f"mul(minimum(maximum(round(div(@0,{scale})),{low}),{high}),{scale})"
    new = replace(
        quantize,
        type="pnnx.Expression",
        name=f"{quantize.name}+round",
        inputs=quantize.inputs[:1],
        input_names=[""],
        outputs=dequantize.outputs,
        params=parameters(expr=text),
        layer=None,
        grown_from=quantize.where,
    )
    return new, (quantize, dequantize)
