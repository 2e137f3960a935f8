"""einsum in a plan: stacks of products."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.lowered import computing, steps_of
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.graph.pass_graphs import OUTPUT

SIZES = dict(zip("bhijdcwkn", (2, 3, 5, 7, 4, 6, 8, 9, 10), strict=True))


def einsum(equation: str) -> list[str]:
    left, right = equation.split("->")[0].split(",")
    inputs = [numbers(*(SIZES[letter] for letter in term), seed=len(term)) for term in (left, right)]
    return steps_of(f"torch.einsum e 2 1 x0 x1 y equation={equation}", inputs=inputs)


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "bhid,bhjd->bihj", "bij,bkj->bik",
        "bij,jk->bik", "i,j->ij", "bij,bij->bi", "bn,hn->bh", "bic,ick->bik", "bhc,hkc->bhk",
    ],
)  # fmt: skip
def test_einsum_of_two_factors_is_one_product(equation: str) -> None:
    assert computing(einsum(equation)) == ["product"]


@pytest.mark.parametrize("equation", ["bhwc,hkc->bhwk", "bijd,dhc->bijhc", "bcn,bhwn->bchw", "bhwc,bhwk->bck"])
def test_einsum_joins_rows_columns_and_inner_axes(equation: str) -> None:
    assert computing(einsum(equation)) == ["product"]


@pytest.mark.parametrize("equation", ["ij,jk->", "bij,jk,kd->bid"])
def test_other_equations_are_left_to_the_layer(equation: str) -> None:
    terms = equation.split("->")[0].split(",")
    inputs = [numbers(*(SIZES[letter] for letter in term), seed=len(term)) for term in terms]
    operands = " ".join(f"x{i}" for i in range(len(terms)))
    assert steps_of(f"torch.einsum e {len(terms)} 1 {operands} y equation={equation}", inputs=inputs) == ["layer"]


@pytest.mark.parametrize("whole", [0, 1])
def test_einsum_of_whole_numbers_is_left_to_the_layer(whole: int) -> None:
    inputs = [numbers(3, 5), numbers(5, 4)]
    inputs[whole] = np.arange(inputs[whole].size).reshape(inputs[whole].shape)
    fast, plain = both(
        *(f"pnnx.Input in{i} 0 1 x{i}" for i in (0, 1)), "torch.einsum e 2 1 x0 x1 y equation=ij,jk->ik", OUTPUT
    )
    assert_close(fast(*inputs), plain(*inputs))
    assert "layer" in algorithms(plan_of(fast, inputs))
