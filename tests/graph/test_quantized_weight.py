"""Weights in 8 and 4 bits: rounding, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.graph.pnnx import DataType
from kuiper.graph.quantized_weight import GROUP, QuantizedAttribute, quantize, quantized_weight
from tests.arrays import numbers


@pytest.mark.parametrize(("bits", "group", "levels"), [(8, None, 127), (8, GROUP, 127), (4, None, 7), (4, GROUP, 7)])
@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-8])  # the smallest float16 are 6e-8 apart
def test_quantize_rounds_to_half_a_step(bits: int, group: int | None, levels: int, size: float) -> None:
    weight = numbers(5, 3 * GROUP) * np.float32(size * levels)
    quantized = quantize(weight, bits, group)
    got = quantized.dequantized()
    groups = weight.reshape(5, -1, quantized.group)
    assert quantized.group == (3 * GROUP if (bits, group) == (8, None) else GROUP)
    step = np.abs(groups).max(axis=-1, keepdims=True) / levels
    if quantized.in_groups:
        step = np.maximum(step, 2**-24)
    assert np.all(np.abs(got.reshape(groups.shape) - groups) <= 0.502 * step + 0.001 * np.abs(groups))


def test_quantize_of_whole_numbers_loses_nothing() -> None:
    weight = np.arange(-127, 128, dtype=np.float32).reshape(1, -1)
    np.testing.assert_array_equal(quantize(weight, 8).dequantized(), weight)
    groups = np.random.default_rng(1).integers(-127, 128, (4, 3, GROUP)).astype(np.float32)
    groups[..., 0] = 127
    weight = (groups * np.exp2([[[-9], [0], [4]]], dtype=np.float32)).reshape(4, -1)
    np.testing.assert_array_equal(quantize(weight, 8, GROUP).dequantized(), weight)
    weight = np.tile(np.arange(-7, 8, dtype=np.float32), 32).reshape(-1, GROUP)
    weight[:, 0] = 7
    np.testing.assert_array_equal(quantize(weight, 4).dequantized(), weight)


def test_quantize_of_zeros_gives_zeros() -> None:
    for bits, group in ((8, None), (8, GROUP), (4, None)):
        np.testing.assert_array_equal(quantize(np.zeros((2, 64), np.float32), bits, group).dequantized(), 0)


def test_groups_keep_small_numbers_beside_large_ones() -> None:
    weight = np.concatenate([np.full(GROUP, 100), np.full(GROUP, 0.01)]).astype(np.float32)[None]
    np.testing.assert_array_equal(quantize(weight, 8).dequantized()[:, GROUP:], 0)
    np.testing.assert_allclose(quantize(weight, 8, GROUP).dequantized(), weight, rtol=1e-3)


@given(st.integers(0, 255))
def test_numbers_of_a_byte_are_its_halves(byte: int) -> None:
    data = np.full((1, GROUP // 2), byte, np.uint8)
    weight = quantized_weight(data, np.ones((1, 1), np.float16), "here")
    low, high = weight.numbers()[0, :2].tolist()
    assert (low & 15, high & 15) == (byte & 15, byte >> 4)
    assert -8 <= min(low, high) <= max(low, high) <= 7


@pytest.mark.parametrize(
    ("weight", "bits", "group", "message"),
    [
        (numbers(4, 32), 5, None, "expected 8 or 4 bits, got 5"),
        (numbers(4, 32), 8, 16, "expected groups of 32 numbers, or None, got 16"),
        (numbers(32), 8, None, r"expected a weight \(out, ...\)"),
        (numbers(4, 33), 4, None, r"for groups \(out, 32 \* n\), got \(4, 33\)"),
        (numbers(4, 33), 8, 32, r"for groups \(out, 32 \* n\), got \(4, 33\)"),
        (numbers(4, 32, 1, 1), 4, None, "for groups"),
        (numbers(4, 32, 1, 1), 8, 32, "for groups"),
        (np.full((2, 32), np.nan, np.float32), 8, None, "expected finite weights"),
        (np.full((2, 32), np.inf, np.float32), 4, None, "expected finite weights"),
        (np.full((2, 32), 1e7, np.float32), 8, 32, r"expected weights up to 8,319,008, .* got 1e\+07"),
        (np.full((2, 32), 1e6, np.float32), 4, None, "expected weights up to 458,528, for scales of float16"),
    ],
)
def test_quantize_says_what_it_cannot_hold(weight: np.ndarray, bits: int, group: int | None, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        quantize(weight, bits, group)


@pytest.mark.parametrize(
    ("data", "scales"),
    [
        (np.zeros((3, 4), np.int8), np.zeros(4, np.float32)),
        (np.zeros((3, 4), np.int16), np.zeros(3, np.float32)),
        (np.zeros((3, 4), np.int8), np.zeros(3, np.float16)),
        (np.zeros((3, 64), np.int8), np.zeros((3, 2), np.float32)),
        (np.zeros((3, 64), np.int8), np.zeros((3, 1), np.float16)),
        (np.zeros((3, 33), np.int8), np.zeros((3, 1), np.float16)),
        (np.zeros((3, 32, 1), np.int8), np.zeros((3, 1), np.float16)),
        (np.zeros((3, 16), np.uint8), np.zeros((3, 1), np.float32)),
        (np.zeros((3, 16), np.uint8), np.zeros((3, 2), np.float16)),
        (np.zeros((3, 8), np.uint8), np.zeros((3, 1), np.float16)),
        (np.zeros(3, np.int8), np.zeros(3, np.float32)),
    ],
)
def test_scales_that_do_not_fit_are_an_error_of_the_file(data: np.ndarray, scales: np.ndarray) -> None:
    with pytest.raises(ModelFormatError, match=r"file: 'fc.weight': expected i8 \(out, ...\) with scales"):
        quantized_weight(data, scales, "file: 'fc.weight'")


def test_attributes_are_float_to_whoever_asks() -> None:
    weight = quantize(numbers(3, 32), 4)
    attribute = QuantizedAttribute(weight)
    assert (attribute.type, attribute.shape, attribute.data.dtype) == (DataType.F32, (3, 32), np.float32)
