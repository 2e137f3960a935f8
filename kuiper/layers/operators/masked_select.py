"""torch.masked_select: the entries that a mask marks."""

from __future__ import annotations

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("torch.masked_select")
class MaskedSelect(Layer):
    """A vector of the entries of the input where ``mask`` is True; both broadcast against each other.

    How long it is depends on what is in the mask.

    Source: torch.masked_select.
    """

    data_inputs = ("input", "self", "mask")

    def forward(self, x: Array, mask: Array) -> Array:
        if mask.dtype != np.bool_:
            raise DataTypeError(self.op.where, "a mask of bools", mask.dtype)
        try:
            entries, marked = np.broadcast_arrays(x, mask)
        except ValueError:
            raise ShapeError(self.op.where, f"a mask that broadcasts with {x.shape}", mask.shape) from None
        return np.asarray(entries[marked])
