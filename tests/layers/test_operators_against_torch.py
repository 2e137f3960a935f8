"""Every exported operator variant against the outputs that torch gave when it was exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kuiper

FOLDER = Path(__file__).parents[1] / "fixtures" / "operators"
NAMES = sorted(path.name.removesuffix(".pnnx.param") for path in FOLDER.glob("*.pnnx.param"))
TOLERANCE = 1e-5


def flat(value: object) -> list[np.ndarray]:
    """The tensors of a (nested) output in order, as arrays."""
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in flat(item)]
    return [np.asarray(value)]


def assert_same(got: object, expected: list[np.ndarray]) -> None:
    """Equal shapes and element types, NaN where NaN, exact for integers, within the tolerance for floats."""
    outputs = flat(got)
    assert [(output.shape, output.dtype) for output in outputs] == [(array.shape, array.dtype) for array in expected]
    for output, array in zip(outputs, expected, strict=True):
        if array.dtype.kind in "biu":
            np.testing.assert_array_equal(output, array)
            continue
        finite = np.abs(array[np.isfinite(array)])
        scale = finite.max(initial=np.finfo(np.float32).tiny)
        np.testing.assert_allclose(output, array, rtol=0, atol=TOLERANCE * scale)


def assert_equals_torch(param: Path, name: str, optimize: bool, inputs_like: tuple[str, ...]) -> None:
    """Run a graph on the stored inputs of the case of this name; ``inputs_like`` has what the names begin with."""
    stored = np.load(FOLDER / f"{name}.npz")
    model = kuiper.load(param, optimize=optimize)
    for prefix in inputs_like:
        inputs = [stored[key] for key in stored if key.startswith(f"{prefix}input_")]
        expected = [stored[key] for key in stored if key.startswith(f"{prefix}output_")]
        if expected:
            assert_same(model(*inputs), expected)


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_exported_operator_equals_torch(name: str, optimize: bool) -> None:
    assert_equals_torch(FOLDER / f"{name}.pnnx.param", name, optimize, ("", "dynamic_", "unseen_"))


def test_fixtures_are_there() -> None:
    assert len(NAMES) >= 60
