"""Exercise 5.7."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import kuiper
from kuiper.course import calling
from kuiper.errors import UnsupportedOperatorError
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window
from kuiper.models import bundled, bundled_photo

RESNET20 = str(bundled("cifar_resnet20"))

CAT = 0.98964  # how likely the bundled photo is one

CHAIN = """\
7767517
5 4
pnnx.Input  in      0 1 0
nn.ReLU     first   1 1 0 1
nn.ReLU     second  1 1 1 2
nn.ReLU     third   1 1 2 3
pnnx.Output out     1 0 3
"""

CHUNKS = """\
7767517
5 5
pnnx.Input  in     0 1 0
torch.chunk cut    1 2 0 1 2 chunks=2 dim=1
nn.ReLU     left   1 1 1 3
nn.ReLU     right  1 1 2 4
pnnx.Output out    2 0 3 4
"""


def run_layer(impl, name, params, weights, x):
    """One layer of the student's on one input; params as plain values."""
    from kuiper.graph.pnnx import DataType, ParameterType
    from kuiper.graph.runtime_attribute import RuntimeAttribute
    from kuiper.graph.runtime_operator import RuntimeOperator, RuntimeParameter

    op = RuntimeOperator(f"nn.{name.removeprefix('My')}", "layer")
    op.params = {key: RuntimeParameter(ParameterType.OTHER, value) for key, value in params.items()}
    op.attrs = {key: RuntimeAttribute(DataType.F32, value.shape, value) for key, value in weights.items()}
    return getattr(impl, name)(op).forward(x)


def counting(*shape, start=1):
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def test_relu(impl):
    calling(run_layer, impl, "MyReLU", {}, {}, np.float32([-2, 0, 3])).gives(np.float32([0, 0, 3]))


def test_relu_of_images(impl):
    x = counting(2, 3, 2, 2, start=-11)
    calling(run_layer, impl, "MyReLU", {}, {}, x).gives(np.maximum(x, 0))


def test_relu_of_a_view(impl):
    x = counting(3, 2, 4, start=-9).T
    calling(run_layer, impl, "MyReLU", {}, {}, x).gives(np.maximum(x, 0))


def test_conv2d_without_parameters(impl):
    x = np.float32([[[[1, 2, 3], [4, 5, 6]]]])
    weights = {"weight": np.float32([[[[10, 1]]]])}
    calling(run_layer, impl, "MyConv2d", {}, weights, x).gives(np.float32([[[[12, 23], [45, 56]]]]))


def test_conv2d_with_bias(impl):
    x, weights = np.float32([[[[1, 2]]]]), {"weight": np.float32([[[[3]]], [[[4]]]]), "bias": np.float32([100, 200])}
    calling(run_layer, impl, "MyConv2d", {"bias": True}, weights, x).gives(np.float32([[[[103, 106]], [[204, 208]]]]))


