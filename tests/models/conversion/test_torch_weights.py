"""Weights come as state_dicts and in checkpoints; no code in a file is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from kuiper.errors import ExportError  # noqa: E402
from kuiper.models.conversion.torch_weights import load_weights  # noqa: E402
from tests.models.conversion.networks import Cnn  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

State = dict[str, torch.Tensor]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: state,
        lambda state: {"state_dict": state, "epoch": 3},
        lambda state: {"model": {f"module.{name}": tensor for name, tensor in state.items()}},
        lambda state: {"state_dict": {f"module.model.{name}": tensor for name, tensor in state.items()}},
    ],
)
def test_load_weights_unwraps_checkpoints(wrap: Callable[[State], object], tmp_path: Path) -> None:
    trained, module = Cnn(), Cnn()
    torch.save(wrap(trained.state_dict()), tmp_path / "weights.pth")
    load_weights(module, tmp_path / "weights.pth")
    assert torch.equal(module.head.weight, trained.head.weight)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (Cnn(width=6).state_dict(), r"expected the weights of Cnn, got others: size mismatch for body\.0\.weight"),
        ({"head.weight": torch.zeros(5, 4)}, "expected the weights of Cnn, got others: Missing key"),
        ({"epoch": 3, "lr": 0.1}, "expected named tensors .*, got a dict with epoch, lr"),
        (torch.zeros(3), "expected named tensors .*, got a Tensor$"),
        (Cnn(), "got a file with more than tensors, or another; such a file runs code"),
    ],
)
def test_load_weights_refuses_anything_else(content: object, message: str, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "weights.pth")
    with pytest.raises(ExportError, match=message):
        load_weights(Cnn(), tmp_path / "weights.pth")


def test_load_weights_says_where_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"none\.pth: expected a file of weights, got nothing there"):
        load_weights(Cnn(), tmp_path / "none.pth")
