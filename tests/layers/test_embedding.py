from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError, TensorIndexError, UnsupportedOperatorError
from tests.layers.one_operator import layer

TABLE = {"weight": np.float32([[1, 2], [3, 4], [5, 6]])}


def test_embedding_looks_rows_up() -> None:
    embedding = layer("nn.Embedding", TABLE, num_embeddings=3, embedding_dim=2)
    assert embedding.forward(np.array([[2, 0]])).tolist() == [[[5, 6], [1, 2]]]


@pytest.mark.parametrize("index", [3, -1])
def test_embedding_refuses_a_row_that_is_not_there(index: int) -> None:
    embedding = layer("nn.Embedding", TABLE, num_embeddings=3, embedding_dim=2)
    with pytest.raises(TensorIndexError, match=rf"nn.Embedding 'it': expected indices within 0..2, got {index}"):
        embedding.forward(np.array([0, index]))


def test_embedding_refuses_floats_as_indices() -> None:
    with pytest.raises(DataTypeError, match=r"expected indices that are integers, got float32"):
        layer("nn.Embedding", TABLE, num_embeddings=3, embedding_dim=2).forward(np.float32([1]))


def test_embedding_refuses_a_table_of_another_size_and_max_norm() -> None:
    with pytest.raises(ShapeError, match=r"expected weight of shape \(4, 2\), got \(3, 2\)"):
        layer("nn.Embedding", TABLE, num_embeddings=4, embedding_dim=2)
    with pytest.raises(UnsupportedOperatorError, match=r"expected no max_norm, got 1.0"):
        layer("nn.Embedding", TABLE, num_embeddings=3, embedding_dim=2, max_norm=1.0)
