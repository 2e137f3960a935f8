"""Matrix products in a plan: vectors, matrices, stacks that broadcast, and every way in which factors may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.engine.cost import panel_widths
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.lowering.matmul import panel_vectors
from tests.engine.lowered import computing, steps_of
from tests.engine.machines import EVERY_MACHINE
from tests.engine.models import numbers

if TYPE_CHECKING:
    from kuiper.machine import Machine


def matmul(a: str, b: str, y: str = "y", type_name: str = "torch.matmul") -> str:
    return f"{type_name} product_{y} 2 1 {a} {b} {y} $input={a} $other={b}"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((5,), (5,)), ((5,), (5, 7)), ((3, 5), (5,)), ((3, 5), (5, 7)), ((1, 1), (1, 1)), ((70, 33), (33, 90)),
        ((2, 3, 5), (5, 7)), ((2, 3, 5), (5,)), ((2, 3, 5), (2, 5, 7)), ((5,), (2, 5, 7)), ((3, 5), (2, 5, 7)),
        ((2, 1, 3, 5), (4, 5, 7)), ((1, 4, 3, 16), (2, 1, 16, 48)), ((2, 2, 2, 3, 5), (2, 2, 2, 5, 7)),
    ],
)  # fmt: skip
def test_matmul_is_one_product(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    assert computing(steps_of(matmul("x0", "x1"), inputs=[numbers(*a), numbers(*b, seed=1)])) == ["product"]


@pytest.mark.parametrize("turned", ["a", "b", "ab"])
@pytest.mark.parametrize("rows_columns", [(3, 7), (20, 18), (5, 130)])
def test_matmul_takes_factors_by_columns(turned: str, rows_columns: tuple[int, int]) -> None:
    (rows, columns), lines, names = rows_columns, [], {"a": "x0", "b": "x1"}
    shapes = {"a": (2, rows, 19), "b": (2, 19, columns)}
    for name in turned:
        lines.append(f"nn.ReLU r{name} 1 1 {names[name]} on_arena_{name}")
        lines.append(f"torch.transpose t{name} 1 1 on_arena_{name} {name} dim0=1 dim1=-1")
        names[name], shapes[name] = name, (2, *shapes[name][:0:-1])
    steps = steps_of(*lines, matmul(names["a"], names["b"]), inputs=[numbers(*shapes["a"]), numbers(*shapes["b"])])
    assert steps[-1] == "product"
    assert "layer" not in steps


def test_matmul_with_a_stored_matrix_is_a_convolution() -> None:
    for shape in ((5,), (3, 5), (2, 3, 5)):
        lines = ("pnnx.Attribute w 0 1 w @data=(5,18)f32", matmul("x0", "w"))
        assert steps_of(*lines, inputs=[numbers(*shape)]) == ["direct"]


def test_matmul_with_other_stored_factors_is_a_product() -> None:
    for stored, shape, names in (("(3,4)", (4, 5), "w x0"), ("(5)", (4, 5), "x0 w"), ("(2,5,4)", (2, 3, 5), "x0 w")):
        lines = (f"pnnx.Attribute w 0 1 w @data={stored}f32", matmul(*names.split()))
        assert steps_of(*lines, inputs=[numbers(*shape)]) == ["product"]


def test_bmm_and_mm_are_products() -> None:
    mm = matmul("x0", "x1", type_name="torch.mm").replace("$other", "$mat2")
    assert steps_of(mm, inputs=[numbers(3, 5), numbers(5, 4)]) == ["product"]
    bmm = matmul("x0", "x1", type_name="torch.bmm").replace("$other", "$mat2")
    assert steps_of(bmm, inputs=[numbers(2, 3, 5), numbers(2, 5, 4)]) == ["product"]


@pytest.mark.parametrize(
    "swap",
    [
        *(f"torch.transpose t 1 1 1 2 dim0={a} dim1={b}" for a, b in ((1, 2), (-3, -2), (-2, -3), (2, -3))),
        *(f"Tensor.permute t 1 1 1 2 dims={dims}" for dims in ("(0,2,1,3)", "(0,-2,-3,-1)")),
    ],
)
@pytest.mark.parametrize("d", [16, 24, 7])
def test_heads_are_written_side_by_side_where_they_are_joined(swap: str, d: int) -> None:
    lines = (matmul("x0", "x1", "1"), swap, f"Tensor.reshape r 1 1 2 y shape=(2,5,{3 * d})")
    steps = steps_of(*lines, inputs=[numbers(2, 3, 5, 6), numbers(2, 3, 6, d)])
    assert computing(steps) == ["product"]
    assert steps[-1] == "product"


@pytest.mark.parametrize("d", [16, 24])
def test_products_may_be_parts_of_a_concatenation(d: int) -> None:
    for dim in (0, 1, 2):
        lines = (matmul("x0", "x1", "1"), matmul("x0", "x2", "2"), f"torch.cat c 2 1 1 2 y dim={dim}")
        steps = steps_of(*lines, inputs=[numbers(2, 3, 6), numbers(2, 6, d), numbers(2, 6, d, seed=1)])
        assert steps[:2] == ["product", "product"]


def test_functional_linear_with_stored_weights_is_a_convolution() -> None:
    weights = ("pnnx.Attribute w 0 1 w @data=(7,5)f32", "pnnx.Attribute b 0 1 b @data=(7)f32")
    with_bias = "F.linear l 3 1 x0 w b y $input=x0 $weight=w $bias=b"
    assert steps_of(*weights, with_bias, inputs=[numbers(2, 3, 5)]) == ["direct"]
    without = "F.linear l 2 1 x0 w y $input=x0 $weight=w"
    assert steps_of(weights[0], without, inputs=[numbers(5)]) == ["direct"]
    number = "F.linear l 2 1 x0 w y bias=0.5 $input=x0 $weight=w"
    assert steps_of(weights[0], number, inputs=[numbers(2, 3, 5)]) == ["direct"]
    computed = "F.linear l 2 1 x0 x1 y $input=x0 $weight=x1"
    assert steps_of(computed, inputs=[numbers(2, 5), numbers(7, 5)]) == ["layer"]


@EVERY_MACHINE
def test_a_panel_that_several_tiles_read_fits_the_first_level_cache(machine: Machine) -> None:
    for depth in (1, 64, 128, 1000, 100_000):
        for columns in (1, 64, 80, 4096):
            many, few = (panel_vectors(machine, rows, depth, columns) for rows in (512, 1))
            assert many == 1 or 4 * LANES * depth * many <= machine.l1 // 2
            assert few == panel_widths(machine, -(-columns // LANES), 1, depth)[0]
