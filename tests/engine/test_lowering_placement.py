"""Which copies one step can make."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.lowering.placement import can_copy


@pytest.mark.parametrize(("axes", "expected"), [(5, True), (6, True), (7, False)])
def test_can_copy_views_of_up_to_six_axes(axes: int, expected: bool) -> None:
    source, target = np.zeros((2,) * axes, np.float32), np.zeros((2,) * axes, np.float32)
    assert can_copy(source.transpose(), target) is expected


def test_can_copy_counts_axes_that_lie_in_memory_as_one_once() -> None:
    source, target = np.zeros((2,) * 9, np.float32), np.zeros((2,) * 9, np.float32)
    assert can_copy(source, target)
