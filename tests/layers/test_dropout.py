from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import UnsupportedOperatorError
from tests.layers.one_operator import layer, run


@pytest.mark.parametrize("type_name", ["nn.Identity", "nn.Dropout", "nn.Dropout2d", "F.dropout", "nn.AlphaDropout"])
def test_dropout_and_identity_pass_their_input_on(type_name: str) -> None:
    x = np.arange(6).reshape(2, 3)
    assert run(type_name, x) is x
    assert layer(type_name).flops([(2, 3)], [(2, 3)]) == 0


def test_dropout_refuses_training_mode() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"F.dropout 'it': expected training=False, got True"):
        layer("F.dropout", p=0.5, training=True)
