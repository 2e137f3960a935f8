from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.layers.element_type import dtype_param
from tests.layers.one_operator import operator


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("torch.float", np.float32),
        ("torch.long", np.int64),
        ("torch.bool", np.bool_),
        (None, None),
        (6, np.float32),
        (4, np.int64),
        (11, np.bool_),
    ],
)
def test_dtype_param_reads_torch_names_and_numbers(name: str | int | None, dtype: type | None) -> None:
    assert dtype_param(operator("Tensor.to", dtype=name)) == dtype


def test_dtype_param_refuses_types_that_numpy_lacks() -> None:
    with pytest.raises(ParameterError, match=r"Tensor.to 'it': expected dtype among torch.bool, .* got torch.bfloat16"):
        dtype_param(operator("Tensor.to", dtype="torch.bfloat16"))
    with pytest.raises(ParameterError, match=r"expected dtype among torch.bool, .* got a complex type"):
        dtype_param(operator("Tensor.to", dtype=9))
    with pytest.raises(ParameterError, match=r"expected dtype=a word, got 15"):
        dtype_param(operator("Tensor.to", dtype=15))
