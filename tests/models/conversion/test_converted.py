"""What the converter makes of networks of float64, stored, against PyTorch's answers in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kuiper

FOLDER = Path(__file__).parents[2] / "fixtures" / "converted"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_converted_network_of_float64_gives_torchs_numbers(name: str, optimize: bool) -> None:
    with np.load(FOLDER / f"{name}.npz") as stored:
        x, expected = stored["input_0"], stored["output_0"]
    answer = np.asarray(kuiper.load(FOLDER / f"{name}.pnnx.param", optimize=optimize)(x))
    assert answer.dtype == np.float32
    assert np.abs(answer - expected).max() <= 1e-5 * np.abs(expected).max()


def test_converted_networks_are_there() -> None:
    assert len(NAMES) == 4
