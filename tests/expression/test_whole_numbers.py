"""Integers of expressions have 64 bits, and complex numbers are refused where torch refuses them."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper import ExecutionError
from kuiper.expression import evaluate


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "pow(9,pow(9,pow(9,9)))",
        "pow(-2,64)",
        "lshift(1,99999999999)",
        "lshift(1,63)",
        "mul(9223372036854775807,2)",
        "neg(-9223372036854775808)",
        "square(9223372036854775807)",
        "int(1e300)",
        "ceil(1e300)",
        "trunc_divide(1e300,1)",
    ],
)
def test_whole_numbers_have_64_bits(text: str) -> None:
    with pytest.raises(ExecutionError, match="OverflowError: an integer beyond 64 bits"):
        evaluate(text, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [("pow(2,62)", 2**62), ("pow(-1,999999999999)", -1), ("lshift(-1,63)", -(2**63)), ("lshift(0,999)", 0)],
)
def test_whole_numbers_within_64_bits_are_exact(text: str, value: int) -> None:
    assert evaluate(text, []) == value


@pytest.mark.parametrize("text", ["erf(@0)", "lgamma(@0)", "erf(1+2j)"])
def test_functions_of_real_numbers_refuse_complex_ones(text: str) -> None:
    with pytest.raises(ExecutionError, match="a complex number"):
        evaluate(text, [np.ones(2, np.complex64)])


def test_cast_of_a_complex_number_keeps_the_real_part_without_a_warning() -> None:
    assert evaluate("torch.float(@0)", [np.array([1 + 2j], np.complex64)]).tolist() == [1]
    assert evaluate("torch.int(2.5+1j)", []) == 2
    assert evaluate("torch.bool(0+1j)", []) is True
