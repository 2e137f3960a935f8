"""Which official weights there are: addresses, hashes, and what a model card has to say about them.

The names are those of the architectures in ``kuiper.models.zoo``. To correct an address or to add weights, change this
file only.

Addresses, sizes and the numbers of the preprocessing are those of torchvision 0.28 (``ResNet50_Weights.DEFAULT`` and so
on) and of YOLOv5's release 7.0. torchvision's file names carry the first eight digits of the SHA-256.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from kuiper.errors import ParameterError


@dataclass(frozen=True)
class Official:
    """One file of official weights, of ``size`` bytes, and what the card of the model they are for says.

    The model is converted for pictures of ``input_size`` x ``input_size``; ``card`` holds the entries that say how a
    photo becomes its input.
    """

    url: str
    sha256: str
    size: int
    task: Literal["classify", "detect"]
    labels: Literal["imagenet", "coco"]
    input_size: int
    card: dict[str, Any]
    licence: str
    page: str

    @property
    def file_name(self) -> str:
        """The last part of the address."""
        return self.url.rpartition("/")[2]


def _torchvision(file_name: str, sha256: str, size: int, page: str, resize: int = 256) -> Official:
    return Official(
        url=f"https://download.pytorch.org/models/{file_name}",
        sha256=sha256,
        size=size,
        task="classify",
        labels="imagenet",
        input_size=224,
        card={"size": 224, "resize": resize, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
        licence="torchvision: BSD-3-Clause; trained on ImageNet, whose terms may bind the use of the weights",
        page=f"https://pytorch.org/vision/stable/models/{page}.html",
    )


def _yolov5(file_name: str, sha256: str, size: int) -> Official:
    return Official(
        url=f"https://github.com/ultralytics/yolov5/releases/download/v7.0/{file_name}",
        sha256=sha256,
        size=size,
        task="detect",
        labels="coco",
        input_size=640,
        card={"size": [640, 640], "confidence": 0.25, "iou": 0.45},
        licence="Ultralytics: AGPL-3.0 (GPL-3.0 when release 7.0 came out); trained on COCO",
        page="https://github.com/ultralytics/yolov5/releases/tag/v7.0",
    )


CATALOGUE = {
    "resnet18": _torchvision(
        "resnet18-f37072fd.pth",
        "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
        46_830_571,
        "resnet",
    ),
    "resnet34": _torchvision(
        "resnet34-b627a593.pth",
        "b627a593bcbe140c234610266fe4f8ae95ea42fc881d091c9b6052e6b1d0590f",
        87_319_819,
        "resnet",
    ),
    "resnet50": _torchvision(
        "resnet50-11ad3fa6.pth",
        "11ad3fa62ca79e40addfd354a8ec4b7c75143b3038b8d2a807fbc68deab379ca",
        102_540_417,
        "resnet",
        resize=232,
    ),
    "mobilenet_v2": _torchvision(
        "mobilenet_v2-7ebf99e0.pth",
        "7ebf99e03e254b273379b23edca7ec0da9f48273b23a332b93c1c99d49e86e8f",
        14_258_573,
        "mobilenetv2",
        resize=232,
    ),
    "mobilenet_v3_small": _torchvision(
        "mobilenet_v3_small-047dcff4.pth",
        "047dcff4addef86ea5bc2eff13c9614dc11f47ab1160d0a71a25e7db994f4e1f",
        10_306_551,
        "mobilenetv3",
    ),
    "mobilenet_v3_large": _torchvision(
        "mobilenet_v3_large-5c1a4163.pth",
        "5c1a416349c4cf298f2a6a5e2600ed0ee55e604713578f5e74e6bc8bcaef7997",
        22_132_113,
        "mobilenetv3",
        resize=232,
    ),
    "squeezenet1_1": _torchvision(
        "squeezenet1_1-b8a52dc0.pth",
        "b8a52dc049b60e4b6ab68ad0df457362afab8b6304b2febdc1650a5dab4d7e7b",
        4_958_839,
        "squeezenet",
    ),
    "yolov5n": _yolov5("yolov5n.pt", "4f180cf23ba0717ada0badd6c685026d73d48f184d00fc159c2641284b2ac0a3", 4_062_133),
    "yolov5s": _yolov5("yolov5s.pt", "8b3b748c1e592ddd8868022e8732fde20025197328490623cc16c6f24d0782ee", 14_808_437),
}


def official(name: str) -> Official:
    """The official weights for the architecture of this name.

    >>> official("resnet50").card["resize"]
    232

    Raises
    ------
    ParameterError
        If there are none.
    """
    if name not in CATALOGUE:
        raise ParameterError("catalogue", f"one of {', '.join(CATALOGUE)}", name)
    return CATALOGUE[name]
