from __future__ import annotations

import numpy as np
import pytest

from tests.layers.wired_operator import run_wired


@pytest.mark.parametrize("type_name", ["prim::TupleConstruct", "prim::ListConstruct"])
def test_tuple_construct_packs_its_inputs(type_name: str) -> None:
    x, nested = np.zeros(2), (np.ones(1), 3)
    assert run_wired(type_name, x, nested) == (x, nested)
