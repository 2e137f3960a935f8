from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.layers import create
from tests.layers.wired_operator import wired


def test_attribute_keeps_its_element_type() -> None:
    op = wired("pnnx.Attribute", inputs=0)
    op.attrs["data"] = RuntimeAttribute(DataType.I64, (2,), np.int64([3, 5]))
    assert create(op).forward().dtype == np.int64


def test_attribute_refuses_a_file_without_data() -> None:
    with pytest.raises(ParameterError, match=r"pnnx.Attribute 'it': expected a weight 'data', got none"):
        create(wired("pnnx.Attribute", inputs=0))
