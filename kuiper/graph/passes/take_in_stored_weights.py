"""Give functions whose weights are stored with the model these weights: the module that the other passes know.

    before   pnnx.Attribute w -> F.linear(x, w) -> nn.ReLU -> y
    after    nn.Linear -> nn.ReLU -> y            with the weight of the attribute, which other operators may have, too

PNNX writes functions so whose weights are tensors of a module, and ``kuiper convert`` operators that share a weight.

Left alone: a weight that others read as something else (the table of an embedding), weights in 8 or 4 bits, a bias that
is a number or broadcasts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.declined import Declined, attempted, decline_if, found
from kuiper.graph.passes.rewiring import substitute
from kuiper.graph.pnnx.ir import DataType, ParameterType
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_operator import RuntimeParameter

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_attribute import AnyAttribute
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

_MODULES = {"F.linear": ("nn.Linear", 2), "F.conv1d": ("nn.Conv1d", 3), "F.conv2d": ("nn.Conv2d", 4)}
"""What a function is as a module, and the axes of its weight."""

_OPERANDS = ["input", "weight", "bias"]


def take_in_stored_weights(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with modules in the place of functions of stored weights."""
    made = {op: new for op in operators if (new := attempted(_module, op, registry)) is not None}
    for op, new in made.items():
        substitute((op,), new)
    return [made.get(op, op) for op in operators]


def _module(op: RuntimeOperator, registry: RegistryProtocol) -> RuntimeOperator:
    """The module that a function is; declines if it is to stay."""
    kind, axes = found(_MODULES.get(op.type))
    decline_if(not all(map(registry.is_built_in, (op.type, kind, "pnnx.Attribute"))) or not registry.is_supported(kind))
    decline_if(op.input_names not in (_OPERANDS[: len(op.inputs)], [""] * len(op.inputs)))
    decline_if(not 2 <= len(op.inputs) <= 3 or (op.has_param("bias") and op.params["bias"].value is not None))
    weight, *biases = (_stored(operand, op.type, position) for position, operand in enumerate(op.inputs) if position)
    decline_if(len(weight.shape) != axes or any(bias.shape != weight.shape[:1] for bias in biases))
    attrs: dict[str, AnyAttribute] = dict(zip(("weight", "bias"), (weight, *biases), strict=False))
    params = {key: param for key, param in op.params.items() if key != "bias"} | _sizes(op, weight.shape, bool(biases))
    return replace(op, type=kind, inputs=op.inputs[:1], input_names=[""], params=params, attrs=attrs, layer=None)


def _stored(operand: RuntimeOperand, kind: str, position: int) -> RuntimeAttribute:
    """The stored float32 that an operand is; declines unless all read it as this input of such a function."""
    op = found(operand.producer)
    data = op.attrs.get("data") if op.type == "pnnx.Attribute" else None
    if not isinstance(data, RuntimeAttribute) or data.type is not DataType.F32:
        raise Declined
    alike = all(
        reader.type == kind and [k for k, read in enumerate(reader.inputs) if read is operand] == [position]
        for reader in operand.consumers
    )
    decline_if(not alike)
    return data


def _sizes(op: RuntimeOperator, shape: tuple[int, ...], has_bias: bool) -> dict[str, RuntimeParameter]:
    """The settings of the module that follow from its weight."""
    groups = op.int_param("groups", 1)
    what = "features" if op.type == "F.linear" else "channels"
    sizes: dict[str, RuntimeParameter] = {
        f"in_{what}": RuntimeParameter(ParameterType.INT, shape[1] * groups),
        f"out_{what}": RuntimeParameter(ParameterType.INT, shape[0]),
        "bias": RuntimeParameter(ParameterType.BOOL, has_bias),
    }
    if op.type != "F.linear":
        sizes["kernel_size"] = RuntimeParameter(ParameterType.INT_LIST, list(shape[2:]))
    return sizes
