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

_SIGNATURES = {
    "aten::avg_pool2d": (
        "F.avg_pool2d",
        ("input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"),
    ),
    "aten::channel_shuffle": ("F.channel_shuffle", ("input", "groups")),
    "aten::max_pool2d": ("F.max_pool2d", ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")),
    "aten::new_full": ("Tensor.new_full", ("input", "size", "fill_value", "dtype", "layout", "device", "pin_memory")),
}


@register(*_SIGNATURES)
def layer_of_aten_operator(op: RuntimeOperator) -> Layer:
    """The layer of the operator's other name, with TorchScript's argument names for the operands.

    Source: the schemas in PyTorch's native_functions.yaml.
    """
    known_as, names = _SIGNATURES[op.type]
    return create(replace(op, type=known_as, input_names=list(names[: len(op.inputs)])))
