"""What a file says about its input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kuiper
from kuiper.errors import ShapeError
from kuiper.models.tasks.declared_input import DeclaredInput
from tests.models.little_models import relu_model, write_model

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("shape", "expected", "size"),
    [
        ("(2,3,8,9)", (2, 3, 8, 9), (8, 9)),
        ("(?,3,?,?)", (None, 3, None, None), None),
        ("(1,1,8,?)", (1, 1, 8, None), None),
    ],
)
def test_of_tells_fixed_sizes_from_open_ones(
    tmp_path: Path, shape: str, expected: tuple[int | None, ...], size: tuple[int, int] | None
) -> None:
    declared = DeclaredInput.of(kuiper.load(relu_model(tmp_path, shape)))
    assert (tuple(declared), declared.size) == (expected, size)


def test_of_a_file_without_shapes_leaves_all_open(tmp_path: Path) -> None:
    model = kuiper.load(write_model(tmp_path, "pnnx.Input in 0 1 0\npnnx.Output out 1 0 0"))
    assert tuple(DeclaredInput.of(model)) == (None, None, None, None)


def test_of_refuses_an_input_that_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match=r"expected an input \(n, c, h, w\), got \(1, 3\)"):
        DeclaredInput.of(kuiper.load(relu_model(tmp_path, "(1,3)")))
