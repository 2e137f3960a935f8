"""torch.logsumexp: the logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, expect_elements, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("torch.logsumexp", "Tensor.logsumexp")
class LogSumExp(Reduction):
    """log(sum(exp(x))) over ``dim``, without overflow: the largest entry is taken out first.

    Source: torch.logsumexp.
    """

    def reduce(self, x: Array) -> Array:
        reduced = reduced_axes(x, self.dims, self.op.where)
        expect_elements(x, reduced, self.op.where)
        top = np.max(x, axis=reduced, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)  # inf - inf would be NaN
        with np.errstate(all="ignore"):
            total = np.sum(np.exp(x - top), axis=reduced, dtype=np.float64, keepdims=True)
            result = np.log(total) + top
        return np.asarray(result if self.keepdim else result.squeeze(reduced), x.dtype)
