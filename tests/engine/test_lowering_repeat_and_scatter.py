"""Numbers in other places, in a plan: copies between views, or nothing at all."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers


def settings(*values: object) -> tuple[list[str], str]:
    """Lines that compute these settings, and the operands that they are."""
    lines = [f"pnnx.Expression s{i} 0 1 s{i} expr={value}" for i, value in enumerate(values)]
    return lines, " ".join(f"s{i}" for i in range(len(values)))


def function(name: str, *values: object, tensors: int = 1) -> list[str]:
    """A function of tensors, then settings."""
    lines, operands = settings(*values)
    given = " ".join(f"x{i}" for i in range(tensors))
    return [*lines, f"aten::{name} f {tensors + len(values)} 1 {given} {operands} y"]


@pytest.mark.parametrize("sizes", ["2,1,3", "1,2,3", "3,1,1", "2,3,2,5"])
@pytest.mark.parametrize("kind", ["Tensor.repeat", "torch.tile"])
def test_repeat_is_one_copy(kind: str, sizes: str) -> None:
    key = "dims" if kind == "torch.tile" else "sizes"
    assert steps_of(f"{kind} r 1 1 x0 y {key}=({sizes})", inputs=[numbers(2, 3, 19)]) == ["copy"]


def test_tile_of_fewer_axes_is_one_copy() -> None:
    assert steps_of("torch.tile r 1 1 x0 y dims=(4)", inputs=[numbers(2, 3, 5, 7)]) == ["copy"]


def test_repeat_of_what_a_step_has_written() -> None:
    lines = ["F.relu a 1 1 x0 z", "Tensor.repeat r 1 1 z y sizes=(1,2,1,3)"]
    assert "layer" not in steps_of(*lines, inputs=[numbers(2, 3, 5, 7)])


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("dim=1 start=1 end=3 step=1", (2, 2, 7)),
        ("dim=2 start=0 end=7 step=3", (2, 5, 3)),
        ("dim=-1 start=-2 end=9223372036854775807 step=1", (2, 5, 2)),
    ],
)
def test_slice_scatter_copies_the_whole_and_the_part(text: str, shape: tuple[int, ...]) -> None:
    line = f"torch.slice_scatter s 2 1 x0 x1 y {text} $input=x0 $src=x1"
    assert steps_of(line, inputs=[numbers(2, 5, 7), numbers(*shape, seed=1)]) == ["copy", "copy"]


@pytest.mark.parametrize(("dim", "index", "shape"), [(0, 1, (5, 7)), (-1, -2, (2, 5)), (1, 0, (2, 7))])
def test_select_scatter_copies_the_whole_and_the_part(dim: int, index: int, shape: tuple[int, ...]) -> None:
    lines = function("select_scatter", dim, index, tensors=2)
    assert steps_of(*lines, inputs=[numbers(2, 5, 7), numbers(*shape, seed=1)]) == ["copy", "copy"]


@pytest.mark.parametrize(("offset", "count"), [(0, 5), (2, 5), (-3, 2)])
def test_diagonal_scatter_copies_the_whole_and_the_diagonal(offset: int, count: int) -> None:
    lines = function("diagonal_scatter", offset, 1, 2, tensors=2)
    assert steps_of(*lines, inputs=[numbers(2, 5, 7), numbers(2, count, seed=1)]) == ["copy", "copy"]


@pytest.mark.parametrize(("offset", "dim1", "dim2"), [(0, -2, -1), (1, 0, 2), (-2, -1, 0)])
def test_diag_embed_copies_zeros_and_the_diagonal(offset: int, dim1: int, dim2: int) -> None:
    assert steps_of(*function("diag_embed", offset, dim1, dim2), inputs=[numbers(3, 4)]) == ["copy", "copy"]


@pytest.mark.parametrize("offset", [0, 2, -1])
def test_diagflat_copies_zeros_and_the_diagonal(offset: int) -> None:
    assert steps_of(*function("diagflat", offset), inputs=[numbers(4)]) == ["copy", "copy"]


def test_diagflat_of_a_matrix_is_left_to_the_layer() -> None:
    assert steps_of(*function("diagflat", 0), inputs=[numbers(2, 2)]) == ["layer"]


def test_narrow_copy_is_a_view() -> None:
    assert steps_of(*function("narrow_copy", -1, 2, 3), inputs=[numbers(3, 7)]) == []


@pytest.mark.parametrize(("dims", "copies"), [("None", 8), ("[-1]", 2), ("[0,2]", 4)])
def test_fftshift_copies_the_pieces(dims: str, copies: int) -> None:
    assert steps_of(*function("fft_fftshift", dims), inputs=[numbers(3, 4, 7)]) == ["copy"] * copies


@pytest.mark.parametrize("shape", [(3, 7), (2, 3, 5, 7)])
def test_ravel_is_a_view_or_a_copy(shape: tuple[int, ...]) -> None:
    assert steps_of(*function("ravel"), inputs=[numbers(*shape)]) in ([], ["copy"], ["copy", "copy"])


@pytest.mark.parametrize("shape", [(2, 5, 16), (2, 3, 5, 16)])
def test_parts_that_are_concatenated_are_written_where_they_belong(shape: tuple[int, ...]) -> None:
    sizes = ",".join("1" * (len(shape) - 1)) + ",2"
    graph = [
        f"Tensor.repeat a 1 1 x0 v sizes=({sizes})",
        f"torch.slice_scatter b 2 1 v x0 w dim={len(shape) - 1} start=16 end=32 step=1 $input=v $src=x0",
        "torch.cat c 3 1 v w x0 y dim=-1",
    ]
    assert "layer" not in steps_of(*graph, inputs=[numbers(*shape)])
