"""Where arrays lie, beside what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.address import address

NUMBERS = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "array",
    [
        NUMBERS,
        NUMBERS[1:, ::2, ::-1],
        NUMBERS.transpose(2, 0, 1),
        np.broadcast_to(NUMBERS[1, 0, 0], (5, 6)),
        np.array(3, np.int64),
        np.zeros((0, 4), np.float32),
        np.zeros(5, np.bool_)[3:],
        np.zeros(5, np.float16)[1:],
        np.zeros(5, np.uint8)[2:],
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_address_is_that_of_the_first_element(array: np.ndarray) -> None:
    assert address(array) == array.ctypes.data


def test_address_of_an_array_that_nobody_may_write_to() -> None:
    kept = NUMBERS.copy()
    kept.flags.writeable = False
    assert address(kept) == kept.ctypes.data


def test_address_keeps_no_hold_of_the_array() -> None:
    array = np.zeros(8, np.float32)
    address(array)
    array.resize(16)  # which NumPy refuses while somebody has the buffer
    assert array.size == 16
