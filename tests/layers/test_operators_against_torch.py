"""Every exported operator variant against the outputs that torch gave when it was exported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.layers.promotion import as_array
from kuiper.models.nested import flat
from tests.fixtures.operator_files import answers_of, case_names, graph_file

if TYPE_CHECKING:
    from pathlib import Path

TOLERANCE = 1e-5


def arrays_of(value: object) -> list[np.ndarray]:
    """The tensors of a (nested) output in order, as arrays."""
    return [as_array(one) for one in flat(value)]


def assert_same(got: object, expected: list[np.ndarray]) -> None:
    """Equal shapes and element types, NaN where NaN, exact for integers, within the tolerance for floats."""
    outputs = arrays_of(got)
    assert [(output.shape, output.dtype) for output in outputs] == [(array.shape, array.dtype) for array in expected]
    for output, array in zip(outputs, expected, strict=True):
        if array.dtype.kind in "biu":
            np.testing.assert_array_equal(output, array)
            continue
        finite = np.abs(array[np.isfinite(array)])
        scale = finite.max(initial=np.finfo(np.float32).tiny)
        np.testing.assert_allclose(output, array, rtol=0, atol=TOLERANCE * scale)


def stored_runs(name: str, beginnings: tuple[str, ...]) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """What the case of this name was given, and what torch answered; ``beginnings`` are those of the arrays' names."""
    stored = answers_of(name)
    runs = []
    for beginning in beginnings:
        inputs = [array for key, array in stored.items() if key.startswith(f"{beginning}input_")]
        expected = [array for key, array in stored.items() if key.startswith(f"{beginning}output_")]
        if expected:
            runs.append((inputs, expected))
    return runs


def assert_equals_torch(param: Path, optimize: bool, runs: list[tuple[list[np.ndarray], list[np.ndarray]]]) -> None:
    """Run a graph on what a case was given, and compare with what torch answered."""
    model = kuiper.load(param, optimize=optimize)
    for inputs, expected in runs:
        assert_same(model(*inputs), expected)


@pytest.mark.parametrize("name", case_names())
def test_exported_operator_equals_torch(name: str) -> None:
    runs = stored_runs(name, ("", "dynamic_", "unseen_"))
    for optimize in (False, True):
        assert_equals_torch(graph_file(name), optimize, runs)


def test_fixtures_are_there() -> None:
    assert len(case_names()) >= 60
