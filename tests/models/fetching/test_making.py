"""From weights to a model that runs, with torch and pnnx: the whole way, but for the real server."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.errors import ExportError
from kuiper.models import Classifier, DetectorCard, bundled_photo
from kuiper.models.fetching.cache import read_manifest
from kuiper.models.fetching.catalogue import CATALOGUE
from kuiper.models.fetching.fetch import fetch
from kuiper.models.lookup import find_model

torch = pytest.importorskip("torch")

from kuiper.models.conversion.comparison import Comparison, Row  # noqa: E402
from kuiper.models.fetching import making  # noqa: E402
from kuiper.models.zoo import export as zoo  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tests.models.fetching.network import Server

pytestmark = pytest.mark.torch
NET = "squeezenet1_1"


@pytest.fixture(autouse=True)
def no_torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision.models", None)


def announce(patch: pytest.MonkeyPatch, name: str, weights: Path, **card: Any) -> None:
    """Let the catalogue name these weights, for small pictures."""
    changes = {
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "size": weights.stat().st_size,
        "input_size": 64,
        "card": CATALOGUE[name].card | card,
    }
    patch.setitem(CATALOGUE, name, replace(CATALOGUE[name], **changes))


def test_fetched_classifier_computes_what_torch_does(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = zoo.build(NET, seed=7)
    torch.save(trained.state_dict(), tmp_path / "weights.pth")
    announce(monkeypatch, NET, tmp_path / "weights.pth", size=64, resize=72)
    server.content = (tmp_path / "weights.pth").read_bytes()
    param = fetch(NET, mirror=f"{server.url}/good")
    assert find_model(NET) == param
    assert {path.name for path in param.parent.iterdir()} == {*read_manifest(NET)["files"], "manifest.json"}
    assert read_manifest(NET)["difference"] <= 1e-5

    classifier = Classifier(param)
    assert (classifier.card.size, classifier.card.resize) == (64, 72)
    x = classifier.preprocess(bundled_photo())
    with torch.no_grad():
        expected = trained(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(classifier.logits(x), expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert classifier(bundled_photo(), top=1)[0][0] == f"class {expected.argmax()}"

    card = json.loads(param.with_name(f"{NET}.json").read_text(encoding="utf-8"))
    assert card["labels_from"] == making.UNKNOWN_LABELS
    assert (card["source"], card["sha256"]) == (CATALOGUE[NET].url, CATALOGUE[NET].sha256)
    assert "BSD-3-Clause" in card["licence"]


def test_a_detector_keeps_its_head_whole_and_gets_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = []

    def export(model: object, inputs: Any, path: Path, moduleop: str) -> tuple[Path, Path]:
        exported.append((inputs[0].shape, moduleop))
        return path, path

    torch.save(zoo.create("yolov5n").state_dict(), tmp_path / "yolov5n.pt")
    announce(monkeypatch, "yolov5n", tmp_path / "yolov5n.pt")
    monkeypatch.setattr(making.TorchModel, "export", export)
    monkeypatch.setattr(making, "verify", lambda *arguments: Comparison("PyTorch", 1e-5, ()))
    making.make_model("yolov5n", CATALOGUE["yolov5n"], tmp_path / "yolov5n.pt", tmp_path)
    assert exported == [((1, 3, 64, 64), "models.yolo.Detect")]
    card = DetectorCard.read(tmp_path / "yolov5n.json")
    assert (card.size, card.confidence, card.iou, card.mean, card.std) == ((640, 640), 0.25, 0.45, (0,) * 3, (1,) * 3)
    assert (len(card.labels), card.labels[15]) == (80, "cat")


def test_weights_of_another_network_are_refused(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save(zoo.create("cifar_resnet20").state_dict(), tmp_path / "other.pth")
    announce(monkeypatch, NET, tmp_path / "other.pth")
    with pytest.raises(ExportError, match=r"expected the weights of SqueezeNet, got others"):
        fetch(NET, offline_file=tmp_path / "other.pth")
    assert not (cache / "models" / NET).exists()


def test_a_model_that_computes_something_else_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify(param: Path, model: object, examples: object, tolerance: float) -> Comparison:
        return Comparison("PyTorch", tolerance, (Row("seed 0", 0, "(1, 1000)", 2.0, 0.5, 1.0, "differs"),), "conv1")

    torch.save(zoo.create(NET).state_dict(), tmp_path / "weights.pth")
    announce(monkeypatch, NET, tmp_path / "weights.pth")
    monkeypatch.setattr(making.TorchModel, "export", lambda *arguments: (tmp_path, tmp_path))
    monkeypatch.setattr(making, "verify", verify)
    expected = rf"{NET}: expected kuiper's output within 1.0e-05 of torch's, got a difference of 5.0e-01 of the largest"
    with pytest.raises(ExportError, match=expected):
        fetch(NET, offline_file=tmp_path / "weights.pth")
    assert not (cache / "models" / NET).exists()


def test_rounding_is_that_of_float32() -> None:
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(0.1)
        model.bias.fill_(0.2)
    x = torch.tensor([[0.3]])
    exact = np.float64(np.float32(0.1)) * np.float64(np.float32(0.3)) + np.float64(np.float32(0.2))
    with torch.no_grad():
        expected = abs(float(model(x)) - exact) / exact
    assert making.rounding(model, x) == pytest.approx(expected)
    assert making.rounding(model, x) < 1e-7
    assert model.weight.dtype == torch.float32
