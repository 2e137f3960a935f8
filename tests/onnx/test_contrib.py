"""The operators that onnxruntime adds to the standard, against its own answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.models.onnx import backend
from tests.onnx.contrib_cases import Case, all_cases, arguments, model

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUTS = Path(__file__).with_name("fixtures") / "contrib.npz"


def difference(case: Case, expected: np.ndarray, got: np.ndarray) -> str:
    """In what an output is not onnxruntime's."""
    if (expected.dtype, expected.shape) != (got.dtype, got.shape):
        return f"{expected.dtype} {expected.shape}, {got.dtype} {got.shape}"
    apart = np.abs(expected.astype(np.float64) - got.astype(np.float64)).max(initial=0)
    largest = max(np.abs(expected.astype(np.float64)).max(initial=0), 1)
    return "" if apart <= case.tolerance * largest else f"{apart:.3g} apart, {np.mean(expected != got):.1%} of all"


def outputs_of(case: Case) -> Sequence[np.ndarray]:
    """onnxruntime's answers."""
    with np.load(OUTPUTS) as stored:
        return [stored[f"{case.name}/{place}"] for place in range(len(case.outputs.replace("_", "")))]


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_contrib_operator_computes_as_onnxruntime(case: Case) -> None:
    expected = outputs_of(case)
    for constant in (False, True) if case.weights else (False,):
        for optimize in (True, False):
            prepared = backend.prepare(model(case, constant), optimize=optimize)
            got = prepared.run(list(arguments(case, constant).values()))
            problems = [difference(case, *pair) for pair in zip(expected, got, strict=True)]
            assert not any(problems), f"{case.name}, constant={constant}, optimize={optimize}: {problems}"
