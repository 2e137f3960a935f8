"""Networks as published code writes them, exported here and now by every route, against torch.

What they are made of is stored as fixtures (tests/fixtures/cases/wild.py). Here are whole networks, with what only
shows in a whole: a batch or a size that the export did not see, and results that wait long for their readers.
"""

from __future__ import annotations

import warnings
import zlib
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pnnx")

import kuiper  # noqa: E402
from tests.fixtures import wild_networks  # noqa: E402
from tests.fixtures.case import Case  # noqa: E402
from tests.fixtures.conversion import graph_of  # noqa: E402
from tests.fixtures.operator_files import ENDINGS  # noqa: E402
from tests.layers.test_operators_against_torch import assert_same  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

SIZES = {"FastestDet": 64, "UltraLight": 48, "YOLOv8": 64, "FCOS": 64, "ViT": 32}
"""The networks, and the height and width that they are exported for."""


class Network(Case):
    """A case that keeps torch's own weights, which suit deep networks; ``module`` is the class."""

    def build(self) -> torch.nn.Module:
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(zlib.crc32(self.name.encode()))
            module = self.module()
            for part in module.modules():
                if isinstance(part, torch.nn.BatchNorm2d):
                    part.running_mean.normal_(0, 0.1)
                    part.running_var.uniform_(0.5, 1.5)
        return module.eval()


def network(name: str, batch: int = 1, dynamic: tuple[int, ...] = ()) -> Network:
    """The network, to be exported for this many images of its size, with the axes free in which ``dynamic`` differs."""
    size = SIZES[name]
    return Network(name, getattr(wild_networks, name), ((batch, 3, size, size),), (dynamic,) if dynamic else ())


def graphs(case: Network, route: str, folder: Path) -> Iterator[kuiper.RuntimeGraph]:
    """The graph of this route, on the layers and on the engine."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporters: that they are old, and that sizes become constants
        files = graph_of(case, route)
    for ending, data in zip(ENDINGS, files, strict=True):
        (folder / f"{case.name}{ending}").write_bytes(data)
    for optimize in (False, True):
        yield kuiper.load(folder / f"{case.name}{ENDINGS[0]}", optimize=optimize)


def assert_equals_torch(model: kuiper.RuntimeGraph, case: Network, *shapes: tuple[int, ...]) -> None:
    """The same numbers for inputs of these shapes, with one thread and with two, and when the first comes again."""
    module, before = case.build(), kuiper.get_num_threads()
    try:
        for shape in (*shapes, shapes[0]):
            x = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
            with torch.no_grad():
                expected = [tensor.numpy() for tensor in flattened(module(x))]
            for count in (1, 2):
                kuiper.set_num_threads(count)
                assert_same(model(x.numpy()), expected)
    finally:
        kuiper.set_num_threads(before)


def flattened(outputs: object) -> list[torch.Tensor]:
    """The tensors of what a network returns."""
    return (
        [outputs] if isinstance(outputs, torch.Tensor) else [tensor for part in outputs for tensor in flattened(part)]
    )


@pytest.mark.parametrize("route", ["optlevel2", "optlevel1", "onnx"])
@pytest.mark.parametrize("name", SIZES)
def test_network_equals_torch_by_every_route(name: str, route: str, tmp_path: Path) -> None:
    case = network(name, batch=2)
    for model in graphs(case, route, tmp_path):
        assert_equals_torch(model, case, *case.inputs)


@pytest.mark.parametrize("name", ["UltraLight", "YOLOv8", "FCOS", "ViT"])
def test_network_exported_for_one_image_takes_three(name: str, tmp_path: Path) -> None:
    case = network(name)
    for model in graphs(case, "optlevel2", tmp_path):
        assert_equals_torch(model, case, *case.inputs, (3, *case.inputs[0][1:]))


@pytest.mark.parametrize(
    ("name", "other"), [("YOLOv8", (2, 3, 96, 32)), ("FCOS", (2, 3, 96, 32)), ("ViT", (3, 3, 32, 32))]
)
def test_network_exported_with_free_sizes_takes_others(name: str, other: tuple[int, ...], tmp_path: Path) -> None:
    case = network(name, dynamic=other)
    for model in graphs(case, "optlevel2", tmp_path):
        assert_equals_torch(model, case, *case.inputs, other)
