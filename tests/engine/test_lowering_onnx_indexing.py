"""ONNX's Gather and GatherND in a plan: one pick, with the entries of the layers."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import TensorIndexError
from tests.engine.lowered import steps_of
from tests.engine.models import algorithms, both, numbers, plan_of
from tests.engine.test_lowering_integers import same, wholes


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_gather_picks_by_indices_that_are_computed(axis: int, shape: tuple[int, ...]) -> None:
    index = wholes(*shape, low=-3, high=3)
    line = f"Gather it 2 1 x0 x1 y0 axis={axis}"
    assert same(line, inputs=[numbers(4, 3, 5), index]) == ["pick"]
    assert same(line, inputs=[wholes(4, 3, 5).astype(np.bool_), index.astype(np.int32)]) == ["pick"]


def test_gather_by_an_index_outside_raises_what_the_layer_raises() -> None:
    fast, plain = both(
        "pnnx.Input a 0 1 x #x=(4,3)f32", "pnnx.Input b 0 1 i #i=(2)i64", "Gather it 2 1 x i y axis=1",
        "pnnx.Output out 1 0 y",
    )  # fmt: skip
    x = numbers(4, 3)
    for good in ([0, 2], [-3, -1]):
        np.testing.assert_array_equal(np.asarray(fast(x, np.array(good))), np.asarray(plain(x, np.array(good))))
    assert "pick" in algorithms(plan_of(fast, [x, np.array([0, 2])]))
    for bad in ([0, 3], [-4, 0]):
        with pytest.raises(TensorIndexError, match=r"indices within -3\.\.2"):
            fast(x, np.array(bad))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("index", [0, 2, -3])
def test_gather_by_a_number_without_axes_takes_one_entry(axis: int, index: int) -> None:
    line = f"Gather it 2 1 x0 x1 y0 axis={axis}"
    for x in (numbers(4, 3, 5), wholes(4, 3, 5) > 0):
        for dtype in (np.int64, np.int32):
            assert same(line, inputs=[x, np.array(index, dtype)]) == ["pick"]


def test_gather_by_a_number_outside_raises_what_the_layer_raises() -> None:
    fast, _ = both(
        "pnnx.Input a 0 1 x #x=(4,3)f32", "pnnx.Input b 0 1 i #i=()i64", "Gather it 2 1 x i y axis=0",
        "pnnx.Output out 1 0 y",
    )  # fmt: skip
    assert "pick" in algorithms(plan_of(fast, [numbers(4, 3), np.array(1)]))
    with pytest.raises(TensorIndexError, match=r"indices within -4\.\.3, got 4"):
        fast(numbers(4, 3), np.array(4))


def test_gather_of_one_number_is_left_to_the_layer() -> None:
    assert steps_of("Gather it 2 1 x0 x1 y axis=0", inputs=[numbers(4), np.int64(2)]) == ["layer"]


def test_gather_by_a_number_from_the_arena_is_left_to_the_layer() -> None:
    lines = ("pnnx.Expression e 1 1 x0 e expr=mul(@0,2.0)", "Gather it 2 1 e x1 y axis=0")
    assert steps_of(*lines, inputs=[numbers(4, 3), np.int64(2)]) == ["mul", "layer"]


def test_gather_of_more_axes_than_a_pick_has_is_left_to_the_layer() -> None:
    x, index = numbers(2, 2, 2, 2, 2), wholes(2, 2, low=0, high=2)
    assert steps_of("Gather it 2 1 x0 x1 y axis=0", inputs=[x, index]) == ["pick"]
    assert steps_of("Gather it 2 1 x0 x1 y axis=0", inputs=[x, index[None]]) == ["layer"]


# A row of sizes, of which comparisons and sums make indices that depend on shapes only.
SIZES = ("Shape s 1 1 x0 s", "pnnx.Expression z 1 1 s z expr=sub(@0,@0)")


@pytest.mark.parametrize(("less", "entry"), [(0, (0, 0, 0)), (1, (-1, -1, -1))])
def test_gather_nd_by_indices_that_sizes_tell_is_a_pick(less: int, entry: tuple[int, ...]) -> None:
    lines = (*SIZES, f"pnnx.Expression n 1 1 z n expr=sub(@0,{less})", "torch.unsqueeze u 1 1 n i dim=0")
    x = wholes(4, 3, 5)
    for case in (x, x > 0):
        assert same(*lines, "GatherND it 2 1 x0 i y0", inputs=[case]) == ["pick"]
    fast, _ = both("pnnx.Input in 0 1 x0 #x0=(4,3,5)i64", *lines, "GatherND it 2 1 x0 i y", "pnnx.Output out 1 0 y")
    np.testing.assert_array_equal(np.asarray(fast(x)), x[entry][None])


def test_gather_nd_of_fewer_indices_than_axes_picks_rows() -> None:
    lines = ("Shape s 1 1 x0 s end=2", "pnnx.Expression n 1 1 s n expr=sub(@0,1)", "torch.unsqueeze u 1 1 n i dim=0")
    assert same(*lines, "GatherND it 2 1 x0 i y0", inputs=[numbers(4, 3, 5)]) == ["pick"]


def test_gather_nd_by_indices_that_are_computed_is_left_to_the_layer() -> None:
    index = np.int64([[1, 2], [-1, 0], [3, 1]])
    assert steps_of("GatherND it 2 1 x0 x1 y", inputs=[numbers(4, 3, 5), index]) == ["layer"]


def test_a_mask_reshaped_to_sizes_that_a_plan_knows_is_a_view() -> None:
    lines = (
        "torch.eq e 2 1 x0 x1 b",
        "Shape s 1 1 x0 s",
        "torch.flip f 1 1 s t dims=(0)",
        "Tensor.reshape r 2 1 b t m $input=b $shape=t",
        "torch.logical_not n 1 1 m y0",
    )
    assert same(*lines, inputs=[wholes(4, 3, high=0, low=-2), wholes(4, 3, high=0, low=-2, seed=1)]) == ["eq", "eq"]


@pytest.mark.parametrize(("length", "expected"), [(16, ["add"]), (5000, ["layer", "add"])])
def test_a_few_whole_numbers_from_outside_reshaped_to_sizes_are_a_view(length: int, expected: list[str]) -> None:
    lines = (
        "Shape s 1 1 x0 s",
        "torch.flip f 1 1 s t dims=(0)",
        "Tensor.reshape r 2 1 x0 t m $input=x0 $shape=t",
        "pnnx.Expression e 1 1 m y0 expr=add(@0,2)",
    )
    assert same(*lines, inputs=[wholes(1, length)]) == expected
