"""Weights in 8 or 4 bits: whole numbers, and what to multiply them by.

    8 bits    @weight=(out,in)i8       @weight_scales=(out)f32            weight[o, i] = q[o, i] * scales[o]
    4 bits    @weight=(out,in/2)u8     @weight_scales=(out,in/32)f16      weight[o, i] = q[o, i] * scales[o, i / 32]

The quantisation is symmetric: 0 stays 0. In a byte of the second kind the lower half is the number of even, the higher
half that of odd index, both from -8 to 7 in two's complement. Weights of more axes, of convolutions, are quantised in 8
bits by their first axis.

Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference",
2018 (scales by channel); T. Dettmers, L. Zettlemoyer, "The case for 4-bit precision", 2023 (small groups).
"""

from __future__ import annotations

import numpy as np

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.stored_array import StoredArray

GROUP = 32
"""Numbers of a row that share a scale in 4 bits."""

SCALES = "_scales"
"""What the name of a quantised weight's scales ends with."""


class QuantizedWeight:
    """A weight as whole numbers and scales.

    Attributes
    ----------
    bits : 8 or 4
    shape : of the weight
    stored : int8 of this shape, or uint8 (out, in / 2), two numbers in each
    scales : (out,) for 8 bits, (out, in / 32) for 4
    """

    def __init__(self, bits: int, shape: tuple[int, ...], data: np.ndarray, scales: np.ndarray) -> None:
        self.bits, self.shape, self.scales = bits, shape, scales
        self.stored = StoredArray(data)

    @property
    def data(self) -> np.ndarray:
        """The array in ``stored``."""
        return self.stored.get()

    def numbers(self) -> np.ndarray:
        """The whole numbers as int8, of the weight's shape."""
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
        if self.bits == 8:
            return self.data * scales.reshape(-1, *(1 for _ in self.shape[1:]))
        return (self.numbers().reshape(self.shape[0], -1, GROUP) * scales[..., None]).reshape(self.shape)


def quantize(weight: np.ndarray, bits: int) -> QuantizedWeight:
    """A weight in 8 or 4 bits, rounded to the nearest number that these can hold.

    Parameters
    ----------
    weight : (out, ...) for 8 bits, (out, in) with ``in`` a multiple of 32 for 4
    bits : 8 or 4

    Returns
    -------
    Its whole numbers and scales.

    Raises
    ------
    ParameterError
        If these bits cannot hold a weight of this shape, or it has NaN or infinity in it.

    Examples
    --------
    >>> quantize(np.float32([[0.0, 0.3, -2.54]]), bits=8).data
    array([[   0,   15, -127]], dtype=int8)
    """
    if bits not in (8, 4):
        raise ParameterError("quantize", "8 or 4 bits", bits)
    if weight.ndim < 2 or (bits == 4 and (weight.ndim != 2 or weight.shape[1] % GROUP)):
        raise ParameterError("quantize", f"a weight (out, ...), for 4 bits (out, {GROUP} * n)", weight.shape)
    if not np.isfinite(weight).all():
        raise ParameterError("quantize", "finite weights", "NaN or infinity")
    groups = weight.reshape(len(weight), -1, GROUP if bits == 4 else max(1, weight[0].size)).astype(np.float32)
    largest = 127 if bits == 8 else 7
    scales = np.abs(groups).max(axis=-1) / np.float32(largest)
    if bits == 4:
        scales = scales.astype(np.float16)
    divisors = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    numbers = np.clip(np.rint(groups / divisors), -largest - 1, largest).astype(np.int8)
    if bits == 8:
        return QuantizedWeight(8, weight.shape, numbers.reshape(weight.shape), scales[:, 0])
    pairs = numbers.reshape(len(weight), -1, 2).view(np.uint8)
    return QuantizedWeight(4, weight.shape, (pairs[..., 0] & 15) | (pairs[..., 1] << 4), scales)


class QuantizedAttribute:
    """A quantised weight of a runtime operator: to whoever asks for its ``data`` it is one of float32."""

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
    """The weight that a file gives as whole numbers and scales.

    Raises
    ------
    ModelFormatError
        If the two do not fit together.
    """
    if data.dtype == np.int8 and data.ndim >= 2 and scales.shape == data.shape[:1]:
        return QuantizedWeight(8, data.shape, data, scales)
    if data.dtype == np.uint8 and data.ndim == 2 and scales.shape == (len(data), 2 * data.shape[1] / GROUP):
        return QuantizedWeight(4, (len(data), 2 * data.shape[1]), data, scales)
    expected = f"i8 (out, ...) with scales (out), or u8 (out, in/2) with scales (out, in/{GROUP})"
    raise ModelFormatError(where, expected, f"{data.dtype} {data.shape} with scales {scales.shape}")
