"""Activations rise to the convolution that made the numbers, and only there."""

from __future__ import annotations

from kuiper.graph.passes import fuse_activation_into_conv, hoist_activation_above_views
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, relu, rewritten, types

RESHAPE = "Tensor.reshape r 1 1 1 2 shape=(2,2,2,6,5) #1=(2,4,6,5)f32 #2=(2,2,2,6,5)f32"
PERMUTE = "Tensor.permute p 1 1 2 3 dims=(0,1,3,4,2) #2=(2,2,2,6,5)f32 #3=(2,2,6,5,2)f32"


def test_hoist_activation_above_views_passes_all_views() -> None:
    model = rewritten(hoist_activation_above_views, INPUT, conv("x 1"), RESHAPE, PERMUTE, "F.sigmoid s 1 1 3 y", OUTPUT)
    assert types(model) == ["nn.Conv2d", "F.sigmoid", "Tensor.reshape", "Tensor.permute"]


def test_hoist_activation_above_views_lets_the_convolution_take_it_in() -> None:
    passes = [hoist_activation_above_views, fuse_activation_into_conv]
    model = rewritten(passes, INPUT, conv("x 1"), RESHAPE, PERMUTE, "F.sigmoid s 1 1 3 y", OUTPUT)
    assert types(model) == ["kuiper.FusedConv2d", "Tensor.reshape", "Tensor.permute"]


def test_hoist_activation_above_views_leaves_views_with_other_readers() -> None:
    model = rewritten(
        hoist_activation_above_views,
        INPUT, conv("x 1"), RESHAPE, PERMUTE, "F.sigmoid s 1 1 3 4", "torch.cat both 2 1 3 4 y dim=0", OUTPUT,
    )  # fmt: skip
    assert types(model) == ["nn.Conv2d", "Tensor.reshape", "Tensor.permute", "F.sigmoid", "torch.cat"]


def test_hoist_activation_above_views_needs_something_to_fuse_with() -> None:
    lines = (INPUT, relu("x 1", "first"), RESHAPE, "F.sigmoid s 1 1 2 y", OUTPUT)
    assert types(rewritten(hoist_activation_above_views, *lines)) == ["nn.ReLU", "Tensor.reshape", "F.sigmoid"]


def test_hoist_activation_above_views_leaves_an_activated_convolution() -> None:
    lines = (INPUT, conv("x 0"), relu("0 1"), RESHAPE, "F.sigmoid s 1 1 2 y", OUTPUT)
    model = rewritten([fuse_activation_into_conv, hoist_activation_above_views], *lines)
    assert types(model) == ["kuiper.FusedConv2d", "Tensor.reshape", "F.sigmoid"]
