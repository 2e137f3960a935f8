"""torch.any and torch.all: whether some, or all, entries are true."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, reduced_axes
from kuiper.layers.registry import create, register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array, Layer


@register("torch.any", "torch.all")
class AnyAll(Reduction):
    """Whether ``any`` or ``all`` entries over ``dim`` are other than zero.

    Source: torch.any, torch.all.
    """

    def reduce(self, x: Array) -> Array:
        find = np.any if self.op.type.endswith("any") else np.all
        reduced = reduced_axes(x, self.dims, self.op.where)
        return np.asarray(find(x, axis=reduced, keepdims=self.keepdim))


@register("aten::any", "aten::all")
def any_all_of_operands(op: RuntimeOperator) -> Layer:
    """The same in TorchScript's spelling, where the settings are operands without names."""
    names = ["input", "dim", "keepdim"][: len(op.inputs)]
    return create(replace(op, type=op.type.replace("aten::", "torch."), input_names=names))
