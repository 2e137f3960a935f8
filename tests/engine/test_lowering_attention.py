"""Attention in a plan: layouts, masks, and blocks of scores."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.lowering import attention
from kuiper.engine.lowering.attention import constant_mask
from kuiper.engine.values import PythonValue
from kuiper.errors import ShapeError
from tests.engine.lowered import computing, steps_of
from tests.engine.models import algorithms, both, numbers, plan_of
from tests.graph.pass_graphs import OUTPUT

ONE_BLOCK = ["product", "softmax", "product"]


def sdpa(more: str = "", mask: str = "") -> str:
    operands = "x0 x1 x2" + (f" {mask}" if mask else "")
    names = "$query=x0 $key=x1 $value=x2" + (f" $attn_mask={mask}" if mask else "")
    return f"F.scaled_dot_product_attention attention {3 + bool(mask)} 1 {operands} y {names} dropout_p=0.0 {more}"


def qkv(stack: tuple[int, ...], rows: int, columns: int, e: int, d: int) -> list[np.ndarray]:
    shapes = ((rows, e), (columns, e), (columns, d))
    return [numbers(*stack, *shape, seed=seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("stack", [(), (3,), (2, 3), (2, 2, 2)])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (5, 7, 4, 9), (17, 33, 16, 16)])
def test_attention_is_products_around_a_softmax(stack: tuple[int, ...], sizes: tuple[int, int, int, int]) -> None:
    assert computing(steps_of(sdpa(), inputs=qkv(stack, *sizes))) == ONE_BLOCK


def test_attention_takes_a_scale_and_a_causal_mask() -> None:
    assert computing(steps_of(sdpa("scale=0.3"), inputs=qkv((2,), 5, 7, 4, 9))) == ONE_BLOCK
    for rows, columns in ((7, 7), (5, 7), (7, 5)):
        steps = steps_of(sdpa("is_causal=True"), inputs=qkv((2, 3), rows, columns, 4, 9))
        assert computing(steps) == ["product", "add", "softmax", "product"]


@pytest.mark.parametrize("shape", ["(5,7)", "(1,7)", "(7)", "(3,5,7)", "(2,1,5,7)", "(2,3,5,7)"])
def test_attention_adds_a_stored_mask(shape: str) -> None:
    mask = f"pnnx.Attribute m 0 1 m @data={shape}f32"
    steps = steps_of(mask, sdpa(mask="m"), inputs=qkv((2, 3), 5, 7, 4, 9))
    assert computing(steps) == ["product", "add", "softmax", "product"]


@pytest.mark.parametrize("rows", [40, 300])
def test_heads_of_inputs_that_lie_side_by_side_are_views(rows: int) -> None:
    """An input of any size is imported as it lies, and not as an image whose channels are positions."""
    lines = [
        line
        for i in range(3)
        for line in (
            f"Tensor.unflatten cut{i} 1 1 x{i} c{i} dim=2 sizes=(2,64)",
            f"Tensor.permute turn{i} 1 1 c{i} h{i} dims=(0,2,1,3)",
        )
    ]
    attention = "F.scaled_dot_product_attention attention 3 1 h0 h1 h2 y $query=h0 $key=h1 $value=h2 dropout_p=0.0"
    assert steps_of(*lines, attention, inputs=[numbers(1, rows, 128, seed=i) for i in range(3)]) == ONE_BLOCK


MASKS = [(5, 7), (1, 7), (7,), (3, 5, 7), (2, 1, 1, 7), (2, 3, 5, 7)]


@pytest.mark.parametrize("shape", MASKS)
def test_attention_adds_a_computed_mask(shape: tuple[int, ...]) -> None:
    inputs = [*qkv((2, 3), 5, 7, 4, 9), numbers(*shape)]
    np.atleast_2d(inputs[3])[..., :1, :] = -np.inf  # a query that sees nothing gets zeros
    assert computing(steps_of(sdpa(mask="x3"), inputs=inputs)) == ["product", "add", "softmax", "product"]


@pytest.mark.parametrize("shape", MASKS)
def test_attention_takes_a_computed_mask_of_bools(shape: tuple[int, ...]) -> None:
    inputs = [*qkv((2, 3), 5, 7, 4, 9), numbers(*shape) > 0.3]
    steps = computing(steps_of(sdpa(mask="x3"), inputs=inputs))
    assert steps == ["where", "product", "add", "softmax", "product"]


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 33])
def test_attention_of_a_query_that_sees_nothing_is_zero_unless_there_is_nan(columns: int) -> None:
    inputs = [*qkv((2,), 3, columns, 4, 9), np.full((3, columns), -np.inf, np.float32)]
    inputs[3][1, -1] = np.nan
    inputs[3][2, 0] = 0
    declared = [f"pnnx.Input in{i} 0 1 x{i} #x{i}=({','.join(map(str, x.shape))})f32" for i, x in enumerate(inputs)]
    fast, plain = both(*declared, sdpa(mask="x3"), OUTPUT)
    got, expected = np.asarray(fast(*inputs)), np.asarray(plain(*inputs))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert not got[:, 0].any()
    assert np.isnan(got[:, 1]).all()
    assert "layer" not in algorithms(plan_of(fast, inputs))


def test_attention_with_a_mask_that_does_not_fit_is_left_to_the_layer() -> None:
    assert computing(steps_of(sdpa(mask="x3"), inputs=[*qkv((2, 3), 5, 7, 4, 9), numbers(1, 1)])) == [
        "product", "add", "softmax", "product",
    ]  # fmt: skip
    wholes = [*qkv((2,), 5, 7, 4, 9), numbers(2, 2, 5, 7)]
    fast, _ = both(
        *(f"pnnx.Input in{i} 0 1 x{i} #x{i}=({','.join(map(str, x.shape))})f32" for i, x in enumerate(wholes)),
        sdpa(mask="x3"),
        OUTPUT,
    )
    with pytest.raises(ShapeError, match="broadcasts"):
        fast(*wholes)


def fused(more: str = "scale=0.3", added: bool = True) -> str:
    return f"kuiper.FusedAttention it {3 + added} 1 x0 x1 x2 {'x3' if added else ''} y {more}"


@pytest.mark.parametrize("shape", MASKS)
@pytest.mark.parametrize("zeros", [True, False])
def test_fused_attention_is_products_around_a_softmax(shape: tuple[int, ...], zeros: bool) -> None:
    inputs = [*qkv((2, 3), 5, 7, 4, 9), numbers(*shape)]
    inputs[3][..., 0] = -np.inf
    steps = computing(steps_of(fused(f"scale=0.3 zeros={zeros}"), inputs=inputs))
    assert steps == ["product", "add", "softmax", "product"]
    assert computing(steps_of(fused(added=False), inputs=inputs[:3])) == ONE_BLOCK


@pytest.mark.parametrize(("zeros", "expected"), [(True, 0), (False, np.nan)])
def test_fused_attention_of_a_query_that_sees_nothing(zeros: bool, expected: float) -> None:
    inputs = [*qkv((2,), 5, 7, 4, 9), numbers(5, 7)]
    inputs[3][2] = -np.inf
    declared = [f"pnnx.Input in{i} 0 1 x{i} #x{i}=({','.join(map(str, x.shape))})f32" for i, x in enumerate(inputs)]
    for model in both(*declared, fused(f"scale=0.3 zeros={zeros}"), OUTPUT):
        y = np.asarray(model(*inputs))
        np.testing.assert_array_equal(y[:, 2], expected)
        assert np.isfinite(np.delete(y, 2, axis=1)).all()


def test_fused_attention_that_makes_scores_larger_is_left_to_the_layer() -> None:
    inputs = [*qkv((1,), 5, 7, 4, 9), numbers(3, 5, 7)]
    assert steps_of(fused(), inputs=inputs) == ["layer"]


def test_constant_mask_refuses_rows_that_see_nothing() -> None:
    from kuiper.engine.values import PythonValue

    shown = np.tri(4, 5, dtype=np.bool_)
    added = attention.constant_mask(PythonValue(0, shown, constant=True), (2, 4, 5))
    np.testing.assert_array_equal(added, np.where(shown, 0, -np.inf))
    shown[2] = False
    assert attention.constant_mask(PythonValue(0, shown, constant=True), (2, 4, 5)) is None
    assert attention.constant_mask(PythonValue(0, np.zeros((3, 5), np.float32), constant=True), (2, 4, 5)) is None


@pytest.mark.parametrize("block", [40, 100, 500])
@pytest.mark.parametrize("stack", [(3,), (2, 3)])
def test_attention_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch, block: int, stack: tuple[int, ...]) -> None:
    monkeypatch.setattr(attention, "second_level_floats", lambda machine: block // attention._CACHES)
    monkeypatch.setattr(attention, "_MIN_ROWS", 2)
    steps = computing(steps_of(sdpa("is_causal=True"), inputs=qkv(stack, 13, 20, 4, 9)))
    assert steps[:4] * (len(steps) // 4) == steps
    assert len(steps) > 4


def test_blocks_cover_all_scores_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "_MIN_ROWS", 2)
    for most in (1, 7, 30, 100, 10_000):
        for shape in ((5, 6), (3, 5, 6), (2, 3, 5, 6)):
            count = np.zeros(shape)
            for part in attention.blocks(shape, most):
                count[part] += 1
                assert count[part].size <= max(most, 3 * 6)
            assert (count == 1).all()


def test_heads_of_one_projection_are_views() -> None:
    lines = (
        "nn.Linear qkv 1 1 x0 1 in_features=24 out_features=72 bias=True @weight=(72,24)f32 @bias=(72)f32",
        "Tensor.reshape r 1 1 1 2 shape=(2,5,3,4,6)",
        "Tensor.permute p 1 1 2 3 dims=(2,0,3,1,4)",
        "torch.unbind u 1 3 3 q k v dim=0",
        "F.scaled_dot_product_attention a 3 1 q k v 4 $query=q $key=k $value=v",
        "torch.transpose t 1 1 4 5 dim0=1 dim1=2",
        "Tensor.reshape s 1 1 5 6 shape=(2,5,24)",
        "nn.Linear out 1 1 6 y in_features=24 out_features=24 bias=False @weight=(24,24)f32",
    )
    assert steps_of(*lines, inputs=[numbers(2, 5, 24)]) == ["direct", *ONE_BLOCK, "direct"]


def test_constant_mask_refuses_a_single_number() -> None:
    number = PythonValue(0, np.zeros((), np.float32), True)
    assert constant_mask(number, (2, 3)) is None
    row = PythonValue(0, np.zeros(3, np.float32), True)
    assert constant_mask(row, (2, 3)) is not None


@pytest.mark.parametrize("shape", [(2,), (2, 7), (2, 5, 7)])
@pytest.mark.parametrize("more", ["", "mask_filter_value=-5.5"])
def test_attention_mask_of_onnxruntime_is_chosen_once(shape: tuple[int, ...], more: str) -> None:
    q, k, _ = qkv((2, 3), 5, 7, 4, 9)
    mask = np.random.default_rng(0).integers(0, 7 if len(shape) == 1 else 2, shape)
    lines = [f"com.microsoft.AttentionMask {name} 3 1 x0 x1 x2 {name} {more}" for name in "ab"]
    steps = steps_of(*lines, "pnnx.Expression it 2 1 a b y expr=add(@0,@1)", inputs=[q, k, mask])
    assert computing(steps) == ["gt", "where", "add"]


def test_attention_mask_of_onnxruntime_in_other_forms_is_left_to_the_layer() -> None:
    q, k, _ = qkv((2, 3), 5, 7, 4, 9)
    ends = np.int64([3, 7, 0, 2])
    assert "layer" in steps_of("com.microsoft.AttentionMask it 3 1 x0 x1 x2 y", inputs=[q, k, ends])
    ahead = "com.microsoft.AttentionMask it 3 1 x0 x1 x2 y unidirectional=True"
    assert "layer" in steps_of(ahead, inputs=[q, k, np.ones((2, 7), np.int64)])


@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (3, 64), (2, 130)])
def test_mask_index_of_onnxruntime_counts_ones(shape: tuple[int, int]) -> None:
    mask = np.random.default_rng(0).integers(-1, 3, shape)
    fast, plain = both(
        f"pnnx.Input in0 0 1 x0 #x0=({shape[0]},{shape[1]})i64", "com.microsoft.MaskIndex it 1 1 x0 y", OUTPUT
    )
    got, expected = np.asarray(fast(mask)), np.asarray(plain(mask))
    np.testing.assert_array_equal(got, expected, strict=True)
    assert "layer" not in algorithms(plan_of(fast, [mask]))
