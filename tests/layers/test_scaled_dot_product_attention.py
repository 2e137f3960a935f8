from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError, UnsupportedOperatorError
from kuiper.layers import create
from tests.layers.wired_operator import run_wired, wired

TYPE = "F.scaled_dot_product_attention"
FOUR = ("query", "key", "value", "attn_mask")
rng = np.random.default_rng(3)
Q, K, V = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 6)))


def by_hand(mask: np.ndarray | float = 0.0, scale: float = 0.5) -> np.ndarray:
    scores = Q.astype(float) @ K.swapaxes(1, 2) * scale + mask
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ V


def test_attention_scales_by_the_root_of_the_size() -> None:
    np.testing.assert_allclose(run_wired(TYPE, Q, K, V), by_hand(), rtol=1e-5)
    np.testing.assert_allclose(run_wired(TYPE, Q, K, V, scale=2), by_hand(scale=2), rtol=1e-5)


def test_attention_adds_a_mask_of_floats() -> None:
    mask = rng.normal(size=(3, 5)).astype(np.float32)
    np.testing.assert_allclose(run_wired(TYPE, Q, K, V, mask, names=FOUR), by_hand(mask), rtol=1e-5)


def test_attention_hides_keys_where_a_mask_is_false() -> None:
    mask = np.tri(3, 5, 2, dtype=bool)
    expected = by_hand(np.where(mask, 0, -np.inf))
    np.testing.assert_allclose(run_wired(TYPE, Q, K, V, mask, names=FOUR), expected, rtol=1e-5)


def test_attention_without_any_key_to_see_is_zero() -> None:
    mask = np.array([[True] * 5, [False] * 5, [True] * 5])
    out = run_wired(TYPE, Q, K, V, mask, names=FOUR)
    assert not out[:, 1].any()
    np.testing.assert_allclose(out[:, ::2], by_hand()[:, ::2], rtol=1e-5)


def test_causal_attention_starts_at_the_first_key() -> None:
    expected = by_hand(np.where(np.tri(3, 5), 0, -np.inf))
    np.testing.assert_allclose(run_wired(TYPE, Q, K, V, is_causal=True), expected, rtol=1e-5)


def test_attention_refuses_dropout() -> None:
    with pytest.raises(UnsupportedOperatorError, match=rf"{TYPE} 'it': expected dropout_p="):
        create(wired(TYPE, inputs=3, dropout_p=0.1))


def test_grouped_queries_share_keys_and_values() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, heads, 5, 4)).astype(np.float32) for heads in (6, 3, 3))
    expected = run_wired(TYPE, q, k.repeat(2, axis=1), v.repeat(2, axis=1))
    np.testing.assert_array_equal(run_wired(TYPE, q, k, v, enable_gqa=True), expected)


def test_attention_refuses_a_mask_beside_is_causal() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"expected either attn_mask or is_causal, got both"):
        run_wired(TYPE, Q, K, V, np.ones((3, 5), bool), names=FOUR, is_causal=True)


def test_attention_takes_none_for_no_mask() -> None:
    np.testing.assert_array_equal(run_wired(TYPE, Q, K, V, None, names=FOUR), run_wired(TYPE, Q, K, V))
    causal = run_wired(TYPE, Q, K, V, None, names=FOUR, is_causal=True)
    np.testing.assert_array_equal(causal, run_wired(TYPE, Q, K, V, is_causal=True))


def test_attention_refuses_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"expected query \(..., l, e\), key \(..., s, e\), value \(..., s, v\), got"):
        run_wired(TYPE, Q, K[..., :3], V)
    with pytest.raises(ShapeError, match=r"expected a mask that broadcasts to \(2, 3, 5\), got \(4, 5\)"):
        run_wired(TYPE, Q, K, V, np.ones((4, 5), bool), names=FOUR)
    with pytest.raises(DataTypeError, match=r"expected a mask of bools or floats, got int64"):
        run_wired(TYPE, Q, K, V, np.ones((3, 5), np.int64), names=FOUR)


def test_attention_counts_both_products_and_the_softmax() -> None:
    layer = create(wired(TYPE, inputs=3))
    assert layer.flops([Q.shape, K.shape, V.shape], [(2, 3, 6)]) == 2 * 3 * 5 * (2 * 4 + 2 * 6 + 5)
