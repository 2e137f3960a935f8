"""What pnnx loses comes back from the trace: index tensors, GELU's approximation, casts, divisions, states."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kuiper.models.conversion import TorchModel, verify  # noqa: E402
from kuiper.models.conversion.repairs import calls as recording  # noqa: E402
from kuiper.models.conversion.repairs.calls import names_of, recorded  # noqa: E402
from kuiper.models.conversion.repairs.expressions import spellings  # noqa: E402
from tests.fixtures.case import Calls  # noqa: E402
from tests.fixtures.export_repairs import LOST, OF_SCRIPTS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]


def written_to(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y.copy_(x[:1])
    return y + 1


def number_written_to(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, 1:3].copy_(torch.tensor(2.0))
    return y


KINDS = {
    "index_of_two_axes": "Tensor.index",
    "two_indices": "Tensor.index",
    "long_index": "Tensor.index",
    "index_of_bools": "Tensor.index",
    "tanh_gelu": "F.gelu",
    "half": "pnnx.Expression",
    "bfloat16": "pnnx.Expression",
    "storage_offset": "torch.as_strided",
}
"""By name of what is lost: the operator that it is lost of."""


def assert_agrees(module: nn.Module, folder: Path) -> list[str]:
    """The graph computes what the module does; what was noted on the way."""
    notes: list[str] = []
    model = TorchModel(module, "net")
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32) * 2
    param, _ = model.export((x,), folder / "net", note=notes.append)
    comparison = verify(param, model, {"traced": (x,), "opposite": (-x,)})
    assert comparison.agrees, comparison.report()
    return notes


@pytest.mark.parametrize("name", KINDS)
def test_repair_writes_back_what_pnnx_loses(name: str, tmp_path: Path) -> None:
    notes = assert_agrees(Calls(LOST[name]), tmp_path)
    assert f"what pnnx lost of 1 x {KINDS[name]} is written back from the trace" in notes


@pytest.mark.parametrize("name", [*KINDS, *OF_SCRIPTS])
def test_repair_knows_what_is_lost_of_torchscript(name: str, tmp_path: Path) -> None:
    function = (LOST | OF_SCRIPTS)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that tracing is deprecated, and makes constants of tensors
        script = torch.jit.trace(Calls(function).eval(), (torch.randn(3, 4),), check_trace=False)
    notes = assert_agrees(script, tmp_path)
    assert any("is written back" in note for note in notes)


def test_repair_makes_masks_of_four_axes_right(tmp_path: Path) -> None:
    assert_agrees(Calls(LOST["mask_of_four_axes"]), tmp_path)


@pytest.mark.parametrize("function", [written_to, number_written_to])
def test_a_copy_that_broadcasts_is_traced_as_such(
    function: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    assert_agrees(Calls(function), tmp_path)


def test_repair_leaves_a_graph_without_a_loss_alone(tmp_path: Path) -> None:
    notes = assert_agrees(nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.GELU(approximate="tanh")), tmp_path)
    assert notes == []


def test_recorded_has_arguments_and_outputs_of_every_operation() -> None:
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    calls = recorded(lambda: torch.relu(x)[torch.tensor([[1]])].half())
    (index,) = calls.named("aten::index.Tensor")
    np.testing.assert_array_equal(index.args[1][0], [[1]])
    assert calls.distance(np.float32([1, 0, 3, 4])) == 0
    assert calls.distance(np.float32([1, 0, 3])) == np.inf


def test_distance_finds_the_nearest_of_many_arrays() -> None:
    rng = np.random.default_rng(0)
    arrays = tuple(rng.standard_normal((50, 3, 4)))
    calls = recording.Calls([recording.Call("aten::stack", (), {}, arrays)])
    assert calls.distance(arrays[37].T) > 0.1
    assert calls.distance(arrays[37] + 1e-3) < 1e-3


def test_names_of_counts_operations_and_the_types_of_copies() -> None:
    names = names_of(lambda: torch.ones(2).half().float())
    assert names["aten::_to_copy", "torch.float16"] == 1


def test_spellings_tries_every_place() -> None:
    assert spellings("add(div(@0,2),div(@1,3))", ["floor"], []) == [
        "add(div(@0,2),floor_divide(@1,3))",
        "add(floor_divide(@0,2),div(@1,3))",
        "add(floor_divide(@0,2),floor_divide(@1,3))",
    ]
    assert spellings("floor_divide(@0,2)", ["trunc"], []) == ["trunc(div(@0,2))"]
