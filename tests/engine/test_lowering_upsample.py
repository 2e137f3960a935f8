"""Resampling in a plan: rows, images and volumes."""

from __future__ import annotations

import pytest

from tests.engine.lowered import computing, steps_of
from tests.engine.models import numbers

CASES = [
    ((2, 3, 7), "mode=linear size=(11)", 1),
    ((2, 3, 7), "mode=linear size=(13) align_corners=True", 1),
    ((2, 3, 5, 7), "mode=bilinear size=(4,9)", 1),
    ((2, 3, 5, 7), "mode=bicubic size=(4,9)", 1),
    ((2, 3, 4, 5, 7), "mode=trilinear size=(6,3,11)", 2),
    ((1, 17, 4, 5, 7), "mode=trilinear scale_factor=(2,2,2) align_corners=True", 2),
    ((2, 3, 4, 5, 7), "mode=trilinear size=(4,6,8)", 1),
]


@pytest.mark.parametrize(("shape", "text", "steps"), CASES)
def test_upsample_is_a_step_for_images_and_one_for_their_depth(shape: tuple[int, ...], text: str, steps: int) -> None:
    found = steps_of(f"F.interpolate up 1 1 x0 y {text}", inputs=[numbers(*shape)])
    assert len(computing(found)) == steps
    assert "layer" not in found


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("size", ["6,3,11", "3,5,7", "9,9,33"])
def test_upsample_by_nearest_picks_along_rows_then_takes_rows(mode: str, size: str) -> None:
    line = f"F.interpolate up 1 1 x0 y mode={mode} size=({size})"
    assert steps_of(line, inputs=[numbers(2, 3, 4, 5, 7)]) == ["pick", mode]


def test_upsample_of_rows_by_nearest_is_one_pick() -> None:
    line = "F.interpolate up 1 1 x0 y mode=nearest scale_factor=(2.5)"
    assert steps_of(line, inputs=[numbers(2, 3, 7)]) == ["pick"]


@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 3, 4, 5, 7)])
def test_upsample_reads_what_a_step_has_written_and_gives_it_to_the_next(shape: tuple[int, ...]) -> None:
    mode = "linear" if len(shape) == 3 else "trilinear"
    lines = ["F.relu a 1 1 x0 z", f"F.interpolate up 1 1 z v mode={mode} scale_factor=(2)", "F.relu b 1 1 v y"]
    assert "layer" not in steps_of(*lines, inputs=[numbers(*shape)])


def test_upsample_of_areas_in_rows_is_left_to_the_layer() -> None:
    assert steps_of("F.interpolate up 1 1 x0 y mode=area size=(3)", inputs=[numbers(2, 3, 7)]) == ["layer"]


@pytest.mark.parametrize("mode", ["nearest", "trilinear"])
def test_upsample_of_volumes_that_are_concatenated(mode: str) -> None:
    lines = [
        f"F.interpolate a 1 1 x0 v mode={mode} scale_factor=(2)",
        f"F.interpolate b 1 1 x1 w mode={mode} scale_factor=(2)",
        "torch.cat c 2 1 v w y dim=1",
    ]
    assert "layer" not in steps_of(*lines, inputs=[numbers(2, 3, 2, 3, 16), numbers(2, 2, 2, 3, 16, seed=1)])
