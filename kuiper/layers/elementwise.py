"""What the activations share: a function of one number, applied to every number of an array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError
from kuiper.layers.layer import Layer
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.layers.layer import Array


class Elementwise(Layer):
    """The base of the activations: the output has the shape of the input, and each number costs one operation."""

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])


def elementwise(kernel: Callable[..., None], x: Array, *settings: float, where: str) -> Array:
    """A new array ``y`` with ``kernel(x, y, *settings, num_threads)`` run over all numbers.

    The order of the axes in memory does not matter to a function of one number: a dense array is handed over as it lies
    (a channels-last image stays channels-last), any other is copied first, in the order that the result has.

    >>> import numpy as np
    >>> from kuiper.layers.kernels import activations
    >>> elementwise(activations.relu, np.float32([[1, -2], [-3, 4]]).T, where="doc")
    array([[1., 0.],
           [0., 4.]], dtype=float32)

    Raises
    ------
    DataTypeError
        If ``x`` is not float32.
    """
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    y = np.empty_like(x)  # keeps the order of the axes in memory, as ravel("K") does where no step is 0
    if x.size:
        if any(n > 1 and step != other for n, step, other in zip(x.shape, x.strides, y.strides, strict=True)):
            x = x.copy(order="K")
        kernel(x.ravel("K"), y.ravel("K"), *settings, threads_for(x.size))
    return y


def as_fractions(x: Array) -> Array:
    """Whole numbers and booleans as float32: what torch does where a function of them is a fraction."""
    return x.astype(np.float32) if x.dtype.kind in "iub" else x
