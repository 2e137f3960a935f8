"""Every function on small numbers whose results can be checked by eye; torch itself is asked in the last tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kuiper import ExecutionError, UnsupportedOperatorError
from kuiper.expression import evaluate
from tests.arrays import ints

NAN, INF = math.nan, math.inf


def f32(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def assert_value(got: Any, expected: Any) -> None:
    """Equal values, element types and kinds of thing (array or plain number)."""
    assert type(got) is type(expected)
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
    else:
        assert got == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("abs(@0)", f32(-2, 0, 3), f32(2, 0, 3)),
        ("acos(@0)", f32(1, 0, 2), f32(0, math.pi / 2, NAN)),
        ("acosh(@0)", f32(1, 0), f32(0, NAN)),
        ("asin(@0)", f32(1, -0.5, 2), f32(math.pi / 2, -math.pi / 6, NAN)),
        ("asinh(@0)", f32(0, 1), f32(0, math.log(1 + math.sqrt(2)))),
        ("atan(@0)", f32(1, -INF), f32(math.pi / 4, -math.pi / 2)),
        ("atanh(@0)", f32(0, 1, 2), f32(0, INF, NAN)),
        ("ceil(@0)", f32(-1.5, 1.2), f32(-1, 2)),
        ("cos(@0)", f32(0, math.pi), f32(1, -1)),
        ("cosh(@0)", f32(0, math.log(2)), f32(1, 1.25)),
        ("erf(@0)", f32(0, 0.5, -INF), f32(0, 0.5204998778, -1)),
        ("exp(@0)", f32(0, math.log(3)), f32(1, 3)),
        ("exp2(@0)", f32(3, -1), f32(8, 0.5)),
        ("expm1(@0)", f32(0, 1e-10), f32(0, 1e-10)),
        ("floor(@0)", f32(-1.5, 1.8), f32(-2, 1)),
        ("lgamma(@0)", f32(4, -1, -INF), f32(math.log(6), INF, INF)),
        ("log(@0)", f32(math.e, 0, -1), f32(1, -INF, NAN)),
        ("log10(@0)", f32(1000, 0.1), f32(3, -1)),
        ("log2(@0)", f32(8, 0.5), f32(3, -1)),
        ("log1p(@0)", f32(0, 1e-10, -1), f32(0, 1e-10, -INF)),
        ("neg(@0)", f32(2, -3), f32(-2, 3)),
        ("reciprocal(@0)", f32(4, 0), f32(0.25, INF)),
        ("round(@0)", f32(0.5, 1.5, 2.5, -0.5, -1.5, 2.4), f32(0, 2, 2, -0.0, -2, 2)),
        ("rsqrt(@0)", f32(4, 0), f32(0.5, INF)),
        ("sign(@0)", f32(-7, 0, 7, NAN), f32(-1, 0, 1, 0)),
        ("sin(@0)", f32(0, math.pi / 6), f32(0, 0.5)),
        ("sinh(@0)", f32(0, math.log(2)), f32(0, 0.75)),
        ("sqrt(@0)", f32(9, -1), f32(3, NAN)),
        ("square(@0)", f32(-3, 0.5), f32(9, 0.25)),
        ("tan(@0)", f32(0, math.pi / 4), f32(0, 1)),
        ("tanh(@0)", f32(0, INF, math.log(2)), f32(0, 1, 0.6)),
        ("trunc(@0)", f32(-1.5, 1.8), f32(-1, 1)),
        ("int(@0)", f32(-2.7), -2),
        ("torch.int(@0)", f32(-2.7, 3.2), np.array([-2, 3], np.int32)),
        ("torch.bool(@0)", f32(0, -2), np.array([False, True])),
        ("torch.complex64(@0)", f32(1), np.array([1], np.complex64)),
    ],
)
def test_unary_function_of_floats(text: str, x: np.ndarray, expected: object) -> None:
    assert_value(evaluate(text, [x]), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add(@0,@1)", f32(5, -5)),
        ("sub(@0,@1)", f32(9, -9)),
        ("mul(@0,@1)", f32(-14, -14)),
        ("div(@0,@1)", f32(-3.5, -3.5)),
        ("floor_divide(@0,@1)", f32(-4, -4)),
        ("remainder(@0,@1)", f32(-1, 1)),
        ("fmod(@0,@1)", f32(1, -1)),
        ("trunc_divide(@0,@1)", f32(-3, -3)),
        ("onnx_div(@0,@1)", f32(-3.5, -3.5)),
        ("hypot(@0,@1)", f32(math.sqrt(53), math.sqrt(53))),
        ("copysign(@0,@1)", f32(-7, 7)),
        ("fmax(@0,@1)", f32(7, 2)),
        ("fmin(@0,@1)", f32(-2, -7)),
        ("xlogy(@1,@1)", f32(NAN, 2 * math.log(2))),
        ("pow(@0,@1)", f32(1 / 49, 49)),
        ("atan2(@0,@1)", f32(math.atan2(7, -2), math.atan2(-7, 2))),
        ("max(@0,@1)", f32(7, 2)),
        ("maximum(@0,@1)", f32(7, 2)),
        ("min(@0,@1)", f32(-2, -7)),
        ("minimum(@0,@1)", f32(-2, -7)),
        ("logaddexp(@0,@1)", f32(math.log(math.exp(7) + math.exp(-2)), math.log(math.exp(-7) + math.exp(2)))),
    ],
)
def test_binary_function_of_floats(text: str, expected: np.ndarray) -> None:
    assert_value(evaluate(text, [f32(7, -7), f32(-2, 2)]), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add(@0,@1)", ints(5, -5)),
        ("div(@0,@1)", f32(-3.5, -3.5)),
        ("floor_divide(@0,@1)", ints(-4, -4)),
        ("remainder(@0,@1)", ints(-1, 1)),
        ("fmod(@0,@1)", ints(1, -1)),
        ("trunc_divide(@0,@1)", ints(-3, -3)),
        ("onnx_div(@0,@1)", ints(-3, -3)),
        ("max(@0,@1)", ints(7, 2)),
        ("atan2(@0,2)", f32(math.atan2(7, 2), math.atan2(-7, 2))),
        ("add(@0,0.5)", f32(7.5, -6.5)),
        ("pow(@0,2)", ints(49, 49)),
        ("pow(@0,0)", ints(1, 1)),
        ("pow(@1,@1)", ints(0, 4)),
        ("pow(add(@1,1),@1)", ints(1, 9)),
        ("pow(add(@1,1),sub(@1,1))", ints(-1, 3)),
        ("pow(mul(@0,@0),0.5)", f32(7, 7)),
        ("square(@0)", ints(49, 49)),
        ("neg(@0)", ints(-7, 7)),
        ("sign(@0)", ints(1, -1)),
        ("floor(@0)", ints(7, -7)),
        ("round(@0)", ints(7, -7)),
        ("sqrt(mul(@0,@0))", f32(7, 7)),
        ("reciprocal(@1)", f32(-0.5, 0.5)),
        ("and(@0,3)", ints(3, 1)),
        ("or(@0,8)", ints(15, -7)),
        ("xor(@0,@1)", ints(-7, -5)),
        ("lshift(@0,1)", ints(14, -14)),
        ("rshift(@0,1)", ints(3, -4)),
    ],
)
def test_function_of_integers(text: str, expected: np.ndarray) -> None:
    assert_value(evaluate(text, [ints(7, -7), ints(-2, 2)]), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("and(@0,@1)", [True, False]),
        ("or(@0,@1)", [True, True]),
        ("xor(@0,@1)", [False, True]),
        ("add(@0,@1)", [True, True]),
        ("mul(@0,@1)", [True, False]),
    ],
)
def test_function_of_bools(text: str, expected: list[bool]) -> None:
    assert_value(evaluate(text, [np.array([True, True]), np.array([True, False])]), np.array(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add(2,3)", 5),
        ("sub(2,3.5)", -1.5),
        ("mul(-3,2)", -6),
        ("div(7,2)", 3.5),
        ("div(6,2)", 3.0),
        ("div(1,0)", INF),
        ("floor_divide(-7,2)", -4),
        ("floor_divide(7,2.0)", 3.0),
        ("remainder(-7,3)", 2),
        ("fmod(-7,3)", -1),
        ("fmod(-7.5,3)", -1.5),
        ("pow(2,10)", 1024),
        ("pow(4,0.5)", 2.0),
        ("pow(-8,0.5)", NAN),
        ("max(2,3)", 3),
        ("min(2,3.5)", 2),
        ("maximum(4,-1)", 4),
        ("atan2(0,1)", 0.0),
        ("and(6,3)", 2),
        ("or(6,3)", 7),
        ("xor(6,3)", 5),
        ("lshift(3,2)", 12),
        ("rshift(12,2)", 3),
        ("neg(2)", -2),
        ("abs(-2)", 2),
        ("sign(-2.5)", -1),
        ("square(3)", 9),
        ("sqrt(9)", 3.0),
        ("sqrt(-1)", NAN),
        ("erf(0)", 0.0),
        ("rsqrt(4)", 0.5),
        ("reciprocal(4)", 0.25),
        ("floor(7.5)", 7),
        ("ceil(7.5)", 8),
        ("trunc(-7.5)", -7),
        ("trunc_divide(-7,2)", -3),
        ("trunc_divide(7.5,-2)", -3),
        ("trunc_divide(9223372036854775807,2)", 4611686018427387903),
        ("trunc_divide(-9223372036854775807,2)", -4611686018427387903),
        ("onnx_div(9223372036854775807,-2)", -4611686018427387903),
        ("fmod(9223372036854775807,10)", 7),
        ("fmod(-9223372036854775807,10)", -7),
        ("round(2.5)", 2),
        ("round(inf)", INF),
        ("int(7.9)", 7),
        ("torch.int(7.9)", 7),
        ("torch.long(-7.9)", -7),
        ("torch.float(0.1)", float(np.float32(0.1))),
        ("int(torch.int(floor(mul(5,1.5))))", 7),
        ("mul(2j,2j)", -4 + 0j),
    ],
)
def test_plain_numbers_stay_plain(text: str, expected: float) -> None:
    assert_value(evaluate(text, []), expected)


def test_numbers_do_not_widen_float32() -> None:
    assert_value(evaluate("add(mul(@0,0.1),1)", [f32(1, 2)]), f32(1.1, 1.2))
    assert_value(evaluate("sub(1,@0)", [np.float16([1, 2])]), np.float16([0, -1]))


def test_tensors_without_axes_stay_tensors() -> None:
    for x in (np.array(3, np.float32), np.float32(3)):
        value = evaluate("sqrt(add(mul(@0,@0),neg(0.0)))", [x])
        assert_value(value, np.array(3, np.float32))
        assert value.shape == ()


def test_max_of_tensors_passes_nan_on() -> None:
    np.testing.assert_array_equal(evaluate("max(@0,@1)", [f32(NAN, 1), f32(1, NAN)]), [NAN, NAN])


def test_short_powers_are_those_of_torch() -> None:
    x = f32(-INF, -2, 0, 4)
    np.testing.assert_array_equal(evaluate("pow(@0,0.5)", [x]), f32(NAN, NAN, 0, 2))
    np.testing.assert_array_equal(evaluate("pow(@0,2)", [x]), f32(INF, 4, 0, 16))
    np.testing.assert_array_equal(evaluate("pow(@0,3)", [x]), f32(-INF, -8, 0, 64))
    np.testing.assert_array_equal(evaluate("pow(@0,-1)", [x]), f32(-0.0, -0.5, INF, 0.25))
    np.testing.assert_array_equal(evaluate("pow(@0,-2)", [x]), f32(0, 0.25, INF, 0.0625))
    np.testing.assert_array_equal(evaluate("pow(@0,-0.5)", [x]), f32(NAN, NAN, INF, 0.5))


def test_complex_numbers() -> None:
    value = evaluate("mul(@0,0.000000e+00+2.000000e+00j)", [f32(1, -3)])
    assert_value(value, np.array([2j, -6j], np.complex64))


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_whole_numbers_divided_by_zero_are_an_error(name: str) -> None:
    for inputs in ([ints(1, 2), ints(1, 0)], [1, 0]):
        with pytest.raises(ExecutionError, match=f"expected a value for {name}"):
            evaluate(f"{name}(@0,@1)", inputs)


def test_size_gives_ints() -> None:
    x = np.zeros((2, 3, 5))
    assert_value(evaluate("size(@0)", [x]), [2, 3, 5])
    assert_value(evaluate("size(@0,-1)", [x]), 5)


@pytest.mark.parametrize(
    "text", ["int(@0)", "size(@0,2)", "size(3)", "add(@0,None)", "lshift(@0,1)", "mul([1],2)", "pow(torch.int(@0),-2)"]
)
def test_unsuitable_arguments_are_an_error_with_the_text(text: str) -> None:
    with pytest.raises(ExecutionError, match=r"expression: expected a value for .*, got (Value|Index|Type|Attribute)"):
        evaluate(text, [f32(1, 2)])
    assert not issubclass(ExecutionError, UnsupportedOperatorError)
