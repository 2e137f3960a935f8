"""Weights from a seed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kuiper.models.zoo.export import build, example_input  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small", "squeezenet1_1"])
def test_seeded_weights_neither_explode_nor_vanish(name: str) -> None:
    with torch.no_grad():
        y = build(name, 0)(example_input((1, 3, 96, 96), 1))
    assert 0.05 < float(y.std()) < 20
