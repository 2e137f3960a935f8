"""onnxruntime's logistic function and tanh, to the last bit: quotients of two polynomials of the square.

    logistic(x) = x p(x**2) / q(x**2) + 1 / 2     for x within -18 .. 18
    tanh(x)     = x p(x**2) / q(x**2)             for x within -9 .. 9

What follows is turned to bytes again, where a difference in the last bit can become one of a whole step, and grow from
then on. A step of Horner's rule is a fused multiplication and addition of floats. In double the product of two floats
is exact, and so the sum is rounded as the fused one is (but once in half a billion), on every machine.

Source: onnxruntime, ``core/mlas/lib/logistic.cpp`` and ``tanh.cpp``, after Eigen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.layers.layer import Array

_LOGISTIC = (
    (4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03, 2.48287947061529e-01),
    (
        6.10247389755681e-13,
        5.76102136993427e-09,
        6.29106785017040e-06,
        1.70198817374094e-03,
        1.16817656904453e-01,
        9.93151921023180e-01,
    ),
)
_TANH = (
    (
        -2.76076847742355e-16,
        2.00018790482477e-13,
        -8.60467152213735e-11,
        5.12229709037114e-08,
        1.48572235717979e-05,
        6.37261928875436e-04,
        4.89352455891786e-03,
    ),
    (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03),
)
"""Coefficients of the upper and the lower polynomial of the square, the highest power first."""


def logistic(x: Array) -> Array:
    """``1 / (1 + exp(-x))`` in float32.

    >>> logistic(np.float32([0, 1, -50]))
    array([0.5      , 0.7310586, 0.       ], dtype=float32)
    """
    x = np.clip(x, np.float32(-18), np.float32(18))
    return np.asarray(np.clip(_odd_part(x, _LOGISTIC) + np.float32(0.5), np.float32(0), np.float32(1)))


def tanh(x: Array) -> Array:
    """The hyperbolic tangent in float32.

    >>> tanh(np.float32([0, -0.5]))
    array([ 0.        , -0.46211717], dtype=float32)
    """
    return _odd_part(np.clip(x, np.float32(-9), np.float32(9)), _TANH)


def _odd_part(x: Array, coefficients: tuple[Sequence[float], Sequence[float]]) -> Array:
    """``x p(x**2) / q(x**2)``, each step rounded to float32."""
    square = (x * x).astype(np.float64)
    p, q = (_polynomial(square, numbers) for numbers in coefficients)
    return np.asarray(p * x / q)


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """Horner's rule with fused steps: float64 holds the product of two float32 numbers."""
    first, *others = np.asarray(coefficients, np.float32)
    total = np.full(x.shape, first, np.float32)
    for number in others:
        total = (total.astype(np.float64) * x + np.float64(number)).astype(np.float32)
    return total
