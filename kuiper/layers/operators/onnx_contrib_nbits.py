"""Weights in 4 or 8 bits with a scale, and maybe a zero point, for each block of a row.

Source: onnxruntime, ContribOperators.md, MatMulNBits and GatherBlockQuantized.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.layers.axes import axis as counted_axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.linear import linear
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


def unpacked(data: Array, bits: int) -> Array:
    """The numbers in bytes (..., m), the lower half of a byte first.

    >>> unpacked(np.uint8([0x21, 0xF3]), 4)
    array([ 1,  2,  3, 15], dtype=uint8)
    """
    if bits == 8:
        return data
    return np.stack([data & 15, data >> 4], axis=-1).reshape(*data.shape[:-1], 2 * data.shape[-1])


def dequantized_blocks(numbers: Array, scales: Array, zero_points: Array, size: int) -> Array:
    """``(number - zero_point) * scale`` as float32, scales being those of blocks of this size of the last axis.

    >>> dequantized_blocks(np.uint8([[1, 2, 3]]), np.float32([[1, 10]]), np.uint8([[0, 1]]), 2)
    array([[ 1.,  2., 20.]], dtype=float32)
    """
    count = numbers.shape[-1]
    wide, points = (np.repeat(part.astype(np.float32), size, -1)[..., :count] for part in (scales, zero_points))
    return np.asarray((numbers.astype(np.float32) - points) * wide)


class BlockForm(NamedTuple):
    """The form of a weight (n, k) of MatMulNBits: rows are cut into blocks of a size, a power of two."""

    n: int
    k: int
    size: int
    bits: int

    @property
    def blocks(self) -> int:
        """How many blocks a row has, the last one perhaps with numbers that nobody uses."""
        return -(-self.k // self.size)

    @property
    def blob(self) -> int:
        """How many bytes a row has."""
        return self.blocks * self.size * self.bits // 8

    def check(self, where: str) -> None:
        """Raise ParameterError unless there can be such a weight.

        Raises
        ------
        ParameterError
            If a size is out of range.
        UnsupportedOperatorError
            If it has neither 4 nor 8 bits.
        """
        if self.size < 16 or self.size & (self.size - 1) or min(self.n, self.k) < 1:
            raise ParameterError(where, "N and K of at least 1, block_size=16, 32, 64, ...", tuple(self))
        if self.bits not in (4, 8):
            raise UnsupportedOperatorError(where, "4 or 8 bits", self.bits)

    def weight(self, where: str, numbers: Array, scales: Array, zeros: Array | None = None) -> Array:
        """The weight as float32.

        >>> BlockForm(1, 2, 16, 8).weight("doc", np.full((1, 1, 16), 130, np.uint8), np.float32([[0.5]]))
        array([[1., 1.]], dtype=float32)

        Raises
        ------
        ShapeError
            If the arrays are not of this form.
        """
        shape = (self.n, self.blocks)
        if numbers.dtype != np.uint8 or numbers.size != self.n * self.blob or scales.size != math.prod(shape):
            got = (numbers.dtype, numbers.shape, scales.shape)
            raise ShapeError(where, f"{self.blob} bytes and {self.blocks} scales for each of {self.n} rows", got)
        if zeros is None:
            zeros = np.full(shape, 1 << (self.bits - 1))
        elif zeros.dtype == np.uint8 and zeros.size == self.n * -(-self.blocks * self.bits // 8):
            zeros = unpacked(zeros.reshape(self.n, -1), self.bits)[:, : self.blocks]
        elif zeros.size != math.prod(shape):
            raise ShapeError(where, f"zero points {shape}", zeros.shape)
        rows = unpacked(numbers.reshape(self.n, -1), self.bits)
        floats = dequantized_blocks(rows, scales.reshape(shape), zeros.reshape(shape), self.size)
        return np.ascontiguousarray(floats[:, : self.k])


@register("MatMulNBits")
class MatMulNBits(Layer):
    """The input (..., K) times the transpose of a weight (N, K) that the graph computes, in blocks of few bits.

    Source: as the module.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.form = BlockForm(*(op.int_param(key) for key in ("N", "K", "block_size", "bits")))
        self.form.check(op.where)

    def forward(self, x: Array, numbers: Array, scales: Array, zeros: Array | None = None) -> Array:
        weight = self.form.weight(self.op.where, numbers, scales, zeros)
        return linear(x, np.ascontiguousarray(weight.T), None, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * self.form.k * math.prod(outputs[0])


@register("GatherBlockQuantized")
class GatherBlockQuantized(Layer):
    """Entries of ``gather_axis`` of a table whose ``quantize_axis`` is cut into blocks, as floats.

    ``packed`` says that two numbers of 4 bits share a byte along the last axis. An index out of range gives zeros.

    Source: as the module.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.bits = op.int_param("bits", 4)
        self.is_packed = op.bool_param("packed", False)
        self.size = op.int_param("block_size", 128)
        self.weights = {name: attribute.data for name, attribute in op.attrs.items()}

    def forward(self, *inputs: Any) -> Array:
        given = self.weights | dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True))
        data, indices, scales, zeros = (given.get(name) for name in ("data", "indices", "scales", "zero_points"))
        assert data is not None
        assert indices is not None
        assert scales is not None
        if indices.dtype.kind not in "iu":
            raise DataTypeError(self.op.where, "indices in integers", indices.dtype)
        gathered, blocks = self._axes(data, scales, zeros)
        count = data.shape[gathered]
        outside = ((indices < -count) | (indices >= count)).ravel()
        places = np.where(outside, 0, indices.ravel() % count)
        check_size((data.size // count * (8 // self.bits if self.is_packed else 1), indices.size), 4, self.op.where)
        rows, scale = (np.take(part, places, gathered) for part in (data, scales))
        points = self._zero_points(zeros, places, gathered, scale.shape)
        rows, scale, points = (np.moveaxis(part, blocks, -1) for part in (rows, scale, points))
        if self.is_packed:
            rows = unpacked(rows, self.bits)
        floats = np.moveaxis(dequantized_blocks(rows, scale, points, self.size), -1, blocks)
        floats = np.where(
            np.expand_dims(outside, [k for k in range(floats.ndim) if k != gathered]), np.float32(0), floats
        )
        return floats.reshape(*floats.shape[:gathered], *indices.shape, *floats.shape[gathered + 1 :])

    def _axes(self, data: Array, scales: Array, zeros: Array | None) -> tuple[int, int]:
        """The axis of the indices and that of the blocks, in tables that fit each other."""
        gathered = counted_axis(self.op.int_param("gather_axis", 0), data.ndim, self.op.where)
        blocks = counted_axis(self.op.int_param("quantize_axis", 1), data.ndim, self.op.where)
        fits = (
            data.ndim > 1 and data.size > 0 and gathered != blocks and (not self.is_packed or blocks == data.ndim - 1)
        )
        self.expect(fits, "a table with an axis for indices and another, the last if packed, for blocks", data.shape)
        expected = list(data.shape)
        length = data.shape[blocks] * (8 // self.bits if self.is_packed else 1)
        expected[blocks] = -(-length // self.size)
        self.expect(list(scales.shape) == expected, f"scales {tuple(expected)}", scales.shape)
        if zeros is not None and self.is_packed:
            expected[blocks] = -(-expected[blocks] * self.bits // 8)
        if zeros is not None:
            self.expect(list(zeros.shape) == expected, f"zero points {tuple(expected)}", zeros.shape)
        return gathered, blocks

    def _zero_points(self, zeros: Array | None, places: Array, gathered: int, shape: tuple[int, ...]) -> Array:
        """The zero points of the gathered blocks: the middle of bytes, 0 of int4 and uint4, where there are none."""
        if zeros is None:
            return np.full(shape, 1 << (self.bits - 1) if self.is_packed else 0)
        rows = np.take(zeros, places, gathered)
        return unpacked(rows, self.bits)[..., : shape[-1]] if self.is_packed else rows
