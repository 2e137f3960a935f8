from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from tests.layers.wired_operator import run_wired


def test_slice_indexes_puts_inputs_in_their_places() -> None:
    assert run_wired("pnnx.SliceIndexes", 3, np.array(5), indexes="(@1,-2,@0)") == [5, -2, 3]


@pytest.mark.parametrize("indexes", ["(@0,x)", "(@,1)", "(@0,)"])
def test_slice_indexes_refuses_what_is_no_number(indexes: str) -> None:
    with pytest.raises(ParameterError, match=r"expected indexes of integers and @inputs, got"):
        run_wired("pnnx.SliceIndexes", 3, indexes=indexes)


def test_slice_indexes_refuses_an_input_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match=r"expected an input among 1, got @1"):
        run_wired("pnnx.SliceIndexes", 3, indexes="(@0,@1)")
