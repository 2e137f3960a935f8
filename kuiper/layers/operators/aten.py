"""Operators that pnnx left in TorchScript's spelling, ``aten::avg_pool2d``: all settings are operands in a fixed order.

Naming those operands is all it takes: named ones that are no data become parameters of the layer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.layers.registry import create, register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Layer

_SIGNATURES = """
    aten::avg_pool2d       F.avg_pool2d input kernel_size stride padding ceil_mode count_include_pad divisor_override
    aten::channel_shuffle  F.channel_shuffle input groups
    aten::detach           torch.detach input
    aten::linspace         torch.linspace start end steps dtype layout device pin_memory
    aten::linalg_cross     torch.cross input other dim
    aten::max_pool2d       F.max_pool2d input kernel_size stride padding dilation ceil_mode
    aten::new_full         Tensor.new_full input size fill_value dtype layout device pin_memory
    aten::scatter          torch.scatter input dim index src
    aten::size             Tensor.size input dim
    aten::unsafe_chunk     torch.chunk input chunks dim
    aten::zero             torch.zeros_like input
"""
"""By line: the operator, the type whose layer runs it, and TorchScript's names for the operands.

Source: the schemas in PyTorch's native_functions.yaml.
"""

_KNOWN_AS = {words[0]: (words[1], words[2:]) for line in _SIGNATURES.strip().splitlines() if (words := line.split())}


@register(*_KNOWN_AS)
def layer_of_aten_operator(op: RuntimeOperator) -> Layer:
    """The layer of the operator's other name, with TorchScript's argument names for the operands."""
    known_as, names = _KNOWN_AS[op.type]
    return create(replace(op, type=known_as, input_names=names[: len(op.inputs)]))


@register("aten::eye")
def layer_of_aten_eye(op: RuntimeOperator) -> Layer:
    """torch.eye, which TorchScript gives one size or two in front of the same four settings."""
    sizes = ["n", "m"][: len(op.inputs) - 4]
    return create(replace(op, type="torch.eye", input_names=[*sizes, "dtype", "layout", "device", "pin_memory"]))
