"""Choices among equal numbers, which PyTorch leaves open, do not count as differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kuiper.models.conversion import TorchModel, verify  # noqa: E402
from kuiper.models.conversion.ties import first_of_equals  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]


class Selection(nn.Module):
    """Queries as RT-DETR takes them: the rows of the best scores, by a head that starts as zeros."""

    def __init__(self, trained: bool) -> None:
        super().__init__()
        self.head = nn.Linear(8, 3)
        if not trained:
            nn.init.zeros_(self.head.weight)

    def forward(self, x):
        places = torch.topk(self.head(x).max(-1).values, 20, dim=1).indices
        return x.gather(dim=1, index=places.unsqueeze(-1).repeat(1, 1, 8))


@pytest.mark.parametrize("trained", [False, True])
def test_a_network_that_chooses_among_equals_agrees_and_the_report_says_so(trained: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = TorchModel(Selection(trained), "net")
    x = (np.random.default_rng(0).standard_normal((1, 336, 8)).astype(np.float32),)
    param, _ = model.export(x, tmp_path / "net")
    comparison = verify(param, model, {"traced": x})
    assert comparison.agrees, comparison.report()
    assert bool(comparison.ties) is not trained


def test_first_of_equals_orders_equals_by_their_places() -> None:
    x, met = torch.tensor([[2.0, 5, 1, 5, 2, 2]]), set()
    top = first_of_equals(met, torch.topk, (x, 3), {})
    assert top.indices.tolist() == [[1, 3, 0]]
    assert top.values.tolist() == [[5, 5, 2]]
    assert first_of_equals(met, torch.argsort, (x,), {"dim": 1}).tolist() == [[2, 0, 4, 5, 1, 3]]
    assert first_of_equals(met, torch.sort, (x.T,), {"dim": 0, "descending": True}).indices[:, 0].tolist() == [
        1, 3, 0, 4, 5, 2,
    ]  # fmt: skip
    assert met == {"torch.topk", "torch.argsort", "torch.sort"}


@pytest.mark.parametrize(("k", "largest"), [(1, False), (2, False)])
def test_first_of_equals_tells_only_of_equals_that_matter(k: int, largest: bool) -> None:
    met: set[str] = set()
    first_of_equals(met, torch.topk, (torch.tensor([3.0, 1, 2, 3]), k), {"largest": largest})
    assert met == set()
    first_of_equals(met, torch.topk, (torch.tensor([3.0, 1, 2, 3]), 3), {"largest": largest})
    assert met == {"torch.topk"}
