"""Weights of 8 and 4 bits in panels: what is packed comes back to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.quantized_product import WIDTH
from kuiper.engine.number_packing import numbers_of, numbers_of_split_int8, packed_for_split_int8, packed_numbers
from kuiper.graph.quantized_weight import QuantizedWeight, quantize


def weight(outputs: int, depth: int, bits: int, group: int | None) -> QuantizedWeight:
    return quantize(np.random.default_rng(outputs).standard_normal((outputs, depth), np.float32), bits, group)


FORMS = [(8, None, 1), (8, None, 74), (8, None, 3000), (8, 32, 96), (4, None, 32), (4, None, 96)]
SIZES = [
    (outputs, *form)
    for outputs in (1, WIDTH - 1, WIDTH, WIDTH + 1, 5 * WIDTH + 3, 300 * WIDTH + 1)
    for form in FORMS
    if outputs < 300 * WIDTH or form[-1] < 3000  # few outputs of this depth are already packed part by part
]


@pytest.mark.parametrize(("outputs", "bits", "group", "depth"), SIZES)
@pytest.mark.parametrize(
    ("pack", "unpack"), [(packed_numbers, numbers_of), (packed_for_split_int8, numbers_of_split_int8)]
)
def test_packed_numbers_come_back(
    outputs: int, bits: int, group: int | None, depth: int, pack: object, unpack: object
) -> None:
    assert callable(pack)
    assert callable(unpack)
    before = weight(outputs, depth, bits, group)
    after = unpack(pack(before), before)
    assert (after.dtype, after.flags.c_contiguous) == (before.data.dtype, True)
    np.testing.assert_array_equal(after, before.data)


def test_packed_for_split_int8_puts_the_first_four_numbers_of_a_word_into_lower_halves() -> None:
    numbers = np.arange(32) % 16 - 8
    pairs = numbers.astype(np.int8).view(np.uint8).reshape(1, 16, 2)
    row = QuantizedWeight(4, (1, 32), pairs[..., 0] & 15 | pairs[..., 1] << 4, np.ones((1, 1), np.float16))
    first = packed_for_split_int8(row).weights[0, 0, :4]
    assert [int(byte) & 15 for byte in first] == [0, 1, 2, 3]  # numbers from -8 on, without a sign
    assert [int(byte) >> 4 for byte in first] == [4, 5, 6, 7]
