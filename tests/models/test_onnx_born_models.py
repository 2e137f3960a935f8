"""Architectures of the zoo that went through ONNX, at odd sizes and at sizes that the graph leaves open."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

import kuiper  # noqa: E402
from kuiper.models.conversion import OnnxModel  # noqa: E402
from kuiper.models.zoo.export import build, example_input  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

TOLERANCE = 1e-5  # max|kuiper - torch| / max|torch|


class Route(NamedTuple):
    """An architecture, which of PyTorch's exporters writes it, and for which sizes; the second ones make them free."""

    name: str
    dynamo: bool
    size: tuple[int, int]
    other: tuple[int, int] | None = None


ROUTES = [
    Route("mobilenet_v3_small", False, (75, 101)),
    Route("squeezenet1_1", False, (65, 97), (81, 122)),
    Route("unet_bilinear", False, (48, 80), (80, 144)),
    Route("yolov5n", True, (64, 96), (96, 160)),
]


def write_onnx(model: torch.nn.Module, x: torch.Tensor, path: Path, route: Route) -> None:
    """Export with all axes but that of the channels open, if the route has two sizes."""
    options: dict[str, Any] = {"dynamo": route.dynamo, "input_names": ["image"]}
    if route.dynamo:
        pytest.importorskip("onnxscript")
        options["external_data"] = False
        options["dynamic_shapes"] = (dict.fromkeys((0, 2, 3), torch.export.Dim.DYNAMIC),) if route.other else None
    elif route.other:
        options["dynamic_axes"] = {"image": {0: "n", 2: "h", 3: "w"}}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporters: that they age, and that sizes become constants
        model(x)  # a YOLO makes its grids now
        torch.onnx.export(model, (x,), str(path), **options)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_model_from_onnx_equals_torch(route: Route, tmp_path: Path) -> None:
    model = build(route.name, seed=1)
    images = [example_input((1, 3, *route.size))]
    if route.other:
        images.append(example_input((2, 3, *route.other), seed=2))
    write_onnx(model, images[0], tmp_path / "model.onnx", route)
    exported = OnnxModel(tmp_path / "model.onnx")
    param, _ = exported.export((images[0].numpy(),), tmp_path / "model")
    for image in images:
        with torch.no_grad():
            expected = model(image).numpy()
        for optimize in (False, True):
            got = np.asarray(kuiper.load(param, optimize=optimize)(image.numpy()))
            assert got.shape == expected.shape
            assert np.abs(got - expected).max() <= TOLERANCE * np.abs(expected).max()
