"""The activation kernels against their twins, and every activation layer on numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, UnsupportedOperatorError
from kuiper.layers.kernels import activations
from kuiper.layers.reference.activations import FUNCTIONS as TWINS
from tests.layers.one_operator import layer, run

NAN, INF = math.nan, math.inf
E = math.e

SETTINGS: dict[str, tuple[float, ...]] = {
    "relu": (),
    "leaky_relu": (0.3,),
    "elu": (0.75,),
    "celu": (0.75, 0.5),
    "selu": (1.25, 0.75),
    "clip": (-0.5, 4.0),
    "hardsigmoid": (),
    "hardswish": (),
    "sigmoid": (),
    "logsigmoid": (),
    "tanh": (),
    "silu": (),
    "gelu": (),
    "gelu_tanh": (),
    "mish": (),
    "softplus": (0.5, 9.0),
    "softsign": (),
    "tanhshrink": (),
    "hardshrink": (0.75,),
    "softshrink": (0.75,),
    "threshold": (0.5, -2.0),
}

# The type, its parameters, and pairs of an input and the output that the definition gives.
BY_HAND: list[tuple[str, dict[str, Any], list[tuple[float, float]]]] = [
    ("nn.ReLU", {}, [(-3, 0), (0, 0), (2.5, 2.5), (-INF, 0), (INF, INF)]),
    ("F.relu", {}, [(-3, 0), (4, 4)]),
    ("nn.ReLU6", {}, [(-3, 0), (5, 5), (7, 6), (INF, 6), (-INF, 0)]),
    ("F.relu6", {}, [(7, 6)]),
    ("nn.LeakyReLU", {}, [(-3, -0.03), (5, 5), (-INF, -INF)]),
    ("F.leaky_relu", {"negative_slope": 0.5}, [(-3, -1.5), (5, 5)]),
    ("nn.ELU", {}, [(-1, 1 / E - 1), (2, 2), (-INF, -1)]),
    ("F.elu", {"alpha": 3}, [(-1, 3 / E - 3), (2, 2), (-200, -3)]),
    ("nn.CELU", {"alpha": 2.0}, [(-2, 2 / E - 2), (2, 2)]),
    ("F.celu", {"alpha": -2.0}, [(-2, 2 - 2 * E), (2, 2)]),
    ("nn.SELU", {}, [(1, 1.0507009873554805), (-INF, -1.7580993408473766)]),
    ("nn.Sigmoid", {}, [(0, 0.5), (1, E / (1 + E)), (-INF, 0), (INF, 1), (-100, 3.783506e-44), (100, 1)]),
    ("nn.LogSigmoid", {}, [(0, -math.log(2)), (-300, -300), (INF, 0), (-INF, -INF)]),
    ("nn.Tanh", {}, [(0.5, math.tanh(0.5)), (-INF, -1), (INF, 1), (1e-30, 1e-30), (-1e-40, -1e-40)]),
    ("nn.SiLU", {}, [(1, E / (1 + E)), (-100, 0), (INF, INF), (-INF, NAN)]),
    ("nn.GELU", {}, [(1, 0.8413447460685429), (-2, -0.04550026389635842), (100, 100), (-100, 0), (INF, INF)]),
    ("F.gelu", {"approximate": "tanh"}, [(1, 0.8411919906082768), (100, 100), (-100, 0), (-INF, NAN)]),
    ("nn.Hardswish", {}, [(-4, 0), (-1.5, -0.375), (1.5, 1.125), (5, 5), (INF, INF), (-INF, NAN)]),
    ("nn.Hardsigmoid", {}, [(-4, 0), (-1.5, 0.25), (0, 0.5), (5, 1), (INF, 1), (-INF, 0)]),
    ("nn.Hardtanh", {}, [(-4, -1), (0.25, 0.25), (5, 1)]),
    ("F.hardtanh", {"min_val": -2, "max_val": 3.5}, [(-4, -2), (0.25, 0.25), (5, 3.5)]),
    ("nn.Mish", {}, [(0, 0), (1, 0.8650983882673103), (50, 50), (-100, 0), (INF, INF), (-INF, NAN)]),
    ("nn.Softplus", {}, [(0, math.log(2)), (-300, 0), (300, 300), (INF, INF), (-INF, 0)]),
    ("F.softplus", {"beta": 2, "threshold": 1}, [(0.25, math.log1p(math.exp(0.5)) / 2), (0.75, 0.75)]),
    ("nn.Softsign", {}, [(-3, -0.75), (1, 0.5)]),
    ("nn.Tanhshrink", {}, [(2, 2 - math.tanh(2)), (-50, -49)]),
    ("nn.Hardshrink", {}, [(-2, -2), (0.5, 0), (-0.5, 0), (0.625, 0.625)]),
    ("F.softshrink", {"lambd": 0.75}, [(-2, -1.25), (0.75, 0), (-0.5, 0), (3, 2.25)]),
    ("nn.Threshold", {"threshold": 1, "value": -9}, [(1, -9), (1.5, 1.5), (-INF, -9)]),
    ("nn.RReLU", {"lower": 0.125, "upper": 0.375}, [(-4, -1), (4, 4)]),
]


@pytest.mark.parametrize(("type_name", "params", "pairs"), BY_HAND)
def test_activation_by_hand(type_name: str, params: dict[str, Any], pairs: list[tuple[float, float]]) -> None:
    x, expected = np.array(pairs, np.float32).T
    # 1 + erf(x) cancels for negative x: what is left carries the rounding of numbers near 1, 2 x 2 ** -24 times |x|
    atol = 2.4e-7 if type_name == "nn.GELU" else 1e-37
    np.testing.assert_allclose(run(type_name, x, **params), expected, rtol=1e-6, atol=atol)


@pytest.mark.parametrize(("type_name", "params", "pairs"), BY_HAND)
def test_activation_of_nan_is_nan(type_name: str, params: dict[str, Any], pairs: object) -> None:
    x = np.full(33, np.nan, np.float32)
    assert np.isnan(run(type_name, x, **params)).all()


def call(name: str, x: np.ndarray, num_threads: int = 1) -> np.ndarray:
    """The kernel of that name on ``x``, in a new array."""
    y = np.full_like(x, 77)
    activations.apply(name, x, y, *(*SETTINGS[name], 0.0, 0.0)[:2], num_threads)
    return y


@pytest.mark.parametrize("count", [1, 2, 7, 8, 13, 17, 4095, 4096, 4097, 8200])
@pytest.mark.parametrize("name", SETTINGS)
def test_activation_kernel_equals_its_reference(name: str, count: int) -> None:
    x = (np.random.default_rng(count).standard_normal(count) * 4).astype(np.float32)
    expected = TWINS[name](x.astype(np.float64), *SETTINGS[name])
    np.testing.assert_allclose(call(name, x), expected, rtol=1e-6, atol=1e-6 if name == "gelu" else 3e-7)


# Where the twin's own difference of two near numbers (1 + erf, x - tanh) is the yardstick, relative error says little.
@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - {"gelu", "gelu_tanh", "tanhshrink"}))
def test_activation_kernel_is_accurate_to_float32_at_every_size(name: str) -> None:
    sizes = 10.0 ** np.linspace(-37, 37, 6001)
    x = np.concatenate([-sizes, np.linspace(-90, 90, 8001), sizes]).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = TWINS[name](x.astype(np.float64), *SETTINGS[name])
    # a sigmoid below the smallest normal number may be 0, and silu multiplies it by up to 89
    np.testing.assert_allclose(call(name, x), expected, rtol=8e-7, atol=4e-37 if name == "silu" else 2e-38)


@pytest.mark.parametrize("name", SETTINGS)
def test_activation_kernel_keeps_denormals_and_minus_zero_as_the_twin_does(name: str) -> None:
    x = np.float32([-0.0, 0.0, 1e-40, -1e-40, 1e-45, -1e-45])
    expected = TWINS[name](x.astype(np.float64), *SETTINGS[name]).astype(np.float32)
    np.testing.assert_allclose(call(name, x), expected, rtol=1e-6, atol=3e-45)


@pytest.mark.parametrize("name", SETTINGS)
def test_activation_kernel_gives_the_same_bits_for_any_number_of_threads(name: str) -> None:
    x = np.random.default_rng(1).standard_normal(20_011).astype(np.float32)
    one = call(name, x).tobytes()
    assert one == call(name, x, 2).tobytes() == call(name, x, 3).tobytes()


@pytest.mark.parametrize("type_name", ["nn.ReLU", "nn.ReLU6", "nn.Hardtanh"])
def test_limiting_activation_keeps_whole_numbers_whole(type_name: str) -> None:
    y = run(type_name, np.int64([[-3, 0], [1, 9]]))
    highest = {"nn.ReLU": 9, "nn.ReLU6": 6, "nn.Hardtanh": 1}[type_name]
    lowest = -1 if type_name == "nn.Hardtanh" else 0
    assert y.dtype == np.int64
    assert y.tolist() == [[lowest, 0], [1, highest]]


@pytest.mark.parametrize("type_name", ["nn.Sigmoid", "nn.Tanh"])
def test_sigmoid_and_tanh_turn_whole_numbers_into_float32(type_name: str) -> None:
    y = run(type_name, np.int64([-1, 0, 2]))
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, run(type_name, np.float32([-1, 0, 2])))


@pytest.mark.parametrize("type_name", ["nn.SiLU", "nn.LeakyReLU", "F.gelu"])
def test_activation_refuses_other_types_as_torch_does(type_name: str) -> None:
    with pytest.raises(DataTypeError, match=f"{type_name} 'it': expected float32 input, got int64"):
        run(type_name, np.int64([1, 2]))


def test_gelu_refuses_an_unknown_approximation() -> None:
    with pytest.raises(UnsupportedOperatorError, match="'it': expected approximate=none or tanh, got sinh"):
        layer("nn.GELU", approximate="sinh")


def test_celu_refuses_alpha_zero() -> None:
    with pytest.raises(ParameterError, match="expected alpha other than 0"):
        layer("nn.CELU", alpha=0)


def test_threshold_needs_its_parameters() -> None:
    with pytest.raises(ParameterError, match=r"nn.Threshold 'it': expected a parameter 'value', got parameters"):
        layer("nn.Threshold", threshold=1.0)


def test_rrelu_has_the_mean_slope_of_torchs_defaults() -> None:
    x = np.float32([-24, 24])
    np.testing.assert_allclose(run("F.rrelu", x), [-24 * (1 / 8 + 1 / 3) / 2, 24], rtol=1e-6)
    assert run("F.rrelu", x, lower=0.25, upper=0.75).tolist() == [-12, 24]


def test_rrelu_refuses_training_mode() -> None:
    with pytest.raises(UnsupportedOperatorError, match="expected training=False"):
        layer("F.rrelu", training=True)
