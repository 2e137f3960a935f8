"""How tensors read when they are printed."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.tensor import Tensor


def lines(*text: str) -> str:
    return "\n".join(text)


def test_repr_of_a_matrix_aligns_columns() -> None:
    assert repr(Tensor([[1, -20], [0.5, 1 / 3]])) == lines(
        "Tensor(shape=(2, 2))",
        "         1      -20",
        "       0.5  0.33333",
    )


def test_repr_goes_channel_by_channel() -> None:
    assert repr(Tensor([[[1, 2]], [[3, 4]]])) == lines(
        "Tensor(shape=(2, 1, 2))", "channel 0:", "   1  2", "channel 1:", "   3  4"
    )


def test_repr_names_samples_and_deeper_positions() -> None:
    assert "sample 1, channel 0:" in repr(Tensor.zeros((2, 1, 2, 2)))
    assert "[0, 1, 0]:" in repr(Tensor.zeros((1, 2, 1, 2, 2)))


def test_repr_says_what_differs_from_a_row_major_float32_tensor() -> None:
    assert repr(Tensor([[1, 2], [3, 4]], order="F")) == 'Tensor(shape=(2, 2), order="F")\n   1  2\n   3  4'
    assert repr(Tensor.wrap(np.array([True, False]))) == "Tensor(shape=(2,), dtype=bool)\n    True  False"
    assert repr(Tensor([[1, 2], [3, 4]])[:, 1]) == "Tensor(shape=(2,), strides=(2,))\n   2  4"


def test_repr_of_a_number_and_of_nothing() -> None:
    assert repr(Tensor(2.5)) == "Tensor(shape=())\n   2.5"
    assert repr(Tensor.zeros((0, 3))) == "Tensor(shape=(0, 3))"


def test_repr_cuts_large_tensors_in_the_middle() -> None:
    assert repr(Tensor(np.arange(1200).reshape(12, 100))) == lines(
        "Tensor(shape=(12, 100))",
        "      0     1     2     3   ...    96    97    98    99",
        "    100   101   102   103   ...   196   197   198   199",
        "    200   201   202   203   ...   296   297   298   299",
        "    ...",
        "    900   901   902   903   ...   996   997   998   999",
        "   1000  1001  1002  1003   ...  1096  1097  1098  1099",
        "   1100  1101  1102  1103   ...  1196  1197  1198  1199",
    )
    text = repr(Tensor.zeros((64, 3, 300, 300)))
    assert text.count("sample") == 4
    assert "\n...\n" in text
    assert len(text.splitlines()) == 1 + 4 + 1 + 4 * 7


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1e-7, "1e-07"),
        (123456, "123456"),
        (12345678, "1.2346e+07"),
        (-0.0, "0"),
        (3.14159265, "3.1416"),
    ],
)
def test_values_read_well(value: float, text: str) -> None:
    assert repr(Tensor(value)).splitlines()[1].strip() == text
