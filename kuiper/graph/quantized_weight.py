"""Weights in 8 or 4 bits: integers, and what to multiply them by.

    8 bits              @weight=(out,in)i8      @weight_scales=(out)f32          weight[o, i] = q[o, i] * scales[o]
    8 bits in groups    @weight=(out,in)i8      @weight_scales=(out,in/32)f16    ... = q[o, i] * scales[o, i / 32]
    4 bits              @weight=(out,in/2)u8    @weight_scales=(out,in/32)f16    ... = q[o, i] * scales[o, i / 32]

The quantisation is symmetric: 0 stays 0. In a byte of the last kind the lower half is the number of even, the higher
half that of odd index, both from -8 to 7 in two's complement. Weights of more axes, of convolutions, are quantised in 8
bits by their first axis.

Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference",
2018 (scales by channel); T. Dettmers, L. Zettlemoyer, "The case for 4-bit precision", 2023 (small groups).
"""

from __future__ import annotations

import math

import numpy as np

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.stored_array import StoredArray

GROUP = 32
"""Numbers of a row that share a scale, where not all of them do."""

SCALES = "_scales"
"""What the name of a quantised weight's scales ends with."""


class QuantizedWeight:
    """A weight as integers and scales.

    Attributes
    ----------
    bits : 8 or 4
    shape : of the weight
    stored : int8 of this shape, or uint8 (out, in / 2), two numbers in each
    scales : (out,) of float32, or (out, in / 32) of float16
    """

    def __init__(self, bits: int, shape: tuple[int, ...], data: np.ndarray, scales: np.ndarray) -> None:
        self.bits, self.shape, self.scales = bits, shape, scales
        self.stored = StoredArray(data)

    @property
    def data(self) -> np.ndarray:
        """The array in ``stored``."""
        return self.stored.get()

    @property
    def in_groups(self) -> bool:
        """Whether each 32 numbers of a row have a scale, and not each row."""
        return self.scales.ndim == 2

    @property
    def group(self) -> int:
        """How many numbers of a row share a scale."""
        return GROUP if self.in_groups else math.prod(self.shape[1:])

    def numbers(self) -> np.ndarray:
        """The integers as int8, of the weight's shape."""
        if self.bits == 8:
            return self.data
        data = self.data
        low, high = data << 4, data & 0xF0
        return np.asarray(np.stack([low, high], axis=-1).view(np.int8) >> 4).reshape(self.shape)

    def dequantized(self) -> np.ndarray:
        """The weight as float32.

        >>> quantize(np.float32([[0.5, -1.27]]), bits=8).dequantized()
        array([[ 0.5 , -1.27]], dtype=float32)
        """
        scales = self.scales.astype(np.float32)
        if not self.in_groups:
            return self.data * scales.reshape(-1, *(1 for _ in self.shape[1:]))
        return (self.numbers().reshape(*scales.shape, GROUP) * scales[..., None]).reshape(self.shape)


def quantize(weight: np.ndarray, bits: int, group: int | None = None) -> QuantizedWeight:
    """A weight in 8 or 4 bits, rounded to the nearest number that these can hold.

    Parameters
    ----------
    weight : (out, ...) with a scale for each row, (out, in) with ``in`` a multiple of 32 for groups
    bits : 8 or 4
    group : how many numbers of a row share a scale: 32, or None for a whole row in 8 bits and for 32 in 4

    Returns
    -------
    Its integers and scales.

    Raises
    ------
    ParameterError
        If these bits cannot hold a weight of this shape, or it has NaN or infinity in it, or numbers too large for
        scales of float16.

    Examples
    --------
    >>> quantize(np.float32([[0.0, 0.3, -2.54]]), bits=8).data
    array([[   0,   15, -127]], dtype=int8)
    """
    in_groups = has_groups(bits, group)
    if weight.ndim < 2 or (in_groups and (weight.ndim != 2 or weight.shape[1] % GROUP)):
        raise ParameterError("quantize", f"a weight (out, ...), for groups (out, {GROUP} * n)", weight.shape)
    if not np.isfinite(weight).all():
        raise ParameterError("quantize", "finite weights", "NaN or infinity")
    groups = weight.reshape(len(weight), -1, GROUP if in_groups else max(1, weight[0].size)).astype(np.float32)
    most = 127 if bits == 8 else 7
    largest = np.abs(groups).max(axis=-1)
    scales = _half_scales(largest, most) if in_groups else largest / np.float32(most)
    divisors = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    numbers = np.clip(np.rint(groups / divisors), -most - 1, most).astype(np.int8)
    if not in_groups:
        return QuantizedWeight(8, weight.shape, numbers.reshape(weight.shape), scales[:, 0])
    if bits == 8:
        return QuantizedWeight(8, weight.shape, numbers.reshape(weight.shape), scales)
    pairs = numbers.reshape(len(weight), -1, 2).view(np.uint8)
    return QuantizedWeight(4, weight.shape, (pairs[..., 0] & 15) | (pairs[..., 1] << 4), scales)


