"""Real conversions of what pnnx stumbles over, against PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import kuiper  # noqa: E402
from kuiper.errors import ExportError  # noqa: E402
from kuiper.models.conversion import TorchModel, export, pnnx_converter, torch_export, verify  # noqa: E402
from kuiper.models.conversion.input_spec import InputSpec, draw_inputs  # noqa: E402
from tests.models.conversion import networks  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

IMAGE = "2,3,6,8"


def examples(words: tuple[str, ...]) -> list[tuple[np.ndarray, ...]]:
    specs = [InputSpec.parse(word) for word in words]
    return [draw_inputs(specs, seed) for seed in (0, 1)]


@pytest.mark.parametrize(
    ("make", "words", "kept"),
    [
        (networks.Cnn, (IMAGE,), "nn.Linear"),
        (networks.half, (IMAGE,), "nn.Linear"),
        (networks.Outputs, ("2,3", "2,3"), "prim::TupleConstruct"),
        (networks.Tied, ("1,5:i64:0..19",), "nn.LayerNorm"),
        (networks.Masked, ("2,5,8", "2,5:bool:0..0"), "nn.MultiheadAttention"),
        (networks.Rounding, ("2,7",), "pnnx.Expression"),
        (networks.OwnFunctions, ("2,7", "2,7:bool"), "F.softmax"),
    ],
)
def test_export_equals_torch(make: type[torch.nn.Module], words: tuple[str, ...], kept: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = TorchModel(make(), make.__name__)
    first, second = examples(words)
    param, _ = model.export(first, tmp_path / "net")
    comparison = verify(param, model, {"first": first, "second": second})
    assert comparison.agrees, comparison.report()
    assert f"\n{kept} " in param.read_text()


def test_export_leaves_the_axes_open_in_which_other_inputs_differ(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = networks.Cnn()
    x, other = torch.randn(1, 3, 6, 8), torch.randn(2, 3, 5, 8)
    param, _ = export(module, (x,), tmp_path / "deep" / "net", other_inputs=(other,), optlevel=0)
    text = param.read_text()
    assert "=(?,3,?,8)f32" in text
    assert "nn.BatchNorm2d " in text  # optlevel 2 would fold it
    with torch.no_grad():
        expected = module(other).numpy()
    np.testing.assert_allclose(np.asarray(kuiper.load(param)(other.numpy())), expected, rtol=0, atol=1e-6)


def test_moduleop_keeps_a_class_whole(tmp_path: Path) -> None:
    param, _ = export(
        networks.Nested(), (torch.randn(2, 3),), tmp_path / "net", "tests.models.conversion.networks.Rounding"
    )
    assert "\ntests.models.conversion.networks.Rounding 0 " in param.read_text()


def test_a_condition_is_noted_and_shows_on_other_inputs(tmp_path: Path) -> None:
    notes: list[str] = []
    model = TorchModel(networks.Branching(), "branching")
    x = np.ones((2, 3), np.float32)
    param, _ = model.export((x,), tmp_path / "net", note=notes.append)
    assert len(notes) == 1
    assert notes[0].startswith("networks.py:")
    assert "Converting a tensor to a Python boolean" in notes[0]
    comparison = verify(param, model, {"first": (x,), "second": (-x,)})
    assert [row.verdict for row in comparison.rows] == ["agrees", "differs"]


def test_what_pnnx_gets_wrong_is_located(tmp_path: Path) -> None:
    model = TorchModel(networks.LargeNumber(), "large")
    x = np.arange(6).reshape(2, 3)
    param, _ = model.export((x,), tmp_path / "net")
    comparison = verify(param, model, {"first": (x,)})
    assert comparison.suspect == "pnnx.Expression 'pnnx_expr_0' (add(@0,-1294967296))"


def test_scripted_modules_are_converted_frozen_where_pnnx_needs_it(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="torch.jit.script"):
        module = torch.jit.script(networks.Cnn())
    model = TorchModel(module, "scripted")
    first, second = examples((IMAGE,))
    param, _ = model.export(first, tmp_path / "net")
    assert verify(param, model, {"first": first, "second": second}).agrees


@pytest.mark.parametrize(
    ("make", "shape", "message"),
    [
        (
            networks.Raising,
            (2, 3),
            r"Raising: expected a forward pass on \(2, 3\) float32, got ValueError: not \(networks",
        ),
        (networks.Cnn, (1, 4, 6, 6), r"Cnn: expected a forward pass on .*to have 3 channels.* \(networks\.py:\d+\)"),
        (networks.BatchStatistics, (1, 3, 6, 6), "expected running statistics, got none"),
    ],
)
def test_what_forward_says_is_one_line(
    make: type[torch.nn.Module], shape: tuple[int, ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=message) as caught:
        export(make(), (torch.zeros(shape),), tmp_path / "net")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_index_out_of_range_points_to_the_range(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"IndexError: .*; --input 1,10:i64:0\.\.9 sets the range"):
        export(networks.Tied(), (torch.full((1, 2), 20),), tmp_path / "net")


def test_export_goes_on_without_modules_where_pnnx_fails_at_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def convert(file: Path, options: list[str]) -> tuple[Path, Path]:
        calls.append(options)
        if len(calls) == 1:
            raise ExportError("pnnx", "a whole graph", "none (the converter crashed: SIGSEGV)")
        return pnnx_converter.convert(file, options)

    monkeypatch.setattr(torch_export, "convert", convert)
    notes: list[str] = []
    torch.manual_seed(0)
    model = TorchModel(networks.Cnn(), "net")
    (x,) = draw_inputs([InputSpec.parse(IMAGE)], 0)
    param, _ = model.export((x,), tmp_path / "net", note=notes.append)
    assert verify(param, model, {"traced": (x,)}).agrees
    assert calls[0] == calls[1]
    assert any("converted without them, from a frozen trace" in note for note in notes)


def test_a_trace_with_python_in_it_cannot_be_written(tmp_path: Path) -> None:
    inputs = torch.randn(2, 7), torch.rand(2, 7) < 0.5
    with pytest.warns(DeprecationWarning, match="torch.jit.trace"):
        traced = torch.jit.trace(networks.OwnFunctions(), inputs, check_trace=False)
    expected = r"expected TorchScript that can be written to a file, got RuntimeError: .*MaskedSoftmax"
    with pytest.raises(ExportError, match=expected):
        export(traced, inputs, tmp_path / "net")
