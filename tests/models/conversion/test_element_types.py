"""Modules of float64, and with parts of it: converted in float32 throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kuiper.models.conversion import TorchModel, verify  # noqa: E402
from kuiper.models.conversion.element_types import in_float32  # noqa: E402
from kuiper.models.conversion.traps import prepared  # noqa: E402
from tests.fixtures.export_converted import CASES  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

WIDE = {torch.float64}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_network_with_parts_of_float64_converts(name: str, dtype: type, tmp_path: Path) -> None:
    notes: list[str] = []
    model = TorchModel(CASES[name].build(), name)
    first, other = ((rng.standard_normal((2, 4)).astype(dtype),) for rng in map(np.random.default_rng, (0, 1)))
    param, _ = model.export(first, tmp_path / "net", note=notes.append)
    comparison = verify(param, model, {"traced": first, "other": other})
    assert comparison.agrees, comparison.report()
    assert "weights of float64 are converted as float32, and compared as such" in notes


def test_in_float32_leaves_the_module_and_its_constants_as_they_are() -> None:
    module = CASES["plain_constant"].build()
    with prepared(module):
        assert module(torch.ones(1, 4)).dtype == torch.float32
    assert module.scale.dtype == module.linear.weight.dtype == torch.float64


def test_in_float32_changes_types_wherever_they_stand() -> None:
    x = torch.ones(2, dtype=torch.float64)
    assert in_float32(WIDE, torch.cat, ([x, x],), {}).dtype == torch.float32
    assert in_float32(WIDE, torch.zeros, (2,), {"dtype": torch.float64}).dtype == torch.float32
    assert in_float32(WIDE, torch.Tensor.double, (x.float(),), {}).dtype == torch.float32
    assert in_float32(WIDE, torch.Tensor.type, (x.float(), "torch.DoubleTensor"), {}).dtype == torch.float32
    assert in_float32(WIDE, torch.Tensor.type, (x.float(), torch.DoubleTensor), {}).dtype == torch.float32


def test_in_float32_leaves_other_types_alone() -> None:
    x = torch.ones(2, dtype=torch.int64)
    assert in_float32(WIDE, torch.add, (x, x), {}).dtype == torch.int64
    assert in_float32(WIDE, torch.Tensor.half, (x,), {}).dtype == torch.float16
    assert in_float32(WIDE, torch.Tensor.type, (x,), {}) == "torch.LongTensor"


def test_a_module_with_weights_of_float32_keeps_what_it_asks_for() -> None:
    class Widened(nn.Linear):
        def forward(self, x):
            return super().forward(x).double() / 3

    with prepared(module := Widened(4, 4)):
        assert module(torch.ones(1, 4)).dtype == torch.float64
