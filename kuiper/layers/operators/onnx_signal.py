"""Spectra in ONNX's spelling: DFT, STFT and MelWeightMatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axis as counted_axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_cells import words
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("DFT")
class Dft(Layer):
    """The discrete Fourier transform along one axis of (..., 1) or, real and imaginary parts, (..., 2).

    The parameter ``inputs`` says which are given of the signal, dft_length and axis. ``onesided`` leaves out what
    follows by symmetry, and with ``inverse`` takes such a spectrum and puts out (..., 1).

    Source: ONNX, DFT.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.given = words(op, "inputs", ("input", "dft_length", "axis"), len(op.inputs))
        self.axis, self.inverse = op.int_param("axis", -2), op.bool_param("inverse", False)
        self.onesided = op.bool_param("onesided", False)

    def forward(self, *inputs: Array) -> Array:
        given = dict(zip(self.given, inputs, strict=True))
        x = given["input"]
        self.expect(x.ndim > 1 and x.shape[-1] in (1, 2), "input (..., 1) or (..., 2)", x.shape)
        axis = counted_axis(int(given.get("axis", self.axis)), x.ndim, self.op.where)
        self.expect(axis < x.ndim - 1, "an axis other than the last", axis)
        usual = 2 * (x.shape[axis] - 1) if self.inverse and self.onesided else x.shape[axis]
        length = int(given.get("dft_length", usual))
        self.expect(length >= 1, "dft_length of at least 1", length)
        check_size((*x.shape[:axis], length, *x.shape[axis + 1 :]), 16, self.op.where)
        numbers = as_complex(x)
        if self.inverse and self.onesided:
            return np.asarray(np.fft.irfft(numbers, length, axis)[..., None], x.dtype)
        if self.inverse:
            return as_pairs(np.fft.ifft(numbers, length, axis), x.dtype)
        spectrum = np.fft.fft(numbers, length, axis)
        if self.onesided:
            spectrum = spectrum.take(np.arange(length // 2 + 1), axis)
        return as_pairs(spectrum, x.dtype)


@register("STFT")
class Stft(Layer):
    """The spectra (n, frames, bins, 2) of pieces of a signal (n, length, 1), or of a complex one (n, length, 2).

    The parameter ``inputs`` says which are given of signal, frame_step, window and frame_length. A signal (n, length),
    which ONNX does not know and onnxruntime takes, counts as (n, length, 1).

    Source: ONNX, STFT.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.given = words(op, "inputs", ("signal", "frame_step", "window", "frame_length"), len(op.inputs))
        self.onesided = op.bool_param("onesided", True)

    def forward(self, *inputs: Array) -> Array:
        given = dict(zip(self.given, inputs, strict=True))
        x, step, window = given["signal"], int(given["frame_step"]), given.get("window")
        x = x[..., None] if x.ndim == 2 else x
        self.expect(x.ndim == 3 and x.shape[-1] in (1, 2), "a signal (n, length, 1) or (n, length, 2)", x.shape)
        frame = int(given.get("frame_length", x.shape[1] if window is None else window.size))
        fits = step >= 1 and 1 <= frame <= x.shape[1]
        self.expect(fits, "a frame within the signal, a step of at least 1", (frame, step, x.shape))
        self.expect(
            window is None or window.shape == (frame,), f"window ({frame},)", None if window is None else window.shape
        )
        frames = np.lib.stride_tricks.sliding_window_view(as_complex(x), frame, axis=1)[:, ::step]
        check_size(frames.shape, 16, self.op.where)
        windowed = frames if window is None else frames * window.astype(np.float64)
        if self.onesided and x.shape[-1] == 1:
            return as_pairs(np.fft.rfft(windowed), x.dtype)
        spectra = np.fft.fft(windowed)
        return as_pairs(spectra[..., : frame // 2 + 1] if self.onesided else spectra, x.dtype)


@register("MelWeightMatrix")
class MelWeightMatrix(Layer):
    """Triangles (dft_length // 2 + 1, num_mel_bins), float64, that add up bins of a spectrum as the ear does.

    Inputs are num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz.

    Source: ONNX, MelWeightMatrix.
    """

    data_inputs = None

    def forward(self, bins: Array, length: Array, rate: Array, lower: Array, upper: Array) -> Array:
        count, size = int(bins), int(length) // 2 + 1
        self.expect(count >= 0 and int(length) > 0 < int(rate), "sizes above 0", (count, int(length), int(rate)))
        check_size((size, count), 8, self.op.where)
        low, high = (2595 * np.log10(1 + float(edge) / 700) for edge in (lower, upper))
        mels = low + np.arange(count + 2) * ((high - low) / (count + 2))
        points = np.floor((int(length) + 1) * (700 * (10 ** (mels / 2595) - 1)) / int(rate)).astype(np.int64)
        if not 0 <= points.min() <= points.max() < size:
            raise ParameterError(self.op.where, "edges from 0 to half of the sample rate", (float(lower), float(upper)))
        out = np.zeros((size, count))
        for i in range(count):
            left, centre, right = points[i : i + 3]
            out[left : centre + 1, i] = np.arange(centre - left + 1) / (centre - left) if centre > left else 1
            if right > centre:
                out[centre:right, i] = np.arange(right - centre, 0, -1) / (right - centre)
        return out


def as_complex(x: Array) -> Array:
    """Real numbers (..., 1), or complex numbers as pairs (..., 2), without the last axis."""
    return x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]


def as_pairs(x: Array, dtype: np.dtype) -> Array:
    """Complex numbers as pairs (..., 2).

    >>> as_pairs(np.array([1 + 2j]), np.dtype(np.float32))
    array([[1., 2.]], dtype=float32)
    """
    return np.stack([x.real, x.imag], axis=-1).astype(dtype)
