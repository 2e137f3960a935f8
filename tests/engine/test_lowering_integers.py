"""Integers and bools in a plan: no stop in Python, and the numbers and types of the layers."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.engine import Engine
from kuiper.errors import TensorIndexError
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry
from tests.engine.lowered import steps_of
from tests.engine.models import algorithms, both, numbers, plan_of
from tests.graph.pass_graphs import OUTPUT, file_graph

SIZES = [1, 7, 16, 17, 511, 512, 513, 1100]
NAMES = {"float32": "f32", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}


def same(*lines: str, inputs: list[np.ndarray], ends: int = 1) -> list[str]:
    """What runs between import and export; outputs are y0, y1, ..., and equal to those of the layers, types too."""
    declared = [
        f"pnnx.Input in{i} 0 1 x{i} #x{i}=({','.join(map(str, x.shape))}){NAMES[x.dtype.name]}"
        for i, x in enumerate(inputs)
    ]
    fast, plain = both(*declared, *lines, *(f"pnnx.Output out{i} 1 0 y{i}" for i in range(ends)))
    got, expected = (model(*inputs) for model in (fast, plain))
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, expected)), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    return [word for word in algorithms(plan_of(fast, inputs)) if word not in ("import", "export")]


def wholes(*shape: int, low: int = -50, high: int = 50, dtype: type = np.int64, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def rounded(*shape: int, seed: int = 0) -> np.ndarray:
    """Floats among which there are equals, zeros of both signs, infinities and NaN."""
    x = np.round(numbers(*shape, seed=seed) * 4)
    flat = x.reshape(-1)
    flat[::7], flat[3::11], flat[5::13] = np.nan, np.inf, -np.inf
    return x


@pytest.mark.parametrize("relation", ["gt", "lt", "ge", "le", "eq", "ne"])
@pytest.mark.parametrize("count", SIZES)
def test_comparisons_of_floats_and_wholes(relation: str, count: int) -> None:
    x, y = rounded(3, count), rounded(3, count, seed=1)
    i, j = wholes(3, count, high=-45), wholes(3, count, high=-45, seed=1)
    for a, b in ((x, y), (i, j), (x, i), (i.astype(np.int32), j)):
        assert same(f"torch.{relation} it 2 1 x0 x1 y0", inputs=[a, b]) == [relation]
    assert same(f"torch.{relation} it 1 1 x0 y0 other=-1", inputs=[i]) == [relation]
    assert same(f"torch.{relation} it 1 1 x0 y0 other=0.5", inputs=[x]) == [relation]


def test_a_formula_with_an_odd_type_deep_inside_is_left_to_the_layer_whole() -> None:
    inputs = [wholes(5), wholes(5, dtype=np.int16)]
    assert same("pnnx.Expression it 2 1 x0 x1 y0 expr=add(mul(@0,2),mul(@0,add(@0,@1)))", inputs=inputs) == ["layer"]


def test_a_whole_number_beside_a_fraction_is_left_to_the_layer() -> None:
    assert same("torch.gt it 1 1 x0 y0 other=0.5", inputs=[wholes(5)]) == ["layer"]


@pytest.mark.parametrize("shapes", [((3, 1, 5), (4, 1)), ((2, 3, 4, 6), (3, 1, 1)), ((6,), (2, 1, 6))])
def test_choices_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = rounded(*shapes[0]), rounded(*shapes[1])
    mask = rounded(*shapes[0], seed=2) > 0
    assert same("torch.where it 3 1 x0 x1 x2 y0 $condition=x0 $input=x1 $other=x2", inputs=[mask, a, b]) == ["where"]


@pytest.mark.parametrize("count", SIZES)
def test_choices_of_numbers_and_tensors(count: int) -> None:
    mask, x, i = rounded(2, count) > 0, rounded(2, count), wholes(2, count)
    assert same("torch.where it 2 1 x0 x1 y0 other=0.5 $condition=x0 $input=x1", inputs=[mask, x]) == ["where"]
    assert same("torch.where it 2 1 x0 x1 y0 other=3 $condition=x0 $input=x1", inputs=[mask, i]) == ["where"]
    assert same("torch.where it 3 1 x0 x1 x2 y0 $condition=x0 $input=x1 $other=x2", inputs=[mask, x, i]) == ["where"]
    assert same("Tensor.masked_fill it 2 1 x0 x1 y0 value=-inf $input=x0 $mask=x1", inputs=[x, mask]) == ["where"]


@pytest.mark.parametrize("count", SIZES)
def test_logic_of_bools(count: int) -> None:
    a, b = rounded(2, count) > 0, rounded(count, seed=1) > 0
    for word in ("and", "or", "xor"):
        assert same(f"torch.logical_{word} it 2 1 x0 x1 y0", inputs=[a, b]) == [word]
    for word in ("logical", "bitwise"):
        assert same(f"torch.{word}_not it 1 1 x0 y0", inputs=[a]) == ["eq"]


def test_logic_of_other_numbers_is_left_to_the_layer() -> None:
    assert same("torch.logical_not it 1 1 x0 y0", inputs=[wholes(5)]) == ["layer"]
    assert same("torch.bitwise_not it 1 1 x0 y0", inputs=[wholes(5)]) == ["layer"]
    assert same("torch.logical_and it 2 1 x0 x1 y0", inputs=[wholes(5), wholes(5) > 0]) == ["layer"]


def test_views_of_small_whole_numbers_and_bools_are_none_in_python() -> None:
    views = ["torch.unsqueeze a 1 1 x0 a dim=0", "torch.permute b 1 1 a b dims=(1,0,2)"]
    for x in (wholes(3, 5), wholes(3, 5) > 0, wholes(3, 5, dtype=np.int32)):
        assert same(*views, "torch.eq it 1 1 b y0 other=1", inputs=[x]) == ["eq"]


def test_views_of_types_without_steps_are_made_in_python() -> None:
    assert same("torch.unsqueeze a 1 1 x0 y0 dim=0", inputs=[wholes(3, 5, dtype=np.int16)]) == ["layer"]


@pytest.mark.parametrize("kind", [np.int64, np.bool_, np.float32])
def test_expand_of_onnx_to_a_known_shape_is_a_view(kind: type) -> None:
    x = np.round(numbers(3, 1, 5)).astype(kind)
    size = "pnnx.Input in1 0 1 x1 #x1=(2,3,4,5)f32"
    declared = f"pnnx.Input in0 0 1 x0 #x0=(3,1,5){NAMES[x.dtype.name]}"
    lines = ["Shape s 1 1 x1 s", "Expand e 2 1 x0 s e", "torch.eq it 1 1 e y0 other=1", "pnnx.Output out 1 0 y0"]
    fast, plain = both(declared, size, *lines)
    inputs = [x, numbers(2, 3, 4, 5)]
    np.testing.assert_array_equal(np.asarray(fast(*inputs)), np.asarray(plain(*inputs)))
    assert "layer" not in algorithms(plan_of(fast, inputs))


@pytest.mark.parametrize("target", ["float", "long", "int", "bool"])
def test_casts(target: str) -> None:
    for x in (np.round(numbers(3, 513) * 3), wholes(3, 513), wholes(3, 513, dtype=np.int32), numbers(3, 513) > 0):
        steps = same(f"Tensor.to it 1 1 x0 m dtype=torch.{target}", "torch.eq e 2 1 m m y0", inputs=[x])
        assert "layer" not in steps


@pytest.mark.parametrize(
    "expression",
    ["add(@0,@1)", "sub(mul(@0,3),@1)", "floor_divide(@0,7)", "remainder(@0,-7)", "and(@0,@1)", "or(@0,6)"],
)
@pytest.mark.parametrize("count", SIZES)
def test_arithmetic_with_wholes(expression: str, count: int) -> None:
    inputs = [wholes(2, count), wholes(2, count, seed=1)]
    steps = same(f"pnnx.Expression it 2 1 x0 x1 y0 expr={expression}", inputs=inputs)
    assert "layer" not in steps
    assert len(steps) == expression.count("(")


def test_arithmetic_of_wholes_and_floats_is_of_floats() -> None:
    inputs = [numbers(3, 9), wholes(3, 9), numbers(3, 9) > 0]
    assert same("pnnx.Expression it 3 1 x0 x1 x2 y0 expr=mul(add(@0,@1),@2)", inputs=inputs) == ["add", "mul"]


def test_division_by_what_is_not_known_is_left_to_the_layer() -> None:
    inputs = [wholes(5), wholes(5, low=1)]
    assert same("pnnx.Expression it 2 1 x0 x1 y0 expr=floor_divide(@0,@1)", inputs=inputs) == ["layer"]


def test_a_comparison_keeps_images_as_they_lie() -> None:
    conv = (
        "nn.Conv2d c 1 1 x0 m bias=False dilation=(1,1) groups=1 in_channels=3 kernel_size=(1,1) out_channels=5 "
        "padding=(0,0) padding_mode=zeros stride=(1,1) @weight=(5,3,1,1)f32"
    )
    to = "Tensor.to t 1 1 b f dtype=torch.float"
    steps = same(conv, "torch.gt g 1 1 m b other=0", to, "pnnx.Expression p 2 1 f m y0 expr=mul(@0,sign(@1))",
                 inputs=[numbers(2, 3, 6, 7)])  # fmt: skip
    assert "layer" not in steps


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_topk_of_equals_infinities_and_nan(largest: bool, dim: int, k: int) -> None:
    for shape in ((5, 33, 40), (6, 5, 7)):
        steps = same(f"torch.topk it 1 2 x0 y0 y1 k={k} dim={dim} largest={largest}", inputs=[rounded(*shape)], ends=2)
        assert [step for step in steps if step != "copy"] == ["largest" if largest else "smallest"]


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 100, 1000])
def test_topk_of_all_is_a_sort(count: int) -> None:
    for largest in (True, False):
        same(f"torch.topk it 1 2 x0 y0 y1 k={count} largest={largest}", inputs=[rounded(3, count)], ends=2)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_extremes_and_their_places(kind: str, keepdim: bool, dim: int) -> None:
    for seed in range(3):
        x = rounded(4, 19, 35, seed=seed)
        same(f"torch.{kind} it 1 2 x0 y0 y1 dim={dim} keepdim={keepdim}", inputs=[x], ends=2)
        same(f"torch.{kind} it 1 1 x0 y0 dim={dim} keepdim={keepdim}", inputs=[x])
        steps = same(f"torch.arg{kind} it 1 1 x0 y0 dim={dim} keepdim={keepdim}", inputs=[x])
        assert "layer" not in steps


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_of_floats_and_wholes(dim: int) -> None:
    index = wholes(3, 4, 5, low=0, high=3)
    for x in (numbers(4, 6, 7), wholes(4, 6, 7)):
        assert same(f"torch.gather it 2 1 x0 x1 y0 dim={dim} $input=x0 $index=x1", inputs=[x, index]) == ["pick"]


def test_gather_with_an_index_that_repeats_is_a_run_for_each_row() -> None:
    lines = ("torch.unsqueeze u 1 1 x1 i dim=2", "Tensor.expand e 1 1 i j sizes=(2,5,9)")
    steps = same(*lines, "torch.gather it 2 1 x0 j y0 dim=1 $input=x0 $index=j",
                 inputs=[numbers(2, 8, 9), wholes(2, 5, low=0, high=8)])  # fmt: skip
    assert steps[-1] == "pick"


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_index_select(dim: int) -> None:
    index = wholes(6, low=0, high=3)
    line = f"torch.index_select it 2 1 x0 x1 y0 dim={dim} $input=x0 $index=x1"
    assert same(line, inputs=[numbers(4, 3, 5), index]) == ["pick"]


@pytest.mark.parametrize("width", [1, 16, 21])
def test_embedding(width: int) -> None:
    line = f"nn.Embedding it 1 1 x0 y0 num_embeddings=9 embedding_dim={width} @weight=(9,{width})f32"
    for dtype in (np.int64, np.int32):
        assert same(line, inputs=[wholes(2, 13, low=0, high=9, dtype=dtype)]) == ["pick"]


def test_a_comparison_of_numbers_without_axes_is_left_to_the_layer() -> None:
    inputs = [np.array(3, np.int64), np.array(4, np.int64)]
    assert steps_of("torch.eq it 2 1 x0 x1 y", inputs=inputs) == ["layer"]


def test_an_embedding_of_no_numbers_is_left_to_the_layer() -> None:
    line = "nn.Embedding it 1 1 x0 y num_embeddings=9 embedding_dim=0 @weight=(9,0)f32"
    assert steps_of(line, inputs=[np.ones((2, 3), np.int64)]) == ["layer"]


@pytest.mark.parametrize("bad", [-1, 9])
def test_an_index_outside_raises_what_the_layer_raises_and_does_no_harm(bad: int) -> None:
    fast, plain = both(
        "pnnx.Input in 0 1 x #x=(5)i64",
        "nn.Embedding it 1 1 x y num_embeddings=9 embedding_dim=4 @weight=(9,4)f32",
        "pnnx.Output out 1 0 y",
    )
    good = np.arange(5)
    expected = np.asarray(plain(good))
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(fast(good)), expected)
        with pytest.raises(TensorIndexError, match=rf"indices within 0\.\.8, got {bad}"):
            fast(np.array([0, 1, bad, 2, 3]))
    assert "pick" in algorithms(plan_of(fast, [good]))


def test_an_index_that_is_computed_is_no_view() -> None:
    lines = ("torch.argmax a 1 1 x0 i dim=1 keepdim=False", "pnnx.Expression n 1 1 i j expr=add(@0,0)")
    fast, plain = both(
        "pnnx.Input in 0 1 x0 #x0=(2,5)f32", *lines, "torch.index_select s 2 1 x0 j y dim=1 $input=x0 $index=j",
        "pnnx.Output out 1 0 y",
    )  # fmt: skip
    for seed in range(4):
        x = numbers(2, 5, seed=seed)
        np.testing.assert_array_equal(np.asarray(fast(x)), np.asarray(plain(x)))


def test_outputs_of_wholes_are_arrays_of_their_own() -> None:
    fast, _ = both("pnnx.Input in 0 1 x #x=(3,40)f32", "torch.topk t 1 2 x v y k=2", "pnnx.Output out 1 0 y")
    first = np.asarray(fast(numbers(3, 40)))
    kept = first.copy()
    fast(numbers(3, 40, seed=1))
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("dtype", [np.float64, np.int16])
def test_gather_of_other_element_types_is_left_to_the_layer(dtype: type[np.generic]) -> None:
    graph = file_graph(
        f"pnnx.Input a 0 1 x0 #x0=(2,5){'f64' if dtype is np.float64 else 'i16'}", "pnnx.Input b 0 1 x1 #x1=(2,2)i64",
        "torch.gather it 2 1 x0 x1 y dim=1 $input=x0 $index=x1", OUTPUT,
    )  # fmt: skip
    model = RuntimeGraph(graph)
    model.build(registry, optimize=True, engine=Engine)
    x, index = np.arange(10).reshape(2, 5).astype(dtype), np.array([[0, 4], [3, 3]])
    got = np.asarray(model(x, index))
    assert "layer" in algorithms(plan_of(model, [x, index]))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.take_along_axis(x, index, 1))
