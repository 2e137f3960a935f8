from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ParameterError
from tests.layers.one_operator import run
from tests.layers.wired_operator import run_wired

X = np.int64([[1, 2, 3]])


@pytest.mark.parametrize(
    ("type_name", "params", "expected", "dtype"),
    [
        ("torch.zeros", {}, [0, 0], np.float32),
        ("torch.ones", {}, [1, 1], np.float32),
        ("torch.full", {"fill_value": 2.5}, [2.5, 2.5], np.float32),
        ("torch.full", {"fill_value": 7}, [7, 7], np.int64),
        ("torch.ones", {"dtype": "torch.bool"}, [True, True], np.bool_),
    ],
)
def test_full_makes_tensors_of_one_value(
    type_name: str, params: dict[str, Any], expected: list[Any], dtype: type
) -> None:
    out = run_wired(type_name, size=[2], **params)
    assert out.tolist() == expected
    assert out.dtype == dtype


def test_full_like_takes_shape_and_type_of_its_input() -> None:
    assert run("torch.full_like", X, fill_value=4).tolist() == [[4, 4, 4]]
    assert run("torch.zeros_like", X).dtype == np.int64
    assert run("torch.ones_like", X, dtype="torch.float").dtype == np.float32


def test_new_full_takes_the_type_of_its_input() -> None:
    out = run("Tensor.new_ones", X, size=[2])
    assert out.tolist() == [1, 1]
    assert out.dtype == np.int64
    assert run("Tensor.new_zeros", X, size=[0, 3]).shape == (0, 3)


def test_full_refuses_negative_sizes_and_no_value() -> None:
    with pytest.raises(ParameterError, match=r"torch.zeros 'it': expected size >= 0"):
        run_wired("torch.zeros", size=[2, -1])
    with pytest.raises(ParameterError, match=r"torch.full 'it': expected a number fill_value, got none"):
        run_wired("torch.full", size=[2])
