"""torch.clone and its kin: operators that change where numbers lie, not what they are."""

from __future__ import annotations

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("torch.clone", "Tensor.clone", "Tensor.contiguous", "Tensor.detach", "torch.detach")
class Clone(Layer):
    """The input itself: no layer writes to its inputs, so nobody can tell it from a copy.

    Source: torch.clone.
    """

    is_pixelwise = True
    is_copy = True

    def forward(self, x: Array) -> Array:
        return x
