from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ExpressionError
from tests.layers.wired_operator import run_wired


def test_fused_expression_activates_its_value() -> None:
    x, y = np.float32([-2, 1, 3]), np.float32([1, 1, 1])
    params = {"expr": "sub(mul(@0,2),@1)", "activation": "clip", "activation_alpha": 0.0, "activation_beta": 4.0}
    np.testing.assert_array_equal(run_wired("kuiper.FusedExpression", x, y, **params), [0, 1, 4])


def test_fused_expression_without_activation_is_the_expression() -> None:
    assert run_wired("kuiper.FusedExpression", np.float32([2]), expr="size(@0,0)") == 1


def test_fused_expression_names_itself_in_errors() -> None:
    with pytest.raises(ExpressionError, match=r"kuiper\.FusedExpression 'it'"):
        run_wired("kuiper.FusedExpression", np.float32([2]), expr="add(@0,@1)", activation="relu")
