"""An activation: a function of one number, applied to every number of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ParameterError
from kuiper.layers.kernels import activations
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.graph.runtime_operator import RuntimeOperator

Array = np.ndarray

# What torch makes of integers: element kinds, and the function; of all others there is none.
_OF_INTEGERS: dict[str, tuple[str, Callable[[Array, float, float], Array]]] = {
    "relu": ("iu", lambda x, alpha, beta: np.maximum(x, 0)),
    "clip": ("i", lambda x, alpha, beta: np.clip(x, int(alpha), int(beta))),
    "sigmoid": ("iub", lambda x, alpha, beta: elementwise("sigmoid", x.astype(np.float32), where="sigmoid")),
    "tanh": ("iub", lambda x, alpha, beta: elementwise("tanh", x.astype(np.float32), where="tanh")),
}


@dataclass(frozen=True, slots=True)
class Activation:
    """A row of the table of activations, and its settings.

    ``name`` is one of ``kuiper/simd/activations.h``, where ``alpha`` and ``beta`` are called a and b: ``alpha`` is the
    slope of leaky_relu, the factor of elu, the low end of clip; ``beta`` is the high end of clip.

    >>> Activation("clip", 0.0, 6.0).apply(np.float32([-1, 3, 8]))
    array([0., 3., 6.], dtype=float32)
    """

    name: str = "none"
    alpha: float = 0.0
    beta: float = 0.0

    @classmethod
    def read(cls, op: RuntimeOperator) -> Activation:
        """The activation of a fused operator, from ``activation``, ``activation_alpha`` and ``activation_beta``.

        Raises
        ------
        ParameterError
            If there is no activation of that name.
        """
        name = op.str_param("activation", "none")
        if name not in activations.FUSED:
            raise ParameterError(op.where, f"activation={', '.join(activations.FUSED)}", name)
        return cls(name, op.float_param("activation_alpha", 0.0), op.float_param("activation_beta", 0.0))

    @property
    def is_fusable(self) -> bool:
        """Whether a fused operator can have it."""
        return self.name in activations.FUSED

    def apply(self, x: Array, where: str = "activation") -> Array:
        """The activation of each number, in a new array; float32, or integers where torch takes them.

        Raises
        ------
        DataTypeError
            If ``x`` is of another type.
        """
        kinds, of_integers = _OF_INTEGERS.get(self.name, ("", None))
        if self.name == "none":
            return x
        if of_integers is not None and x.dtype.kind in kinds:
            return of_integers(x, self.alpha, self.beta)
        return elementwise(self.name, x, self.alpha, self.beta, where=where)


def elementwise(name: str, x: Array, alpha: float = 0.0, beta: float = 0.0, *, where: str) -> Array:
    """A new array with the function of this name of all numbers.

    The order of the axes in memory does not matter to a function of one number: a dense array is handed over as it lies
    (a channels-last image stays channels-last), any other is copied first, in the order that the result has.

    >>> import numpy as np
    >>> elementwise("relu", np.float32([[1, -2], [-3, 4]]).T, where="doc")
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
        activations.apply(name, x.ravel("K"), y.ravel("K"), alpha, beta, threads_for(x.size))
    return y
