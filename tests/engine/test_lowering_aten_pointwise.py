"""Functions of each number, and questions about numbers, in a plan."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers
from tests.engine.test_lowering_repeat_and_scatter import function

SHAPES = [(3, 17), (2, 3, 5, 7)]

STRANGE = np.float32([0, -0.0, 1, -2, np.inf, -np.inf, np.nan, 3e38, 1e-40])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", ["None", "0.25"])
def test_logit_is_one_step(shape: tuple[int, ...], eps: str) -> None:
    x = 1 / (1 + np.exp(-3 * numbers(*shape)))
    assert steps_of(*function("logit", eps), inputs=[x]) == ["clip" if eps != "None" else "sub"]


def test_outer_is_one_product_of_views() -> None:
    assert steps_of(*function("outer", tensors=2), inputs=[numbers(5), numbers(19, seed=1)]) == ["mul"]


def test_addr_is_one_step() -> None:
    inputs = [numbers(5, 19), numbers(5, seed=1), numbers(19, seed=2)]
    assert steps_of(*function("addr", 0.5, 3, tensors=3), inputs=inputs) == ["mul"]


def test_kron_is_one_product_of_views() -> None:
    assert steps_of(*function("kron", tensors=2), inputs=[numbers(2, 3), numbers(5, 7, seed=1)]) == ["mul"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_diff_is_the_difference_of_two_slices(shape: tuple[int, ...], dim: int) -> None:
    assert steps_of(*function("diff", 1, dim, "None", "None"), inputs=[numbers(*shape)]) == ["sub"]


def test_diff_of_differences_is_left_to_the_layer() -> None:
    assert steps_of(*function("diff", 2, 0, "None", "None"), inputs=[numbers(4, 3)]) == ["layer"]


QUESTIONS = {"isnan": ["ne"], "isinf": ["abs", "eq"], "isfinite": ["abs", "lt"], "isposinf": ["eq"], "isneginf": ["eq"]}


@pytest.mark.parametrize("shape", [(9,), (3, 3), (1, 3, 3, 1)])
@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_about_numbers_are_comparisons(name: str, shape: tuple[int, ...]) -> None:
    assert steps_of(*function(name), inputs=[STRANGE.reshape(shape)]) == QUESTIONS[name]


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("diagonal", [0, 2, -1])
@pytest.mark.parametrize("shape", [(5, 19), (2, 3, 5, 7)])
def test_tril_chooses_by_a_mask_that_is_known(name: str, diagonal: int, shape: tuple[int, ...]) -> None:
    x = numbers(*shape)
    x[..., 0, -1] = np.inf
    assert steps_of(*function(name, diagonal), inputs=[x]) == ["where"]


@pytest.mark.parametrize("kind", ["aten::clamp_min", "torch.clamp_max"])
def test_clamp_by_a_number_of_the_graph_is_one_step(kind: str) -> None:
    lines = ["pnnx.Expression s 0 1 s expr=0.5", f"{kind} c 2 1 x0 s y"]
    assert steps_of(*lines, inputs=[STRANGE]) == ["clip"]


def test_clamp_by_another_tensor_is_left_to_the_layer() -> None:
    assert steps_of("aten::clamp_min c 2 1 x0 x1 y", inputs=[numbers(3, 4), numbers(4)]) == ["layer"]
