"""The graphs of single layers are what they say, and cost what one can work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.costs import costs_of
from benchmarks.layers import (
    LAYERS,
    NAME,
    Layer,
    activation,
    average_pool,
    batch_norm,
    conv,
    depthwise,
    expression,
    global_pool,
    group_norm,
    layer_norm,
    linear,
    max_pool,
    softmax,
    upconv,
    upsample,
)
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry

SMALL = (
    conv("small", 4, 9, 6, kernel=3, stride=2),
    conv("small", 4, 8, 6, kernel=6, stride=2),
    conv("small", 8, 5, 8, kernel=3, groups=2),
    depthwise("small", 4, 7, kernel=5),
    upconv("small", 4, 5, 3),
    linear("small", 7, 5),
    max_pool("small", 4, 9, kernel=3, stride=2, padding=1),
    average_pool("small", 4, 9, kernel=2, stride=2),
    global_pool("small", 4, 3),
    activation("small", "Hardswish", 4, 3),
    batch_norm("small", 4, 3),
    group_norm("small", 4, 3, groups=2),
    layer_norm("small", 5, 7),
    softmax("small", 5, 7),
    upsample("small", "bilinear", 4, 3),
)


def built(layer: Layer) -> RuntimeGraph:
    graph = RuntimeGraph(layer.graph(), name=layer.label)
    graph.build(registry)
    return graph


@pytest.mark.parametrize("layer", SMALL, ids=lambda layer: layer.label)
def test_layer_runs_and_returns_the_shape_it_declares(layer: Layer) -> None:
    assert built(layer).forward(np.ones((1, *layer.input), np.float32)).shape == (1, *layer.output)


def test_layer_of_two_operands_takes_both() -> None:
    layer = expression("small", "sub(@0,@1)", 4, 3, operands=2)
    x, y = np.full((2, 1, *layer.input), [[[[[5]]]], [[[[3]]]]], np.float32)
    np.testing.assert_array_equal(built(layer).forward(x, y), np.full((1, *layer.output), 2))
    cost = costs_of(built(layer))[NAME]
    assert (cost.read, cost.written) == (2 * 4 * 36, 4 * 36)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: f"{layer.network} {layer.label}")
def test_every_layer_has_costs(layer: Layer) -> None:
    cost = costs_of(built(layer))[NAME]
    assert (cost.flops > 0) == (layer.label != "upsample nearest")
    assert cost.read >= 4 * layer.operands * np.prod(layer.input)
    assert cost.written == 4 * np.prod(layer.output)


def test_costs_of_a_convolution() -> None:
    cost = costs_of(built(conv("small", 4, 9, 6, kernel=3, stride=2)))[NAME]
    multiply_adds, outputs = 5 * 5 * 6 * 4 * 9, 5 * 5 * 6
    assert cost.flops in (2 * multiply_adds, 2 * multiply_adds + outputs)  # with the bias, or without
    assert cost.bytes == 4 * (4 * 9 * 9 + 6 * 4 * 9 + 6 + outputs)


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        (conv("small", 4, 9, 6, kernel=3), "3x3 convolution"),
        (conv("small", 1, 9, 6, kernel=3), "3x3 convolution"),
        (depthwise("small", 4, 7, kernel=5), "depthwise convolution"),
        (upconv("small", 4, 5, 3), "transposed convolution"),
        (linear("small", 7, 5), "linear"),
        (max_pool("small", 4, 9, kernel=3, stride=2, padding=1), "other"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kinds_of_operators(layer: Layer, kind: str) -> None:
    assert costs_of(built(layer))[NAME].kind == kind
