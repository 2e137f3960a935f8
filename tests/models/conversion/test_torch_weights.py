"""Weights come as state_dicts and in checkpoints; no code in a file is run."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kuiper.errors import ExportError  # noqa: E402
from kuiper.models.conversion.torch_weights import load_weights  # noqa: E402
from kuiper.models.zoo.architectures import yolov5  # noqa: E402
from kuiper.models.zoo.export import build, create  # noqa: E402
from tests.models.conversion.networks import Cnn  # noqa: E402
from tests.models.conversion.pickles import RunsCode  # noqa: E402

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


def test_load_weights_of_a_state_dict(tmp_path: Path) -> None:
    trained, model = build("cifar_resnet20", 4), create("cifar_resnet20")
    torch.save(trained.state_dict(), tmp_path / "trained.pth")
    load_weights(model, tmp_path / "trained.pth")
    assert all(torch.equal(value, trained.state_dict()[name]) for name, value in model.state_dict().items())


def test_load_weights_names_a_difference(tmp_path: Path) -> None:
    torch.save(create("resnet18").state_dict(), tmp_path / "resnet18.pth")
    with pytest.raises(ExportError, match=r"resnet18.pth: expected the weights of SqueezeNet, got others: Missing key"):
        load_weights(create("squeezenet1_1"), tmp_path / "resnet18.pth")


def test_load_weights_of_a_yolov5_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint as released: the pickled model in half precision, its classes in models.common and models.yolo."""
    trained = build("yolov5n", 4)
    expected = {name: value.clone() for name, value in trained.state_dict().items()}
    checkpoint = tmp_path / "yolov5n.pt"
    released = {"models.common": "Bottleneck C3 Concat Conv SPPF", "models.yolo": "Detect DetectionModel"}
    trained.__class__ = type("DetectionModel", (yolov5.YoloV5,), {"__module__": "models.yolo"})
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "models", ModuleType("models"))
        for name, kinds in released.items():
            module = ModuleType(name)
            patch.setitem(sys.modules, name, module)
            for kind in kinds.split():
                original = getattr(yolov5, kind, type(trained))
                patch.setattr(original, "__module__", name)
                setattr(module, kind, original)
        torch.save({"epoch": -1, "best_fitness": None, "model": trained.half(), "date": "2022-11-22"}, checkpoint)
    model = create("yolov5n")
    load_weights(model, checkpoint)
    for name, value in model.state_dict().items():
        np.testing.assert_allclose(value.numpy(), expected[name].numpy(), rtol=1e-3, atol=1e-6)


def test_load_weights_does_not_run_code_from_the_file(tmp_path: Path) -> None:
    torch.save({"model": RunsCode(tmp_path / "marker")}, tmp_path / "evil.pt")
    with pytest.raises(ExportError, match=r"evil.pt: expected a file of weights"):
        load_weights(create("cifar_resnet20"), tmp_path / "evil.pt")
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("content", [b"", b"not weights", b"PK\x03\x04"])
def test_load_weights_refuses_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.pth").write_bytes(content)
    with pytest.raises(ExportError, match=r"expected a file of weights"):
        load_weights(create("cifar_resnet20"), tmp_path / "weights.pth")


def test_load_weights_refuses_a_file_of_something_else(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(ExportError, match=r"expected named tensors .*, got a list"):
        load_weights(create("cifar_resnet20"), tmp_path / "list.pt")
