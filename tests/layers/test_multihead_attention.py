from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError, UnsupportedOperatorError
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_operator import RuntimeOperand
from kuiper.layers import Layer, create
from tests.layers.one_operator import operator

X = np.arange(12, dtype=np.float32).reshape(1, 3, 4) / 10


def attention_layer(input_names: tuple[str, ...] = ("",), **params: object) -> Layer:
    generator = np.random.default_rng(0)
    weights = {
        "in_proj_weight": generator.standard_normal((12, 4)),
        "in_proj_bias": generator.standard_normal(12),
        "out_proj.weight": np.eye(4),
        "out_proj.bias": np.zeros(4),
    }
    op = operator("nn.MultiheadAttention", weights, **{"num_heads": 2, "embed_dim": 4, "batch_first": True, **params})
    op.input_names = list(input_names)
    op.inputs = [RuntimeOperand(str(i), i, None, DataType.F32) for i in range(len(input_names))]
    return create(op)


def test_multihead_attention_of_one_row_is_its_projected_value() -> None:
    layer = attention_layer()
    weight = layer.op.attr("in_proj_weight")[8:]  # type: ignore[attr-defined]
    bias = layer.op.attr("in_proj_bias")[8:]  # type: ignore[attr-defined]
    np.testing.assert_allclose(layer.forward(X[:, :1]), X[:, :1] @ weight.T + bias, rtol=1e-5)


@pytest.mark.parametrize("name", ["", "input", "query"])
def test_multihead_attention_hides_where_a_mask_of_bools_is_true(name: str) -> None:
    layer = attention_layer((name, "attn_mask"))
    hidden = np.triu(np.ones((3, 3), np.bool_), 1)
    added = np.where(hidden, np.float32(-np.inf), np.float32(0))
    y = layer.forward(X, hidden)
    np.testing.assert_array_equal(y, layer.forward(X, added))
    np.testing.assert_allclose(y[:, :1], attention_layer().forward(X[:, :1]), rtol=1e-6)  # row 0 sees itself only


def test_multihead_attention_takes_three_inputs_and_a_mask() -> None:
    layer, hidden = attention_layer(("query", "key", "value", "attn_mask")), np.triu(np.ones((3, 3), np.bool_), 1)
    np.testing.assert_array_equal(layer.forward(X, X, X, hidden), attention_layer(("", "attn_mask")).forward(X, hidden))
    with pytest.raises(ShapeError, match="one to three inputs and a mask, got 1"):
        attention_layer(("attn_mask",))


def test_multihead_attention_without_a_batch_drops_that_axis() -> None:
    layer = attention_layer()
    np.testing.assert_array_equal(layer.forward(X[0]), layer.forward(X)[0])


def test_multihead_attention_errors_name_the_operator() -> None:
    with pytest.raises(ShapeError, match=r"'it': expected query of 4 numbers each, got \(1, 3, 5\)"):
        attention_layer().forward(np.ones((1, 3, 5), np.float32))
    with pytest.raises(ShapeError, match=r"expected embed_dim that 3 heads can share, got 4"):
        attention_layer(num_heads=3)
    with pytest.raises(UnsupportedOperatorError, match=r"expected add_zero_attn=False, got True"):
        attention_layer(add_zero_attn=True)


def test_multihead_attention_gives_a_tuple_to_who_unpacks_it() -> None:
    op = operator("prim::TupleUnpack")
    layer = attention_layer()
    layer.op.outputs[0].consumers.append(op)
    y, weights = create(layer.op).forward(X)
    np.testing.assert_array_equal(y, layer.forward(X))
    assert weights.shape == (1, 3, 3)


@pytest.mark.parametrize("heads", [0, -1])
def test_multihead_attention_refuses_heads_that_are_none(heads: int) -> None:
    with pytest.raises(ParameterError, match=r"expected num_heads and embed_dim of at least 1, got"):
        attention_layer(num_heads=heads)
