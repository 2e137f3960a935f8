"""Plans of concatenations: parts are written to their places, whatever they are parts of."""

from __future__ import annotations

import pytest

from kuiper.errors import ShapeError
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.engine.test_plan import SPLIT
from tests.graph.pass_graphs import INPUT, OUTPUT, relu


def test_concatenation_of_whole_vectors_copies_nothing() -> None:
    wide = "#{0}=(1,64,6,5)f32"
    lines = (
        "pnnx.Input in 0 1 x #x=(1,3,6,5)f32",
        "nn.Conv2d a 1 1 x 1 in_channels=3 out_channels=64 kernel_size=(1,1) bias=False @weight=(64,3,1,1)f32",
        "nn.Conv2d b 1 1 x 2 in_channels=3 out_channels=64 kernel_size=(1,1) bias=False @weight=(64,3,1,1)f32",
        f"torch.cat join 2 1 1 2 y dim=1 {wide.format(1)} {wide.format(2)}",
        OUTPUT,
    )
    fast, plain = both(*lines)
    x = numbers(1, 3, 6, 5)
    assert_close(fast(x), plain(x))
    assert algorithms(plan_of(fast, [x])) == ["import", "direct", "direct", "export"]


@pytest.mark.parametrize("channels", [(3, 5), (16, 3), (17, 16, 4), (64, 64, 1)])
def test_concatenation_of_any_channels_is_right(channels: tuple[int, ...]) -> None:
    convs = [
        f"nn.Conv2d c{i} 1 1 x {i} in_channels=3 out_channels={c} kernel_size=(1,1) bias=False @weight=({c},3,1,1)f32"
        for i, c in enumerate(channels)
    ]
    names = " ".join(str(i) for i in range(len(channels)))
    join = f"torch.cat join {len(channels)} 1 {names} y dim=1"
    fast, plain = both("pnnx.Input in 0 1 x #x=(1,3,6,5)f32", *convs, join, OUTPUT)
    assert_close(fast(numbers(2, 3, 7, 4)), plain(numbers(2, 3, 7, 4)))


def test_a_part_that_goes_with_each_of_several_images_is_right() -> None:
    shared = "nn.Conv2d shared 1 1 a 1 in_channels=4 out_channels=16 kernel_size=(1,1) bias=False @weight=(16,4,1,1)f32"
    cat = "torch.cat cat 2 1 1 b y dim=1 #1=(1,16,6,5)f32 #b=(1,4,6,5)f32"
    inputs = ["pnnx.Input in0 0 1 a #a=(1,4,6,5)f32", "pnnx.Input in1 0 1 b #b=(1,4,6,5)f32"]
    fast, plain = both(*inputs, shared, cat, OUTPUT)
    assert_close(fast(numbers(1, 4, 6, 5), numbers(3, 4, 6, 5)), plain(numbers(1, 4, 6, 5), numbers(3, 4, 6, 5)))


def test_a_reshaped_part_that_goes_with_each_of_several_images_is_right() -> None:
    lines = [
        "nn.ReLU r 1 1 a 1",
        "Tensor.reshape s 1 1 1 2 shape=(1,2,60) #1=(1,4,6,5)f32 #2=(1,2,60)f32",
        "torch.cat cat 2 1 2 b y dim=1 #2=(1,2,60)f32 #b=(1,2,60)f32",
    ]
    inputs = ["pnnx.Input in0 0 1 a #a=(1,4,6,5)f32", "pnnx.Input in1 0 1 b #b=(1,2,60)f32"]
    fast, plain = both(*inputs, *lines, OUTPUT)
    assert_close(fast(numbers(1, 4, 6, 5), numbers(3, 2, 60)), plain(numbers(1, 4, 6, 5), numbers(3, 2, 60)))


def test_nested_concatenations_and_splits_are_right() -> None:
    lines = (
        INPUT, SPLIT, relu("a 1", "ra"), relu("b 2", "rb"), "torch.cat inner 2 1 2 1 3 dim=1",
        relu("3 4", "rc"), "torch.cat outer 3 1 4 x 3 5 dim=1",
        "torch.cat rows 2 1 5 5 y dim=2", OUTPUT,
    )  # fmt: skip
    fast, plain = both(*lines)
    assert_close(fast(numbers(2, 4, 6, 5)), plain(numbers(2, 4, 6, 5)))


@pytest.mark.parametrize("first", [True, False])
def test_a_reshaped_part_of_a_concatenation_keeps_clear_of_its_neighbours(first: bool) -> None:
    reshaped = (
        "nn.Linear l 1 1 x a in_features=8 out_features=24 bias=False @weight=(24,8)f32 #a=(1,4,24)f32",
        "Tensor.reshape r 1 1 a b shape=(1,1,96) #b=(1,1,96)f32",
    )
    plain_part = ("nn.Linear m 1 1 x c in_features=8 out_features=96 bias=False @weight=(96,8)f32 #c=(1,4,96)f32",)
    parts = (*reshaped, *plain_part) if first else (*plain_part, *reshaped)
    fast, plain = both("pnnx.Input in 0 1 x #x=(1,4,8)f32", *parts, "torch.cat j 2 1 b c y dim=1", OUTPUT)
    assert_close(fast(numbers(1, 4, 8)), plain(numbers(1, 4, 8)))


@pytest.mark.parametrize("other", [(2, 4, 7, 5), (2, 4, 6, 3), (1, 4, 6, 5)])
@pytest.mark.parametrize("dim", [1, -3])
def test_concatenation_of_unlike_sizes_raises_what_the_layer_raises(other: tuple[int, ...], dim: int) -> None:
    second = f"pnnx.Input b 0 1 b #b=({','.join(map(str, other))})f32"
    fast, plain = both("pnnx.Input a 0 1 a #a=(2,4,6,5)f32", second, f"torch.cat c 2 1 a b y dim={dim}", OUTPUT)
    for model in (plain, fast):
        with pytest.raises(ShapeError, match=r"torch\.cat 'c': "):
            model(numbers(2, 4, 6, 5), numbers(*other))
