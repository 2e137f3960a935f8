"""Products of vectors without a name in pnnx, in a plan."""

from __future__ import annotations

import pytest

from tests.engine.lowered import computing, steps_of
from tests.engine.models import numbers
from tests.engine.test_lowering_repeat_and_scatter import function


@pytest.mark.parametrize("size", [1, 7, 100])
def test_dot_is_a_product_of_products(size: int) -> None:
    steps = steps_of(*function("dot", tensors=2), inputs=[numbers(size), numbers(size, seed=1)])
    assert computing(steps) == ["mul", "product"]


@pytest.mark.parametrize("shapes", [((3, 19), (3, 19)), ((2, 3, 5, 7), (2, 3, 5, 7)), ((4, 1, 7), (3, 7))])
@pytest.mark.parametrize("dim", [-1, 0])
def test_vecdot_is_a_product_with_ones(shapes: tuple[tuple[int, ...], tuple[int, ...]], dim: int) -> None:
    if dim == 0 and shapes[0] != shapes[1]:
        shapes = ((4, 3, 7), (4, 1, 7))
    inputs = [numbers(*shape, seed=i) for i, shape in enumerate(shapes)]
    assert computing(steps_of(*function("linalg_vecdot", dim, tensors=2), inputs=inputs)) == ["mul", "product"]


@pytest.mark.parametrize("shapes", [((3, 19), (5, 19)), ((19,), (5, 19)), ((3, 19), (19,)), ((7,), (7,))])
def test_inner_is_one_product(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    inputs = [numbers(*shape, seed=i) for i, shape in enumerate(shapes)]
    assert computing(steps_of(*function("inner", tensors=2), inputs=inputs)) == ["product"]


def test_addmv_is_a_product_and_a_sum() -> None:
    inputs = [numbers(5), numbers(5, 19, seed=1), numbers(19, seed=2)]
    assert computing(steps_of(*function("addmv", 0.5, 2, tensors=3), inputs=inputs)) == ["product", "mul"]


@pytest.mark.parametrize("shapes", [((3, 19), (3, 19)), ((2, 8, 5, 7), (2, 8, 5, 7)), ((4, 3, 1), (1, 3, 6))])
@pytest.mark.parametrize("dim", [1, -2])
def test_cosine_similarity_is_three_sums_and_a_quotient(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], dim: int
) -> None:
    inputs = [numbers(*shape, seed=i) for i, shape in enumerate(shapes)]
    steps = computing(steps_of(*function("cosine_similarity", dim, 1e-8, tensors=2), inputs=inputs))
    assert steps == ["mul", "product"] * 3 + ["sqrt"]
