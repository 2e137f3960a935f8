"""torch.prod: the product over one axis or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("torch.prod", "Tensor.prod")
class Prod(Reduction):
    """The product over ``dim``; integers and bools are multiplied as int64.

    Source: torch.prod.
    """

    def reduce(self, x: Array) -> Array:
        dtype = self.dtype or (x.dtype if x.dtype.kind == "f" else np.dtype(np.int64))
        reduced = reduced_axes(x, self.dims, self.op.where)
        return np.asarray(np.prod(x, axis=reduced, dtype=dtype, keepdims=self.keepdim))
