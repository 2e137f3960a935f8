"""nn.Dropout and its family: at inference, the input itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_MODULES = ("nn.Dropout", "nn.Dropout1d", "nn.Dropout2d", "nn.Dropout3d", "nn.AlphaDropout", "nn.FeatureAlphaDropout")
_FUNCTIONS = (
    "F.dropout",
    "F.dropout1d",
    "F.dropout2d",
    "F.dropout3d",
    "F.alpha_dropout",
    "F.feature_alpha_dropout",
)


@register(*_MODULES, *_FUNCTIONS)
class Dropout(Layer):
    """The input, passed on: only training drops anything.

    Source: torch.nn.functional.dropout; Srivastava et al., Dropout, 2014.

    Raises
    ------
    UnsupportedOperatorError
        If the graph was exported in training mode.
    """

    is_pixelwise = True
    is_no_op = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.bool_param("training", False):
            raise self.unsupported("training=False", True)

    def forward(self, x: Array) -> Array:
        return x
