"""Calls in other words: what pnnx then writes computes what the model computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.models.conversion import TorchModel, verify
from kuiper.models.conversion.spelled_out import without_dots

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("equation", "ranks", "expected"),
    [
        ("...ij,...jk->...ik", [2, 2], "ij,jk->ik"),
        ("...ij,...jk->...ik", [4, 3], "YZij,Zjk->YZik"),
        ("b...d,bd...->b...", [3, 3], "bZd,bdZ->bZ"),
        ("...i,...i->...", [2, 2], "Zi,Zi->Z"),
        ("...ij", [3], "Zij->Zij"),
        ("...jj", [3], "Zjj->Z"),
        ("...ba,b", [3, 1], "Zba,b->Za"),
    ],
)
def test_without_dots_writes_letters_for_axes(equation: str, ranks: list[int], expected: str) -> None:
    assert without_dots(equation, ranks) == expected


def written(shape: tuple[int, ...], *writes: tuple[Any, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A function that writes to places of zeros."""
    import torch

    def function(x: Any) -> Any:
        y = torch.zeros(shape)
        for index, value in writes:
            y[index] = value(x)
        return y

    return function


def copied(x: Any) -> Any:
    import torch

    y = torch.zeros(1, 4, 6)
    y[0].copy_(x)
    return y


def cases() -> dict[str, Callable[[Any], Any]]:
    import torch

    every = slice(None)
    return {
        "first": written((1, 4, 6), (0, lambda x: x)),
        "last": written((1, 4, 6), (-1, lambda x: x)),
        "first, all rows": written((1, 4, 6), ((0, slice(4)), lambda x: x)),
        "first, some rows": written((1, 4, 6), ((0, slice(2)), lambda x: x[:2])),
        "an axis in the middle": written((4, 1, 6), ((every, 0), lambda x: x)),
        "behind dots": written((4, 1, 6), ((..., 0, every), lambda x: x)),
        "one of three": written((3, 1, 4, 6), ((1, 0), lambda x: x)),
        "two axes": written((1, 3, 1, 6), ((0, 1, 0), lambda x: x[0])),
        "a number": written((1, 4), ((0, slice(4)), lambda x: 1)),
        "a number of the input": written((1, 4), (0, lambda x: x[0, 0])),
        "one by one": written((2, 4, 6), (0, lambda x: x), (1, lambda x: x * 2)),
        "copied": copied,
        "rows times rows": lambda x: torch.einsum("...pd,...qd->...pq", x[None], x[None, :2] * 2),
        "another rank": lambda x: torch.einsum("...d,qd->...q", x[None, None], x[:2] * 2),
        "dots behind": lambda x: torch.einsum("b...d,bd->b...", x.view(2, 2, 6), x[:2]),
    }


NAMES = (
    "first", "last", "first, all rows", "first, some rows", "an axis in the middle", "behind dots", "one of three",
    "two axes", "a number", "a number of the input", "one by one", "copied", "rows times rows", "another rank",
    "dots behind",
)  # fmt: skip


@pytest.mark.torch
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_spelled_out_gives_what_the_module_computes(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return cases()[name](x)

    first, other = (np.random.default_rng(seed).standard_normal((4, 6)).astype(np.float32) for seed in (1, 2))
    model = TorchModel(Module(), name)
    param, _ = model.export((first,), tmp_path / "net")
    comparison = verify(param, model, {"traced": (first,), "other": (other,)})
    assert comparison.agrees, comparison.report()
