from __future__ import annotations

import math
from typing import Any

import pytest

from kuiper.errors import ParameterError
from tests.layers.one_operator import layer


@pytest.mark.parametrize("value", [2, 0.5, True, None, "ij", [2, 3]])
def test_constant_is_what_stands_in_the_file(value: Any) -> None:
    assert layer("prim::Constant", value=value).forward() == value


def test_constant_knows_spelled_numbers() -> None:
    assert layer("prim::Constant", value="-inf").forward() == -math.inf
    assert math.isnan(layer("prim::Constant", value="nan.0").forward())


def test_constant_without_value_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"prim::Constant 'it': expected a parameter 'value', got parameters: none"
    ):
        layer("prim::Constant")
