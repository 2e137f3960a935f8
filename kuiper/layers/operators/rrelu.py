"""nn.RReLU: a leaky ReLU whose slope was random in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.RReLU", "F.rrelu")
class RReLU(Elementwise):
    """At inference a leaky ReLU with the mean slope, ``(lower + upper) / 2``.

    Source: torch.nn.functional.rrelu; Xu et al., Empirical Evaluation of Rectified Activations, 2015.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.bool_param("training", False):
            raise self.unsupported("training=False", True)
        slope = (op.float_param("lower", 1 / 8) + op.float_param("upper", 1 / 3)) / 2
        self.function = Activation("leaky_relu", slope)
