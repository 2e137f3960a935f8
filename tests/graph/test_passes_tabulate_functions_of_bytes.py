"""What a quantised file computes of one byte with floats, as a table: which operators stay, and that no byte moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from tests.graph.quantized_net import Net, types

if TYPE_CHECKING:
    from pathlib import Path

rng = np.random.default_rng(0)
SHAPE = (2, 3, 8, 11)


def quantised(net: Net, scale: float = 0.05, zero: int = 120, dtype: Any = np.uint8) -> str:
    """The input as bytes, and these as floats again."""
    return net.dequantize(net.quantize("x", "q", scale, zero, dtype), "d")


def left(path: Path) -> list[str]:
    """The operators behind the passes; on the engine and by their layers, the bytes are those of the file."""
    x = (rng.standard_normal(SHAPE) * 3).astype(np.float32)
    expected = np.asarray(kuiper.load(path, optimize=False)(x))
    passes = ["tabulate_functions_of_bytes", "eliminate_dead_code"]
    for model in (kuiper.load(path), kuiper.load(path, optimize=False, passes=passes)):
        got = np.asarray(model(x))
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    return types(kuiper.load(path))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", ["Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Elu", "Erf"])
def test_functions_of_one_number(tmp_path: Path, kind: str, dtype: Any) -> None:
    net = Net()
    float_y = net.node(kind, [quantised(net, 0.05, 3, dtype)], "f")
    net.quantize(float_y, "y", 0.02, 9, dtype)
    operators = left(net.save(tmp_path, SHAPE))
    assert operators == ["QuantizeLinear", "kuiper.ByteTable"]


def test_a_clamp_behind_a_product_lets_it_end_in_bytes(tmp_path: Path) -> None:
    """MobileNet with symmetric activations: a byte reaches further than ReLU6."""
    net = Net()
    weight = net.weights("w", 5, 3, 3, 3, axis=0)
    conv = net.node("Conv", [quantised(net, dtype=np.int8, zero=0), weight], "c")
    middle = net.dequantize(net.quantize(conv, "m", 0.07, 0, np.int8), "e")
    bounds = [net.constant("low", np.float32(0)), net.constant("high", np.float32(6))]
    net.quantize(net.node("Clip", [middle, *bounds], "f"), "y", 0.05, 0, np.int8)
    operators = types(kuiper.load(net.save(tmp_path, SHAPE)))
    assert operators == ["QuantizeLinear", "kuiper.QuantizedConv", "kuiper.ByteTable"]


def gelu(net: Net, x: str) -> str:
    """As exporters spell it, with a quantisation behind each operator."""
    root, one, half = (net.constant(name, np.float32(value)) for name, value in (("r", 2**0.5), ("o", 1), ("h", 0.5)))
    a = net.dequantize(net.quantize(net.node("Div", [x, root], "a"), "a_q", 0.03, 130), "a_d")
    b = net.dequantize(net.quantize(net.node("Erf", [a], "b"), "b_q", 0.008, 127), "b_d")
    c = net.dequantize(net.quantize(net.node("Add", [b, one], "c"), "c_q", 0.008, 0), "c_d")
    e = net.dequantize(net.quantize(net.node("Mul", [x, c], "e"), "e_q", 0.05, 4), "e_d")
    return net.quantize(net.node("Mul", [e, half], "f"), "y", 0.025, 4)


def test_functions_through_quantisations_are_one_table(tmp_path: Path) -> None:
    net = Net()
    gelu(net, quantised(net))
    assert left(net.save(tmp_path, SHAPE)) == ["QuantizeLinear", "kuiper.ByteTable"]


def test_two_tensors_of_bytes_are_no_table(tmp_path: Path) -> None:
    net = Net()
    first = quantised(net)
    second = net.dequantize(net.quantize("x", "p", 0.02, 99), "g")
    net.quantize(net.node("Mul", [first, second], "f"), "y", 0.3, 77)
    assert "kuiper.ByteTable" not in types(kuiper.load(net.save(tmp_path, SHAPE)))


def test_what_looks_at_neighbours_is_no_table(tmp_path: Path) -> None:
    net = Net()
    net.quantize(net.node("Softmax", [quantised(net)], "f"), "y", 1 / 256, 0)
    assert "kuiper.ByteTable" not in left(net.save(tmp_path, SHAPE))


def test_bytes_that_others_read_stay(tmp_path: Path) -> None:
    """The bytes in front of an activation are an output, too."""
    net = Net()
    net.quantize(net.node("Sigmoid", [quantised(net)], "f"), "y", 1 / 256, 0)
    x = rng.standard_normal(SHAPE).astype(np.float32)
    path = net.save(tmp_path, SHAPE, "y q")
    for got, expected in zip(kuiper.load(path)(x), kuiper.load(path, optimize=False)(x), strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
