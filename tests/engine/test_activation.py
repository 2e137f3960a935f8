"""The functions of whole vectors against float64, over all sizes of numbers; NaN and infinity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.engine.kernels.elementwise import Elementwise
from tests.engine.one_step import run_step

if TYPE_CHECKING:
    from collections.abc import Callable

INFINITY = math.inf
LANES = 16  # of the widest vector
LARGEST = float(np.finfo(np.float32).max)

SWEEP = np.concatenate(
    [
        np.linspace(-110, 110, 11001),
        np.linspace(-10, 10, 20001),  # all pieces of what is looked up
        np.linspace(-1, 1, 5001),
        np.geomspace(1e-37, 1, 500),
        -np.geomspace(1e-37, 1, 500),
        np.geomspace(100, LARGEST, 500),
        -np.geomspace(100, LARGEST, 500),
    ]
).astype(np.float32)


def applied(name: str, x: np.ndarray, a: float = 0, b: float = 0) -> np.ndarray:
    """The step of one function on these numbers."""
    arena = np.concatenate([x, np.zeros(len(x) + 64, np.float32)]).astype(np.float32)
    views = [(-1, len(x), (1,)), (-1, 0, (1,))]
    step = Elementwise((len(x),), views, [("load", 0, 0), (name, a, b)])
    return run_step(step, arena)[len(x) : 2 * len(x)]


def erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(value) for value in x])


def softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0, -x))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


@pytest.mark.parametrize(
    ("name", "exact", "relative", "absolute"),
    [
        # below 2**-125 results may be 0; the bound of the sigmoid grows with |x|
        ("exp", np.exp, 3e-7, 3e-38),
        ("expm1", np.expm1, 5e-7, 0),
        ("sigmoid", sigmoid, 6e-7, 3e-38),
        ("silu", lambda x: x * sigmoid(x), 6e-7, 3e-36),
        ("tanh", np.tanh, 4e-7, 0),
        ("erf", erf, 6e-7, 0),
        ("gelu", lambda x: x * (1 + erf(x * math.sqrt(0.5))) / 2, 6e-7, 2e-6),
        ("gelu_tanh", gelu_tanh, 1e-6, 2e-6),
        ("mish", lambda x: x * np.tanh(np.logaddexp(0, x)), 8e-7, 3e-36),
        ("logsigmoid", lambda x: -softplus(-x), 6e-7, 3e-38),
        ("tanhshrink", lambda x: x - np.tanh(x), 6e-7, 6e-7),
        ("hardswish", lambda x: np.where(x > LARGEST / 6, INFINITY, x * np.clip(x + 3, 0, 6) / 6), 3e-7, 3e-7),
        ("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, 3e-7, 1e-7),
        ("softsign", lambda x: x / (1 + np.abs(x)), 3e-7, 0),
    ],
)
def test_functions_keep_their_bounds(
    name: str, exact: Callable[[np.ndarray], np.ndarray], relative: float, absolute: float
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = exact(SWEEP.astype(np.float64))
    found = applied(name, SWEEP).astype(np.float64)
    overflows = np.abs(wanted) > LARGEST
    assert np.all(found[overflows] == np.sign(wanted[overflows]) * INFINITY)
    np.testing.assert_allclose(found[~overflows], wanted[~overflows], rtol=relative, atol=absolute)


@pytest.mark.parametrize(("name", "largest_error"), [("sigmoid", 1e-7), ("tanh", 3e-7), ("gelu", 1e-6), ("silu", 6e-7)])
def test_curves_are_close_where_networks_use_them(name: str, largest_error: float) -> None:
    x = np.random.default_rng(0).standard_normal(100000, np.float32)
    exact = {"sigmoid": sigmoid, "tanh": np.tanh, "gelu": lambda x: x * (1 + erf(x * math.sqrt(0.5))) / 2}
    wanted = exact.get(name, lambda x: x * sigmoid(x))(x.astype(np.float64))
    assert np.abs(applied(name, x) - wanted).max() <= largest_error


@pytest.mark.parametrize("name", ["exp", "sigmoid", "silu", "tanh", "gelu", "gelu_tanh", "mish", "softplus", "expm1"])
def test_functions_of_nan_are_nan_whatever_its_bits(name: str) -> None:
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0xFF80ABCD] * 7, np.uint32)
    x = np.linspace(-3, 3, len(bits), dtype=np.float32)
    x[::2] = bits[::2].view(np.float32)
    np.testing.assert_array_equal(np.isnan(applied(name, x, 1, 20)), np.isnan(x))


def test_exp_falls_to_nothing_below_what_a_float_holds() -> None:
    x = np.linspace(-120, -86, 5001, dtype=np.float32)
    found = applied("exp", x)
    assert np.all(np.diff(found) >= 0)
    assert found.min() == found[x < -88].max() == 0


def test_exp_is_finite_up_to_the_largest_float_and_infinite_beyond() -> None:
    edge = np.float32(88.72283)  # e**x is 3.4028e38; the next float is beyond
    found = applied("exp", np.float32([edge, np.nextafter(edge, np.float32(100)), 89, 1000]))
    np.testing.assert_allclose(found[0], np.exp(np.float64(edge)), rtol=3e-7)
    np.testing.assert_array_equal(found[1:], INFINITY)


@pytest.mark.parametrize("name", ["tanh", "erf", "sigmoid", "hardsigmoid"])
def test_bounded_functions_stay_within_their_bounds(name: str) -> None:
    assert np.abs(applied(name, SWEEP)).max() <= 1


def test_log_keeps_its_bound() -> None:
    x = np.concatenate([np.geomspace(1e-44, LARGEST, 20001), np.linspace(0.5, 2, 5001)]).astype(np.float32)
    np.testing.assert_allclose(applied("log", x), np.log(x.astype(np.float64)), rtol=6e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "at_minus_infinity", "at_infinity"),
    [
        ("exp", 0, INFINITY), ("expm1", -1, INFINITY), ("sigmoid", 0, 1), ("silu", math.nan, INFINITY),
        ("tanh", -1, 1), ("erf", -1, 1), ("gelu", math.nan, INFINITY), ("gelu_tanh", math.nan, INFINITY),
        ("mish", math.nan, INFINITY), ("logsigmoid", -INFINITY, 0), ("log", math.nan, INFINITY),
        ("hardswish", math.nan, INFINITY), ("hardsigmoid", 0, 1), ("softsign", math.nan, math.nan),
        ("neg", INFINITY, -INFINITY), ("abs", INFINITY, INFINITY), ("square", INFINITY, INFINITY),
    ],
)  # fmt: skip
def test_functions_take_infinities_and_nan_as_torch_does(
    name: str, at_minus_infinity: float, at_infinity: float
) -> None:
    found = applied(name, np.float32([-INFINITY, INFINITY, math.nan]))
    np.testing.assert_array_equal(found, np.float32([at_minus_infinity, at_infinity, math.nan]))


def test_exp_of_nothing_is_one() -> None:
    np.testing.assert_array_equal(applied("exp", np.float32([0.0, -0.0])), [1, 1])


@pytest.mark.parametrize("name", ["tanh", "gelu", "silu", "erf", "hardswish"])
def test_functions_keep_the_sign_of_zero(name: str) -> None:
    found = applied(name, np.float32([0.0, -0.0]))
    np.testing.assert_array_equal(found, [0, 0])
    np.testing.assert_array_equal(np.signbit(found), [False, True])


@pytest.mark.parametrize("name", ["silu", "sigmoid"])
@pytest.mark.parametrize("vectors", [1, 2, 3, 4, 5, 129, 1000])
def test_divisions_that_wait_reach_every_vector(name: str, vectors: int) -> None:
    x = np.random.default_rng(vectors).standard_normal(vectors * LANES).astype(np.float32) * 8
    wanted = sigmoid(x.astype(np.float64)) * (x if name == "silu" else 1)
    np.testing.assert_allclose(applied(name, x), wanted, rtol=6e-7, atol=3e-38)
    step = Elementwise((len(x),), [(-1, 0, (1,)), (-1, 0, (1,))], [("load", 0, 0), (name, 0, 0)])
    np.testing.assert_array_equal(run_step(step, np.append(x, np.zeros(64, np.float32)))[: len(x)], applied(name, x))


@pytest.mark.parametrize("name", ["silu", "sigmoid"])
def test_divisions_that_wait_take_one_number_for_all(name: str) -> None:
    arena = np.zeros(1 + 5 * LANES + 64, np.float32)
    arena[0] = 1.5
    step = Elementwise((5 * LANES,), [(-1, 1, (1,)), (-1, 0, (0,))], [("load", 0, 0), (name, 0, 0)])
    wanted = applied(name, np.float32([1.5]))[0]
    np.testing.assert_array_equal(run_step(step, arena)[1 : 1 + 5 * LANES], wanted)


def test_silu_is_finite_up_to_the_largest_float() -> None:
    x = np.float32([LARGEST, LARGEST / 2, LARGEST / 3])
    np.testing.assert_array_equal(applied("silu", x), x)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 33, 2049])
def test_multiply_add_takes_any_length(count: int) -> None:
    x, y, z = np.random.default_rng(0).standard_normal((3, count), np.float32)
    arena = np.concatenate([x, y, z, np.zeros(count + 64, np.float32)])
    views = [(-1, 3 * count, (1,)), (-1, 0, (1,)), (-1, count, (1,)), (-1, 2 * count, (1,))]
    program = [("load", 0, 0), ("load", 1, 0), ("load", 2, 0), ("multiply_add", 0, 0)]
    found = run_step(Elementwise((count,), views, program), arena)[3 * count : 4 * count]
    np.testing.assert_allclose(found, x * y + z, rtol=1e-6, atol=1e-6)
