from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.operators.einsum import einsum, is_matrix_product
from tests.arrays import small_integers
from tests.layers.wired_operator import run_wired


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,kj->ki", [(2, 3), (4, 3)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bqhd,bkhd->hbkq", [(2, 4, 3, 5), (2, 6, 3, 5)]),
        ("i,j->ij", [(2,), (3,)]),
        ("i,i->", [(4,), (4,)]),
        ("abc,cbd->da", [(2, 3, 4), (4, 3, 5)]),
        ("nchw,kc->nkhw", [(2, 3, 4, 5), (6, 3)]),
    ],
)
def test_einsum_as_a_stack_of_matrix_products(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [small_integers(*shape) for shape in shapes]
    assert is_matrix_product(*equation.replace("->", ",").split(","), *arrays)
    np.testing.assert_array_equal(einsum(equation, arrays), np.einsum(equation, *arrays))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ii->i", [(3, 3)]),
        ("ij->j", [(2, 3)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ij,k->jk", [(2, 3), (4,)]),
        ("...i,i->...", [(2, 3, 4), (4,)]),
        ("ij,jk->ik", [(2, 1), (3, 4)]),  # size one broadcasts
    ],
)
def test_einsum_of_everything_else(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [small_integers(*shape) for shape in shapes]
    np.testing.assert_allclose(einsum(equation, arrays), np.einsum(equation, *arrays), rtol=1e-6)


def test_einsum_reads_past_spaces() -> None:
    assert run_wired("torch.einsum", np.float32([[1, 2]]), equation=" i j -> j i ").tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("equation", "shapes"), [("ij,jk->ik", [(2, 3), (4, 5)]), ("ij->k", [(2, 3)]), ("i->", [(2, 3)])]
)
def test_einsum_refuses_what_does_not_fit(equation: str, shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(ShapeError, match=rf"torch.einsum 'it': expected inputs that fit {equation}, got"):
        run_wired("torch.einsum", *(small_integers(*shape) for shape in shapes), equation=equation)


def test_einsum_takes_the_equation_as_an_operand() -> None:
    a, b = small_integers(2, 3), small_integers(3, 4)
    np.testing.assert_array_equal(run_wired("torch.einsum", "ij,jk -> ik", [a, b]), a @ b)


def test_einsum_refuses_a_loop_without_end() -> None:
    x = np.zeros((3000, 3000), np.float32)
    with pytest.raises(
        ShapeError, match=r"expected at most 68719476736 products of numbers for ab,cd->, got 81000000000000"
    ):
        einsum("ab,cd->", [x, x])
