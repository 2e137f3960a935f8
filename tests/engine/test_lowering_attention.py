"""Attention in a plan: layouts, masks, and blocks of scores."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.lowering import attention
from kuiper.engine.lowering.attention import constant_mask
from kuiper.engine.values import HostValue
from tests.engine.lowered import computing, steps_of
from tests.engine.models import numbers

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


def test_attention_with_a_computed_mask_is_left_to_the_layer() -> None:
    inputs = [*qkv((2, 3), 5, 7, 4, 9), numbers(5, 7)]
    inputs[3][2] = -np.inf  # a query that sees nothing gets zeros
    assert steps_of(sdpa(mask="x3"), inputs=inputs) == ["layer"]


def test_constant_mask_refuses_rows_that_see_nothing() -> None:
    from kuiper.engine.values import HostValue

    shown = np.tri(4, 5, dtype=np.bool_)
    added = attention.constant_mask(HostValue(0, shown, constant=True), (2, 4, 5))
    np.testing.assert_array_equal(added, np.where(shown, 0, -np.inf))
    shown[2] = False
    assert attention.constant_mask(HostValue(0, shown, constant=True), (2, 4, 5)) is None
    assert attention.constant_mask(HostValue(0, np.zeros((3, 5), np.float32), constant=True), (2, 4, 5)) is None


@pytest.mark.parametrize("block", [40, 100, 500])
@pytest.mark.parametrize("stack", [(3,), (2, 3)])
def test_attention_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch, block: int, stack: tuple[int, ...]) -> None:
    monkeypatch.setattr(attention, "second_level_floats", lambda machine: block // attention._CACHES)
    monkeypatch.setattr(attention, "_LEAST_ROWS", 2)
    steps = computing(steps_of(sdpa("is_causal=True"), inputs=qkv(stack, 13, 20, 4, 9)))
    assert steps[:4] * (len(steps) // 4) == steps
    assert len(steps) > 4


def test_blocks_cover_all_scores_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "_LEAST_ROWS", 2)
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
    number = HostValue(0, np.zeros((), np.float32), True)
    assert constant_mask(number, (2, 3)) is None
    row = HostValue(0, np.zeros(3, np.float32), True)
    assert constant_mask(row, (2, 3)) is not None
