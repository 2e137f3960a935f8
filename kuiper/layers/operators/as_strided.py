"""torch.as_strided: a tensor's memory, read in other steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.as_strided")
class AsStrided(Layer):
    """out[i, j] = memory[storage_offset + i stride[0] + j stride[1]], for a tensor of shape ``size``.

    The memory is that of the input in C order, as torch has it unless the input is a view of another order.

    Source: torch.as_strided.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.size, self.stride = op.ints_param("size"), op.ints_param("stride")
        self.offset = op.int_param("storage_offset", None) or 0
        if len(self.size) != len(self.stride) or min((*self.size, *self.stride, self.offset), default=0) < 0:
            expected = "size and stride of one length, no number below 0"
            raise ParameterError(op.where, expected, (self.size, self.stride, self.offset))

    def forward(self, x: Array) -> Array:
        return as_strided(x, self.size, self.stride, self.offset, self.op.where)


def as_strided(x: Array, size: tuple[int, ...], stride: tuple[int, ...], offset: int = 0, where: str = "view") -> Array:
    """A copy of the numbers of ``x`` at ``offset`` plus multiples of the strides.

    >>> as_strided(np.array([[1, 2, 3], [4, 5, 6]]), (2, 2), (1, 2))
    array([[1, 3],
           [2, 4]])

    Raises
    ------
    ShapeError
        If a number lies behind the last one of ``x``.
    """
    reach = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and reach >= x.size:
        raise ShapeError(where, f"an input of at least {reach + 1} numbers", x.shape)
    check_size(size, 8, where)
    places = np.full(size, offset if 0 not in size else 0, np.intp)
    for dim, (n, step) in enumerate(zip(size, stride, strict=True)):
        places += (np.arange(n) * (step if n > 1 else 0)).reshape(-1, *(1,) * (len(size) - dim - 1))
    return np.asarray(x.reshape(-1)[places])
