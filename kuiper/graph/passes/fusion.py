"""What the fusing passes share: how an operator becomes a fused one, and how that takes in what stands behind it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.activations import activation_of
from kuiper.graph.passes.rewiring import expression_of, sole_reader
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

TAKE_IN_ADDITIONS = {"nn.Conv1d": "kuiper.FusedConv1d", "nn.Conv2d": "kuiper.FusedConv2d"}
CONVOLUTIONS = {
    **TAKE_IN_ADDITIONS,
    "nn.ConvTranspose1d": "kuiper.FusedConvTranspose1d",
    "nn.ConvTranspose2d": "kuiper.FusedConvTranspose2d",
}
LINEAR_LAYERS = {"nn.Linear": "kuiper.FusedLinear"}
INTEGER_CONVOLUTIONS = {"ConvInteger": "kuiper.FusedConvInteger"}
INTEGER_PRODUCTS = {"MatMulInteger": "kuiper.FusedMatMulInteger"}
EXPRESSIONS = {"pnnx.Expression": "kuiper.FusedExpression"}


def merge_activation(op: RuntimeOperator, fused_types: dict[str, str], registry: RegistryProtocol) -> Merged:
    """The fused operator that ``op`` and the activation behind it make, and that activation; declines if there is none.

    ``fused_types`` has the types that may be fused, each with the type that it becomes.
    """
    reader = found(sole_reader(op))
    decline_if(not is_fusable(op, fused_types, registry))
    activation = found(activation_of(reader, registry))
    alpha, beta = float(activation.alpha), float(activation.beta)
    params = parameters(activation=activation.name, activation_alpha=alpha, activation_beta=beta)
    fused = replace(
        op,
        type=fused_types.get(op.type, op.type),
        name=f"{op.name}+{last_word(reader)}",
        outputs=reader.outputs,
        params={**op.params, **params},
        layer=None,
        grown_from=op.where,
    )
    return fused, reader


def merge_addition(op: RuntimeOperator, fused_types: dict[str, str], registry: RegistryProtocol) -> Merged:
    """The fused operator that ``op`` and the addition behind it make, and that addition; declines if there is none.

    The other operand of the addition, the residual, becomes the second input. It must not be larger than the output of
    ``op``, nor of a type that would change the type of the sum, as far as the file says. If the operator that makes the
    residual could take in the addition, too, the one with more weights does.
    """
    addition = found(sole_reader(op))
    decline_if(not is_addition(addition) or not registry.is_built_in(addition.type))
    decline_if(not _can_add(op, addition, fused_types, registry))
    residual = _residual(op, addition)
    rival = residual.producer
    decline_if(rival and _can_add(rival, addition, fused_types, registry) and _weights(rival) > _weights(op))
    fused = replace(
        op,
        type=fused_types.get(op.type, op.type),
        name=f"{op.name}+add",
        inputs=[*op.inputs, residual],
        input_names=["input", "residual"],
        outputs=addition.outputs,
        layer=None,
        grown_from=op.where,
    )
    return fused, addition


def _can_add(
    op: RuntimeOperator, addition: RuntimeOperator, fused_types: dict[str, str], registry: RegistryProtocol
) -> bool:
    """Whether ``op`` could take in this addition; it cannot if it has a residual or an activation already."""
    if sole_reader(op) is not addition or len(op.inputs) != 1 or not is_fusable(op, fused_types, registry):
        return False
    fits = _residual(op, addition).type in (DataType.F32, DataType.NULL)
    return fits and _keeps_shape(op.outputs[0], addition.outputs[0])


def _residual(op: RuntimeOperator, addition: RuntimeOperator) -> RuntimeOperand:
    """What is added to the output of ``op``."""
    (residual,) = (operand for operand in addition.inputs if operand is not op.outputs[0])
    return residual


def is_fusable(op: RuntimeOperator, fused_types: dict[str, str], registry: RegistryProtocol) -> bool:
    """Whether ``op`` can take in what stands behind it.

    It cannot if a student's layer is to run it, if it has an activation already, or if a parameter is an input.
    """
    if op.type in fused_types:
        plain = len(op.inputs) == 1 or op.type in EXPRESSIONS
        return plain and registry.is_built_in(op.type) and registry.is_built_in(fused_types[op.type])
    is_fused = op.type in fused_types.values() and registry.is_built_in(op.type)
    return is_fused and op.str_param("activation", "none") == "none"


def is_addition(op: RuntimeOperator) -> bool:
    """Whether this is an expression that adds its two inputs."""
    return len(op.inputs) == 2 and expression_of(op) in ("add(@0,@1)", "add(@1,@0)")


def is_product(op: RuntimeOperator) -> bool:
    """Whether this is an expression that multiplies its two inputs."""
    return len(op.inputs) == 2 and expression_of(op) in ("mul(@0,@1)", "mul(@1,@0)")


def last_word(op: RuntimeOperator) -> str:
    """How the name of a fused operator tells what came in: ``relu6`` for nn.ReLU6."""
    return op.type.split(".")[-1].lower()


def _weights(op: RuntimeOperator) -> int:
    """How many numbers the weights of an operator have: a measure of its work."""
    return sum(math.prod(attr.shape) for attr in op.attrs.values())


def _keeps_shape(before: RuntimeOperand, after: RuntimeOperand) -> bool:
    """Whether two shapes are the same; sizes that the file leaves open fit any."""
    return before.shape is None or after.shape is None or may_be_equal(before.shape, after.shape)


def may_be_equal(a: tuple[Dimension, ...], b: tuple[Dimension, ...]) -> bool:
    """Whether two shapes are the same as far as the file says; sizes that it leaves open fit any."""
    known = [(m, n) for m, n in zip(a, b, strict=False) if isinstance(m, int) and isinstance(n, int)]
    return len(a) == len(b) and all(m == n for m, n in known)