SETTINGS = {
    "stride": {"stride": [2, 3]},
    "padding": {"padding": [1, 2]},
    "dilation": {"dilation": [2, 3]},
    "groups": {"groups": 2},
    "all": {"stride": [3, 2], "padding": [1, 4], "dilation": [4, 3], "groups": 2},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_conv2d_with_setting(impl, name):
    params = {"padding_mode": "zeros", **SETTINGS[name]}
    groups = params.get("groups", 1)
    x, weight, bias = counting(2, 4, 7, 9, start=-200), counting(6, 4 // groups, 2, 3, start=-30), counting(6, start=-2)
    padding = tuple(params.get("padding", (0, 0)))
    window = Window(
        (2, 3), tuple(params.get("stride", (1, 1))), padding, padding, tuple(params.get("dilation", (1, 1)))
    )
    wanted = reference.conv2d(x, weight, bias, window, groups)
    calling(run_layer, impl, "MyConv2d", params, {"weight": weight, "bias": bias}, x).gives(wanted)


@pytest.mark.parametrize("mode", ["reflect", "circular"])
def test_conv2d_refuses_what_it_cannot_do(impl, mode):
    params, weights = {"padding": [1, 1], "padding_mode": mode}, {"weight": counting(1, 1, 1, 1)}
    calling(run_layer, impl, "MyConv2d", params, weights, counting(1, 1, 3, 3)).raises(UnsupportedOperatorError, mode)


def test_linear(impl):
    weights = {"weight": np.float32([[3, 4], [5, 6]]), "bias": np.float32([100, 200])}
    calling(run_layer, impl, "MyLinear", {"bias": True}, weights, np.float32([[1, 2]])).gives(np.float32([[111, 217]]))


def test_linear_without_bias(impl):
    weights = {"weight": np.float32([[1, 0, -1], [2, 3, 4]])}
    x = np.float32([[1, 10, 100], [5, 6, 7]])
    calling(run_layer, impl, "MyLinear", {"bias": False}, weights, x).gives(np.float32([[-99, 432], [-2, 56]]))


def test_linear_of_several_rows(impl):
    x, weight, bias = counting(3, 4, start=-5), counting(2, 4, start=-3), counting(2, start=50)
    calling(run_layer, impl, "MyLinear", {"bias": True}, {"weight": weight, "bias": bias}, x).gives(x @ weight.T + bias)


def test_linear_of_no_rows(impl):
    weights = {"weight": counting(2, 3), "bias": counting(2)}
    calling(run_layer, impl, "MyLinear", {"bias": True}, weights, counting(0, 3)).gives(np.zeros((0, 2), np.float32))


def test_relu_of_nan_and_of_nothing(impl):
    x = np.float32([[np.nan, -1], [np.inf, -np.inf]])
    calling(run_layer, impl, "MyReLU", {}, {}, x).gives(np.float32([[np.nan, 0], [np.inf, 0]]))
    calling(run_layer, impl, "MyReLU", {}, {}, counting(2, 0, 3)).gives(np.zeros((2, 0, 3), np.float32))


def ran_twice(impl, name, weights, first, second):
    """One layer, two inputs: a layer is made once and runs many times."""
    from kuiper.graph.pnnx import DataType
    from kuiper.graph.runtime_attribute import RuntimeAttribute
    from kuiper.graph.runtime_operator import RuntimeOperator

    op = RuntimeOperator("nn.Any", "layer")
    op.attrs = {key: RuntimeAttribute(DataType.F32, value.shape, value) for key, value in weights.items()}
    layer = getattr(impl, name)(op)
    y = layer.forward(first)
    return layer.forward(second), y, first


@pytest.mark.parametrize("name", ["MyReLU", "MyConv2d", "MyLinear"])
def test_layer_that_runs_twice(impl, name):
    if name == "MyLinear":
        weights, first, second = {"weight": counting(2, 3)}, counting(1, 3), counting(4, 3, start=-8)
        kept, wanted = first @ weights["weight"].T, second @ weights["weight"].T
    else:
        weights = {"weight": np.float32([[[[10]]]])} if name == "MyConv2d" else {}
        first, second = counting(1, 1, 2, 2, start=-2), counting(2, 1, 3, 1, start=-3)
        kept, wanted = (10 * x if name == "MyConv2d" else np.maximum(x, 0) for x in (first, second))
    calling(ran_twice, impl, name, weights, first, second).gives((wanted, kept, first))


def layers_of(impl, param):
    """Whose layers run the operators of each type."""
    found = {}
    for op in impl.build(param).operators:
        if op.layer is not None:
            name = type(op.layer).__name__
            found[op.type] = name if hasattr(impl, name) else "the engine's"
    return found


def test_build(impl):
    mine = {"nn.Conv2d": "MyConv2d", "nn.ReLU": "MyReLU", "nn.Linear": "MyLinear"}
    others = dict.fromkeys(["pnnx.Expression", "nn.AdaptiveAvgPool2d", "torch.flatten"], "the engine's")
    calling(layers_of, impl, RESNET20).gives({**mine, **others})


def counted(impl, param):
    return len(impl.build(param).operators)


def test_build_keeps_every_operator(impl, tmp_path):
    text = CHAIN.replace("nn.ReLU     second", "nn.Dropout  second")
    (tmp_path / "dropout.pnnx.param").write_text(text)
    (tmp_path / "dropout.pnnx.bin").write_bytes(b"PK\x05\x06" + bytes(18))
    calling(counted, impl, str(tmp_path / "dropout.pnnx.param")).gives(5)


def layers_afterwards(impl, param, missing):
    """Whose layers the next one gets who loads a model: after build has worked, and after it has not."""
    import contextlib

    found = []
    for path in (param, missing):
        with contextlib.suppress(kuiper.KuiperError):
            impl.build(path)
        layers = {type(op.layer) for op in kuiper.load(param).operators}
        found.append(sorted(layer.__name__ for layer in layers if layer.__module__ == impl.__name__))
    return found


def test_build_leaves_the_registry_as_it_was(impl):
    calling(layers_afterwards, impl, RESNET20, "no-such-file.pnnx.param").gives([[], []])


def compare(impl, text, x, wrong, *rest, both=()):
    """first_difference where the model adds ``wrong`` to outputs, by operator; ``both`` is added in both graphs."""
    from kuiper.graph import RuntimeGraph, pnnx
    from kuiper.layers import registry

    def graph(amounts):
        class Registry:
            facts, is_supported, near_matches = registry.facts, registry.is_supported, registry.near_matches

            @staticmethod
            def create(op):
                layer = registry.create(op)
                run, amount = layer.forward, np.float32(amounts.get(op.name, 0))

                def forward(x):
                    y = run(x)
                    return (*y[:-1], y[-1] + amount) if isinstance(y, (tuple, list)) else y + amount

                layer.forward = forward
                return layer

        made = RuntimeGraph(pnnx.parse_param(text, "test"))
        made.build(Registry)
        return made

    return impl.first_difference(graph({**dict(both), **wrong}), graph(dict(both)), x, *rest)


X = np.float32([1, 2, 10])
NAN = float("nan")


def test_no_difference(impl):
    calling(compare, impl, CHAIN, X, {}).gives(None)


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_first_difference(impl, name):
    calling(compare, impl, CHAIN, X, {name: 1}).gives(name)


def test_first_difference_is_the_first(impl):
    calling(compare, impl, CHAIN, X, {"second": 1, "third": -1}).gives("second")


def test_difference_of_one_number_only(impl):
    calling(compare, impl, CHAIN, X, {"second": [0, 0, -3]}).gives("second")
    calling(compare, impl, CHAIN, X, {"third": [2, 0, -2]}).gives("third")


def test_difference_within_the_tolerance(impl):
    calling(compare, impl, CHAIN, X, {"first": 0.0009}).gives(None)
    calling(compare, impl, CHAIN, X, {"first": 0.0011}).gives("first")


def test_tolerance_is_relative(impl):
    calling(compare, impl, CHAIN, 1000 * X, {"first": 0.9}).gives(None)
    calling(compare, impl, CHAIN, X / 1000, {"first": 0.0009}).gives("first")


def test_tolerance_that_is_given(impl):
    calling(compare, impl, CHAIN, X, {"first": 2}, 0.25).gives(None)
    calling(compare, impl, CHAIN, X, {"first": -3}, 0.25).gives("first")
    calling(compare, impl, CHAIN, X, {"first": 3}, 0.25).gives("first")


def test_difference_from_zero(impl):
    calling(compare, impl, CHAIN, 0 * X, {"second": 0.00001}).gives("second")
    calling(compare, impl, CHAIN, 0 * X, {}).gives(None)


def test_difference_in_a_large_negative_number(impl):
    calling(compare, impl, CHAIN, X, {"third": -100.005}, both=(("third", -100.0),)).gives(None)


def test_not_a_number(impl):
    calling(compare, impl, CHAIN, X, {"third": [0, NAN, 0]}).gives("third")
    calling(compare, impl, CHAIN, 0 * X, {"third": [0, NAN, 0]}).gives("third")


def test_not_a_number_in_the_reference_only(impl):
    calling(compare, impl, CHAIN, X, {"third": 0}, both=(("third", [NAN, 0, 0]),)).gives("third")


def test_not_a_number_in_both(impl):
    calling(compare, impl, CHAIN, X, {}, both=(("third", [NAN, 0, 0]),)).gives(None)
    calling(compare, impl, CHAIN, X, {"third": [NAN, 0, 1]}, both=(("third", [NAN, 0, 0]),)).gives("third")


def test_difference_of_shapes(impl):
    calling(compare, impl, CHAIN, X, {"second": [[0], [0]]}).gives("second")
    calling(compare, impl, CHAIN, np.ones(1, np.float32), {"third": [0, 0]}).gives("third")


def test_difference_in_the_second_output(impl):
    calling(compare, impl, CHUNKS, np.ones((2, 4), np.float32), {"cut": 1}).gives("cut")


def test_average_blocks(impl):
    image = np.array([[0, 2, 10, 30], [4, 6, 50, 10]], np.uint8)[:, :, None]
    calling(impl.average_blocks, image, 2).gives(np.float32([[[3], [25]]]))


def test_average_blocks_of_colours(impl):
    image = np.array([[[1, 200]], [[2, 255]], [[6, 100]]], np.uint8)
    calling(impl.average_blocks, np.repeat(image, 3, axis=1), 3).gives(np.float32([[[3, 185]]]))


def test_average_blocks_leaves_a_rest_out(impl):
    image = counting(3, 5, 1)
    calling(impl.average_blocks, image, 2).gives(np.float32([[[4], [6]]]))


def test_average_blocks_of_many_sizes(impl):
    for seed, (h, w, c, factor) in enumerate([(7, 9, 3, 2), (9, 7, 1, 3), (8, 20, 4, 4), (5, 5, 2, 5), (6, 13, 3, 6)]):
        image = np.random.default_rng(seed).integers(0, 256, (h, w, c)).astype(np.uint8)
        wanted = np.empty((h // factor, w // factor, c), np.float32)
        for y, x in np.ndindex(h // factor, w // factor):
            block = image[y * factor : (y + 1) * factor, x * factor : (x + 1) * factor]
            wanted[y, x] = block.astype(np.float64).mean(axis=(0, 1))
        calling(impl.average_blocks, image, factor).gives(wanted, tolerance=1e-6)


def test_average_blocks_larger_than_the_picture(impl):
    calling(impl.average_blocks, counting(2, 3, 1), 3).gives(np.zeros((0, 1, 1), np.float32))


def test_average_blocks_of_a_view(impl):
    image = np.arange(48, dtype=np.uint8).reshape(4, 12, 1)[:, ::-3]
    calling(impl.average_blocks, np.asfortranarray(image), 2).gives(np.float32([[[15.5], [9.5]], [[39.5], [33.5]]]))
    calling(impl.average_blocks, image, 2).gives(np.float32([[[15.5], [9.5]], [[39.5], [33.5]]]))


def test_average_blocks_of_one(impl):
    calling(impl.average_blocks, counting(2, 3, 1).astype(np.uint8), 1).gives(counting(2, 3, 1))


def test_average_blocks_does_not_round(impl):
    calling(impl.average_blocks, np.array([[[1], [2]], [[2], [2]]], np.uint8), 2).gives(np.float32([[[1.75]]]))


def guess(impl, photo, k, **changes):
    """recognise with a model that answers with the means of the channels, and what it was given."""
    from kuiper.models import ClassifierCard

    card = {"labels": ("red", "green", "blue"), "mean": (0, 0, 0), "std": (1, 1, 1), "size": 2, "resize": 2, **changes}
    given = []

    def model(x):
        given.append(np.array(x))
        return x.mean(axis=(2, 3)) * np.float32(np.log(2))

    return impl.recognise(model, ClassifierCard(**card), photo, k), given


def test_recognise(impl):
    photo = np.zeros((2, 2, 3), np.uint8) + np.uint8([0, 255, 0])
    given = np.zeros((1, 3, 2, 2), np.float32)
    given[0, 1] = 1
    calling(guess, impl, photo, 1).gives(([("green", 0.5)], [given]), tolerance=1e-6)


def test_recognise_by_probability(impl):
    photo = np.zeros((2, 2, 3), np.uint8) + np.uint8([255, 0, 255])
    given = np.ones((1, 3, 2, 2), np.float32)
    given[0, 1] = 0
    wanted = [("red", 0.4), ("blue", 0.4), ("green", 0.2)]
    calling(guess, impl, photo, 3).gives((wanted, [given]), tolerance=1e-6)


def test_recognise_goes_by_the_card(impl):
    photo = np.zeros((4, 4, 3), np.uint8)
    photo[1, 1] = 255
    given = np.float32([-0.5, 0, -1]).reshape(1, 3, 1, 1).repeat(2, axis=2).repeat(2, axis=3)
    given[0, :, 0, 0] = 0.5, 2, 0
    card = {"size": 2, "resize": 4, "mean": (0.5, 0, 1), "std": (1, 0.5, 1), "labels": ("a", "b", "c")}
    powers = np.array([2**-0.25, 2**0.5, 2**-0.75])
    chances = (powers / powers.sum()).tolist()
    calling(guess, impl, photo, 2, **card).gives(([("b", chances[1]), ("a", chances[0])], [given]), tolerance=1e-6)


def test_recognise_averages_the_photo_first(impl):
    photo = np.zeros((6, 12, 3), np.uint8)
    photo[::3, 3:9:3] = 180  # one of nine pixels in each of the blocks in the middle
    given = np.full((1, 3, 2, 2), 20 / 255, np.float32)
    wanted = [("red", 1 / 3), ("green", 1 / 3), ("blue", 1 / 3)]
    calling(guess, impl, photo, 3).gives((wanted, [given]), tolerance=1e-5)


def test_recognise_never_averages_too_much(impl):
    photo = np.zeros((7, 7, 3), np.uint8)  # 7 / 2 is rounded to 4, and 4 leaves one pixel
    photo[0:3, 0:3] = 255
    given = np.zeros((1, 3, 2, 2), np.float32)
    given[0, :, 0, 0] = 1
    calling(guess, impl, photo, 1).gives(([("red", 1 / 3)], [given]), tolerance=1e-5)


def test_recognise_enlarges_a_small_photo(impl):
    photo = np.full((1, 1, 3), 51, np.uint8)
    given = np.full((1, 3, 2, 2), 0.2, np.float32)
    calling(guess, impl, photo, 1).gives(([("red", 1 / 3)], [given]), tolerance=1e-5)


def see(impl, param, photo):
    """The likeliest label and its probability, on the student's layers and on the engine's."""
    from pathlib import Path

    from kuiper.models import ClassifierCard

    card = ClassifierCard.read(Path(param.replace(".pnnx.param", ".json")))
    return [impl.recognise(model, card, photo, 1) for model in (impl.build(param), kuiper.load(param))]


def test_the_photo_is_a_cat(impl):
    photo = np.asarray(Image.open(bundled_photo()).convert("RGB"))
    calling(see, impl, RESNET20, photo).gives([[("cat", CAT)], [("cat", CAT)]], tolerance=1e-4)
