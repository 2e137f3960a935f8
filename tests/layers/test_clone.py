from __future__ import annotations

import numpy as np
import pytest

from tests.layers.one_operator import run


@pytest.mark.parametrize("type_name", ["torch.clone", "Tensor.contiguous", "Tensor.detach"])
def test_clone_is_the_input_itself(type_name: str) -> None:
    x = np.zeros((2, 3), np.float32).T
    assert run(type_name, x) is x
