from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.layers.operators.clamp import clamp
from tests.layers.one_operator import layer, run
from tests.layers.wired_operator import run_wired

X = np.float32([-2, 0.5, 3])


def test_clamp_with_two_bounds_or_one() -> None:
    assert run("torch.clamp", X, min=-1, max=1).tolist() == [-1, 0.5, 1]
    assert run("torch.clamp", X, min=0, max=None).tolist() == [0, 0.5, 3]
    assert run("torch.clamp", X, max=1.0).tolist() == [-2, 0.5, 1]


def test_clamp_keeps_nan_and_lets_the_upper_bound_win() -> None:
    np.testing.assert_array_equal(clamp(np.float32([np.nan, 5]), 1, 0), [np.nan, 0])


def test_clamp_takes_tensors_as_bounds() -> None:
    out = run_wired("torch.clamp", X, np.float32([[0], [1]]), names=("input", "max"), min=-1)
    assert out.tolist() == [[-1, 0, 0], [-1, 0.5, 1]]


def test_clamp_promotes_as_torch_does() -> None:
    whole = np.int64([-2, 0, 3])
    assert run("torch.clamp", whole, min=-1, max=1).dtype == np.int64
    assert run("torch.clamp", whole, min=-0.5).dtype == np.float32
    assert run("torch.clamp", X, min=-1).dtype == np.float32


def test_clamp_never_writes_to_its_input() -> None:
    x = X.copy()
    clamp(x, -1, 1)
    np.testing.assert_array_equal(x, X)


def test_clamp_refuses_no_bounds() -> None:
    with pytest.raises(ParameterError, match=r"torch.clamp 'it': expected a bound, min or max, got none"):
        layer("torch.clamp", min=None, max=None)


def test_clamp_counts_one_operation_for_each_number() -> None:
    assert layer("torch.clamp", min=0).flops([(2, 3)], [(2, 3)]) == 6


def test_clamp_in_the_spelling_of_torchscript() -> None:
    assert run_wired("aten::clamp_min", X, 0.0).tolist() == [0, 0.5, 3]
    assert run_wired("aten::clamp_max", X, 1).tolist() == [-2, 0.5, 1]
    assert run_wired("torch.clamp_min", X, 0.0, names=("input", "min")).tolist() == [0, 0.5, 3]
    assert run_wired("torch.clamp_max", X, 1, names=("input", "max")).tolist() == [-2, 0.5, 1]


@pytest.mark.parametrize(("number", "expected"), [(-3, 0), (2, 2)])
def test_clamp_of_a_number_that_pnnx_knew(number: int, expected: int) -> None:
    assert run_wired("torch.clamp", input=number, min=0, max=None) == expected
    assert run_wired("torch.clamp", np.array(5), names=("max",), input=number, min=7) == 5
