"""Weights from a seed and from files."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kuiper.errors import ParameterError

torch = pytest.importorskip("torch")

from kuiper.models.zoo.architectures import yolov5  # noqa: E402
from kuiper.models.zoo.export import build, create, example_input  # noqa: E402
from kuiper.models.zoo.weights import load_weights  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small", "squeezenet1_1"])
def test_seeded_weights_neither_explode_nor_vanish(name: str) -> None:
    with torch.no_grad():
        y = build(name, 0)(example_input((1, 3, 96, 96), 1))
    assert 0.05 < float(y.std()) < 20


def test_load_weights_of_a_state_dict(tmp_path: Path) -> None:
    trained, model = build("cifar_resnet20", 4), create("cifar_resnet20")
    torch.save(trained.state_dict(), tmp_path / "trained.pth")
    load_weights(model, tmp_path / "trained.pth")
    assert all(torch.equal(value, trained.state_dict()[name]) for name, value in model.state_dict().items())


def test_load_weights_names_a_difference(tmp_path: Path) -> None:
    torch.save(create("resnet18").state_dict(), tmp_path / "resnet18.pth")
    with pytest.raises(
        ParameterError, match=r"resnet18.pth: expected the weights of SqueezeNet, got others: Missing key"
    ):
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


class Call:
    """Pickled, this runs a function wherever it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.marker,)


def test_load_weights_does_not_run_code_from_the_file(tmp_path: Path) -> None:
    torch.save({"model": Call(tmp_path / "marker")}, tmp_path / "evil.pt")
    with pytest.raises(ParameterError, match=r"evil.pt: expected a file of weights from torch.save"):
        load_weights(create("cifar_resnet20"), tmp_path / "evil.pt")
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("content", [b"", b"not weights", b"PK\x03\x04"])
def test_load_weights_refuses_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.pth").write_bytes(content)
    with pytest.raises(ParameterError, match=r"expected a file of weights from torch\.save"):
        load_weights(create("cifar_resnet20"), tmp_path / "weights.pth")


def test_load_weights_refuses_a_file_of_something_else(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(ParameterError, match="expected a state_dict or a YOLOv5 checkpoint, got a list"):
        load_weights(create("cifar_resnet20"), tmp_path / "list.pt")
