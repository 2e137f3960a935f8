from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import run


@pytest.mark.parametrize(
    ("type_name", "x", "expected"),
    [
        ("aten::Int", np.array(2.75, np.float32), 2),
        ("aten::Int", np.array([-3]), -3),
        ("aten::Int", 5, 5),
        ("aten::Float", np.array(3), 3.0),
        ("aten::ScalarImplicit", np.array(2.5), 2.5),
        ("aten::ScalarImplicit", np.array(7), 7),
        ("aten::IntImplicit", np.array(7), 7),
        ("aten::FloatImplicit", np.array(0.5), 0.5),
    ],
)
def test_tensor_of_one_number_becomes_that_number(type_name: str, x: Any, expected: Any) -> None:
    number = run(type_name, x)
    assert number == expected
    assert type(number) is type(expected)


def test_tensor_of_several_numbers_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"aten::Int 'it': expected a tensor of one number, got \(2,\)"):
        run("aten::Int", np.array([1, 2]))


@pytest.mark.parametrize(("number", "dtype"), [(3, np.int64), (0.5, np.float64), (True, np.bool_)])
def test_number_becomes_a_tensor_without_axes(number: Any, dtype: type) -> None:
    tensor = run("prim::NumToTensor", number)
    assert tensor.shape == ()
    assert tensor.dtype == dtype
    assert tensor.item() == number
