"""Every architecture of the zoo, exported with seeded weights, against torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import kuiper  # noqa: E402
from kuiper.models.conversion import export  # noqa: E402
from kuiper.models.zoo.export import ARCHITECTURES, build, create, example_input  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

TOLERANCE = 1e-5  # max|kuiper - torch| / max|torch|

# Those of torchvision's and Ultralytics' models with these names; for the rest, of the papers' tables.
PARAMETERS = {
    "cifar_resnet20": 272_474,
    "digits_yolo": 452_311,
    "mobilenet_v2": 3_504_872,
    "mobilenet_v3_large": 5_483_032,
    "mobilenet_v3_small": 2_542_856,
    "resnet18": 11_689_512,
    "resnet34": 21_797_672,
    "resnet50": 25_557_032,
    "shapes_unet": 121_213,
    "squeezenet1_1": 1_235_496,
    "unet": 1_942_594,
    "unet_bilinear": 1_964_114,
    "yolov5n": 1_872_157,
    "yolov5s": 7_235_389,
}
# The length of a state_dict, and some of the names that official weights have.
KEYS = {
    "resnet18": (122, "layer2.0.downsample.1.running_var", "layer4.1.bn2.weight", "fc.bias"),
    "resnet50": (320, "layer1.0.downsample.0.weight", "layer4.2.conv3.weight"),
    "mobilenet_v2": (
        314,
        "features.1.conv.1.weight",
        "features.2.conv.0.0.weight",
        "features.18.1.bias",
        "classifier.1.bias",
    ),
    "mobilenet_v3_small": (244, "features.1.block.1.fc1.bias", "features.4.block.2.fc2.weight", "classifier.3.weight"),
    "squeezenet1_1": (52, "features.3.expand1x1.bias", "features.12.squeeze.weight", "classifier.1.weight"),
    "yolov5s": (349, "model.0.conv.weight", "model.4.m.1.cv2.bn.running_mean", "model.24.anchors", "model.24.m.2.bias"),
}


class Exported(NamedTuple):
    """A model in torch and its graph on disk."""

    model: torch.nn.Module
    param: Path


class Exports:
    """Exports on demand, each once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models: dict[str, torch.nn.Module] = {}
        self.params: dict[tuple[object, ...], Path] = {}

    def get(self, name: str, batch: int, size: tuple[int, int], moduleop: bool) -> Exported:
        if name not in self.models:
            self.models[name] = build(name, seed=1)
        model = self.models[name]
        key = (name, batch, size, moduleop)
        if key not in self.params:
            kept = ARCHITECTURES[name].moduleop if moduleop else ""
            path = self.folder / "-".join(map(str, key))
            self.params[key], _ = export(model, (example_input((batch, 3, *size)),), path, kept)
        return Exported(model, self.params[key])


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Exports:
    return Exports(tmp_path_factory.mktemp("exported"))


def difference(exported: Exported, x: torch.Tensor, optimize: bool) -> float:
    """max|kuiper - torch| / max|torch|."""
    with torch.no_grad():
        expected = exported.model(x).numpy()
    got = np.asarray(kuiper.load(exported.param, optimize=optimize)(x.numpy()))
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    return float(np.abs(got - expected).max() / np.abs(expected).max())


def small_size(name: str) -> tuple[int, int]:
    """Height and width that are not equal, and quick."""
    return (32, 32) if name == "cifar_resnet20" else (64, 96)


VARIANTS = [(name, False) for name in ARCHITECTURES] + [("yolov5n", True), ("yolov5s", True)]
IDS = [f"{name}-moduleop" if moduleop else name for name, moduleop in VARIANTS]


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("exported_batch", [1, 4])
@pytest.mark.parametrize(("name", "moduleop"), VARIANTS, ids=IDS)
def test_export_equals_torch(exports: Exports, name: str, moduleop: bool, exported_batch: int, optimize: bool) -> None:
    size = small_size(name)
    exported = exports.get(name, exported_batch, size, moduleop)
    assert difference(exported, example_input((exported_batch, 3, *size), seed=2), optimize) <= TOLERANCE


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize(("name", "moduleop"), VARIANTS, ids=IDS)
def test_export_at_batch_1_takes_batch_4(exports: Exports, name: str, moduleop: bool, optimize: bool) -> None:
    size = small_size(name)
    exported = exports.get(name, 1, size, moduleop)
    assert difference(exported, example_input((4, 3, *size), seed=3), optimize) <= TOLERANCE


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if "yolo" not in name])
def test_export_takes_images_of_another_size(exports: Exports, name: str) -> None:
    height, width = small_size(name)
    exported = exports.get(name, 1, (height, width), False)
    assert difference(exported, example_input((1, 3, height + 32, width + 16), seed=4), True) <= TOLERANCE


@pytest.mark.parametrize("optimize", [False, True])
def test_export_at_full_size_equals_torch(exports: Exports, optimize: bool) -> None:
    exported = exports.get("resnet18", 1, (224, 224), False)
    assert difference(exported, example_input((1, 3, 224, 224), seed=5), optimize) <= TOLERANCE


def test_moduleop_keeps_the_head_whole(exports: Exports) -> None:
    whole = exports.get("yolov5n", 1, (64, 96), True).param.read_text(encoding="utf-8")
    expanded = exports.get("yolov5n", 1, (64, 96), False).param.read_text(encoding="utf-8")
    assert "\nmodels.yolo.Detect " in whole
    assert "F.sigmoid" not in whole
    assert "models.yolo.Detect" not in expanded


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architecture_has_the_known_number_of_parameters(name: str) -> None:
    assert sum(parameter.numel() for parameter in create(name).parameters()) == PARAMETERS[name]


@pytest.mark.parametrize("name", KEYS)
def test_architecture_has_the_names_of_the_official_weights(name: str) -> None:
    count, *names = KEYS[name]
    state = create(name).state_dict()
    assert len(state) == count
    assert [key for key in names if key not in state] == []


@pytest.mark.parametrize(("name", "channels"), [("unet", 1), ("unet_bilinear", 3)])
def test_unet_keeps_the_size_and_gives_classes(name: str, channels: int) -> None:
    from kuiper.models.zoo.architectures import unet

    model = getattr(unet, name)(channels, num_classes=5, base=4).eval()
    with torch.no_grad():
        assert model(torch.zeros(2, channels, 32, 48)).shape == (2, 5, 32, 48)


def test_detect_places_boxes_by_cell_and_anchor() -> None:
    """With weights and biases 0 the sigmoid is 1/2: a box of the anchor's size in the middle of each cell."""
    from kuiper.models.zoo.architectures.yolov5 import Detect

    head = Detect(num_classes=2, channels=(1, 1, 1))
    for parameter in head.parameters():
        torch.nn.init.zeros_(parameter)
    with torch.no_grad():
        rows = head([torch.zeros(1, 1, 2, 3), torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 2)])
    assert rows.shape == (1, 3 * (6 + 1 + 2), 7)
    assert rows[0, 5].tolist() == [20, 12, 10, 13, 0.5, 0.5, 0.5]  # stride 8, first anchor, row 1, column 2
    assert rows[0, 18 + 1].tolist() == [8, 8, 62, 45, 0.5, 0.5, 0.5]  # stride 16, second anchor
    assert rows[0, 21 + 5].tolist() == [48, 16, 373, 326, 0.5, 0.5, 0.5]  # stride 32, third anchor, column 1
