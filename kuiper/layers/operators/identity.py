"""nn.Identity: the input, passed on."""

from __future__ import annotations

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("nn.Identity")
class Identity(Layer):
    """The input, passed on: a place in a model where something else could stand.

    Source: torch.nn.Identity.
    """

    is_pixelwise = True
    is_no_op = True

    def forward(self, x: Array) -> Array:
        return x
