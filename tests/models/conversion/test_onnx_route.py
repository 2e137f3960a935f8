"""From PyTorch by its ONNX exporter: the graph is compared with the module itself."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from torch import nn  # noqa: E402

import kuiper  # noqa: E402
from kuiper.errors import ExportError  # noqa: E402
from kuiper.graph import pnnx  # noqa: E402
from kuiper.models.conversion import TorchModel, verify  # noqa: E402
from kuiper.models.conversion.onnx_route import export_by_onnx  # noqa: E402
from tests.models.conversion.networks import BatchStatistics, Cnn, Outputs  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch


class Scaled(nn.Module):
    """A tensor, times a number that is an argument."""

    def forward(self, x, s):
        return x * s + 1


class Summed(nn.Module):
    """Any number of arguments."""

    def forward(self, x, *rest):
        return x + sum(rest)


def tensors(*shapes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def agrees(module: nn.Module, param: Path, *examples: tuple[torch.Tensor, ...]) -> bool:
    """Whether the graph computes what the module does on each."""
    arrays = {str(number): tuple(tensor.numpy() for tensor in one) for number, one in enumerate(examples)}
    return verify(param, TorchModel(module, "net"), arrays).agrees


@pytest.mark.parametrize(
    ("module", "shapes"),
    [
        (Cnn(), [(1, 3, 8, 8)]),
        (Cnn().double(), [(1, 3, 8, 8)]),
        (BatchStatistics(), [(1, 3, 8, 8)]),  # pnnx crashes on it
        (Outputs(), [(2, 3), (2, 3)]),
        (Scaled(), [(2, 3), ()]),  # pnnx aborts on it
        (Summed(), [(2, 3), (2, 3), (3,)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_export_by_onnx_computes_what_the_module_does(
    module: nn.Module, shapes: list[tuple[int, ...]], tmp_path: Path
) -> None:
    inputs = tensors(*shapes)
    param, _ = export_by_onnx(module, inputs, tmp_path / "net")
    assert agrees(module, param, inputs, tuple(-x for x in inputs))


@pytest.mark.parametrize("turned", [False, True])
def test_export_by_onnx_opens_the_axes_that_differ(turned: bool, tmp_path: Path) -> None:
    module, first, second = Cnn(), tensors((1, 3, 8, 8)), tensors((2, 3, 9, 8))
    if turned:
        first, second = second, first
    param, _ = export_by_onnx(module, first, tmp_path / "net", second)
    (declared,) = [op.outputs[0].shape for op in pnnx.load(param).operators if op.type == "pnnx.Input"]
    assert declared == (None, 3, None, 8)
    assert agrees(module, param, first, second, tensors((3, 3, 5, 8)))


def test_export_by_onnx_refuses_what_torch_export_cannot_follow(tmp_path: Path) -> None:
    class Branch(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(ExportError, match=r"Branch: expected a model that torch.onnx.export can follow"):
        export_by_onnx(Branch(), tensors((2, 3)), tmp_path / "net")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit ages
        script = torch.jit.trace(Cnn().eval(), tensors((1, 3, 8, 8)))
    with pytest.raises(ExportError, match=r"expected a module that torch.export can follow, got TorchScript"):
        export_by_onnx(script, tensors((1, 3, 8, 8)), tmp_path / "net")
    assert not list(tmp_path.iterdir())


def test_export_by_onnx_says_what_it_changed_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    notes: list[str] = []
    param, _ = export_by_onnx(Outputs(), tensors((2, 3), (2, 3)), tmp_path / "net", note=notes.append)
    assert any("dict" in text for text in notes)
    assert capfd.readouterr() == ("", "")
    x = np.ones((2, 3), np.float32)
    assert len(kuiper.load(param)(x, x)) == 2
