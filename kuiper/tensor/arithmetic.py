"""Arithmetic as functions: the operators of Tensor under names, and two that have no operator.

Each takes tensors, float32 arrays or numbers, broadcasts the shapes, and returns a tensor with memory of its own.
"""

from __future__ import annotations

from kuiper.tensor import broadcasting, elementwise
from kuiper.tensor.broadcasting import Operand, combine
from kuiper.tensor.tensor import Tensor


def add(x: Operand, y: Operand) -> Tensor:
    """``x + y``.

    Parameters
    ----------
    x : a tensor, a float32 array or a number
    y : the same; the shapes are broadcast

    Returns
    -------
    A tensor of the broadcast shape, in memory of its own.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    DataTypeError
        If an operand is not of float32.

    Examples
    --------
    One number for each channel, of shape (c, 1, 1), is added to the whole channel:

    >>> images = Tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    >>> add(images, Tensor([100, 200]).reshape(2, 1, 1))
    Tensor(shape=(2, 2, 2))
    channel 0:
       101  102
       103  104
    channel 1:
       205  206
       207  208
    """
    return Tensor.wrap(combine(elementwise.add, x, y, "add"))


def sub(x: Operand, y: Operand) -> Tensor:
    """``x - y``.

    Parameters
    ----------
    x : a tensor, a float32 array or a number
    y : the same; the shapes are broadcast

    Returns
    -------
    A tensor of the broadcast shape, in memory of its own.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    DataTypeError
        If an operand is not of float32.

    Examples
    --------
    >>> sub(Tensor([10, 20]), 1).tolist()
    [9.0, 19.0]
    """
    return Tensor.wrap(combine(elementwise.sub, x, y, "sub"))


def mul(x: Operand, y: Operand) -> Tensor:
    """``x * y``, value by value.

    Parameters
    ----------
    x : a tensor, a float32 array or a number
    y : the same; the shapes are broadcast

    Returns
    -------
    A tensor of the broadcast shape, in memory of its own.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    DataTypeError
        If an operand is not of float32.

    Examples
    --------
    >>> mul(Tensor([[1, 2], [3, 4]]), Tensor([10, 100])).tolist()
    [[10.0, 200.0], [30.0, 400.0]]
    """
    return Tensor.wrap(combine(elementwise.mul, x, y, "mul"))


def div(x: Operand, y: Operand) -> Tensor:
    """``x / y``; division by zero gives an infinity or NaN.

    Parameters
    ----------
    x : a tensor, a float32 array or a number
    y : the same; the shapes are broadcast

    Returns
    -------
    A tensor of the broadcast shape, in memory of its own.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    DataTypeError
        If an operand is not of float32.

    Examples
    --------
    >>> div(Tensor([1, -1, 0]), 0).tolist()
    [inf, -inf, nan]
    """
    return Tensor.wrap(combine(elementwise.div, x, y, "div"))


def axpy(a: float, x: Operand, y: Operand) -> Tensor:
    """``a * x + y`` in one pass over memory.

    Parameters
    ----------
    a : a number
    x : a tensor or a float32 array
    y : the same, of the shape of ``x``

    Returns
    -------
    A tensor of this shape, in memory of its own.

    Raises
    ------
    ShapeError
        If the shapes differ.
    DataTypeError
        If ``a`` is not a number, or ``x`` or ``y`` is not of float32.

    Examples
    --------
    >>> axpy(2, Tensor([1, 2, 3]), Tensor([10, 10, 10])).tolist()
    [12.0, 14.0, 16.0]

    Source: BLAS level 1, SAXPY (which overwrites y).
    """
    return Tensor.wrap(broadcasting.axpy(a, x, y, "axpy"))


def exp_negative(x: Operand) -> Tensor:
    """exp(-x), value by value: the part of the sigmoid, 1 / (1 + exp(-x)), that costs time.

    >>> exp_negative(Tensor([0, float("inf")])).tolist()
    [1.0, 0.0]
    """
    return Tensor.wrap(broadcasting.exp_negative(x, "exp_negative"))