def has_groups(bits: int, group: int | None) -> bool:
    """Whether a weight in this many bits has a scale for each 32 numbers of a row.

    Raises
    ------
    ParameterError
        If there are no such weights.

    Examples
    --------
    >>> has_groups(8, None), has_groups(8, 32), has_groups(4, None)
    (False, True, True)
    """
    if bits not in (8, 4):
        raise ParameterError("quantize", "8 or 4 bits", bits)
    if group not in (None, GROUP):
        raise ParameterError("quantize", f"groups of {GROUP} numbers, or None", group)
    return bits == 4 or group is not None


def _half_scales(largest: np.ndarray, most: int) -> np.ndarray:
    """Scales of float16, with which the largest numbers do not pass ``most`` by more than rounding takes back."""
    with np.errstate(over="ignore"):
        scales = (largest / np.float32(most)).astype(np.float16)
    # The smallest float16 are far apart: one that was rounded down would cut off the largest number.
    short = largest > (most + np.float32(0.5)) * scales.astype(np.float32)
    scales = np.asarray(np.where(short, np.nextafter(scales, np.float16(np.inf)), scales))
    if not np.isfinite(scales).all():
        raise ParameterError("quantize", f"weights up to {most * 65504:,}, for scales of float16", largest.max())
    return scales


class QuantizedAttribute:
    """A quantised weight of a runtime operator: to anyone who asks for its ``data`` it is one of float32."""

    type = DataType.F32

    def __init__(self, quantized: QuantizedWeight) -> None:
        self.quantized = quantized
        self.shape = quantized.shape

    @property
    def data(self) -> np.ndarray:
        """The weight as float32, made anew for each who asks."""
        return self.quantized.dequantized()

    def parts(self) -> tuple[np.ndarray, ...]:
        """The arrays that make up the weight, as they are stored."""
        return (self.quantized.data, self.quantized.scales)


def quantized_weight(data: np.ndarray, scales: np.ndarray, where: str) -> QuantizedWeight:
    """The weight that a file gives as integers and scales.

    Raises
    ------
    ModelFormatError
        If the two do not fit together.
    """
    if data.dtype == np.int8 and data.ndim >= 2:
        rows = scales.shape == data.shape[:1] and scales.dtype == np.float32
        if rows or (data.ndim == 2 and _are_of_groups(scales, data.shape)):
            return QuantizedWeight(8, data.shape, data, scales)
    if data.dtype == np.uint8 and data.ndim == 2:
        shape = len(data), 2 * data.shape[1]
        if _are_of_groups(scales, shape):
            return QuantizedWeight(4, shape, data, scales)
    groups = f"(out, in/{GROUP}) of float16"
    expected = f"i8 (out, ...) with scales (out) of float32 or {groups}, or u8 (out, in/2) with {groups}"
    got = f"{data.dtype} {data.shape} with scales {scales.shape} of {scales.dtype}"
    raise ModelFormatError(where, expected, got)


def _are_of_groups(scales: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether these are scales of a weight (out, in) in groups."""
    return scales.dtype == np.float16 and scales.shape == (shape[0], shape[1] / GROUP)
