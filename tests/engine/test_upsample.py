from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.upsample import Upsample
from kuiper.layers.reference import resample as reference
from kuiper.layers.resampled_axis import Axis, cubic_table, linear_table, nearest_table
from tests.arrays import numbers
from tests.engine.one_step import Arena, image_at, round_up, run_step

if TYPE_CHECKING:
    from collections.abc import Callable

Table = tuple[np.ndarray, np.ndarray]


def upsample(x: np.ndarray, rows: Table, columns: Table, spare_lanes: int = 0) -> np.ndarray:
    (n, c, _, w), out_h, out_w = x.shape, rows[0].shape[1], columns[0].shape[1]
    arena = Arena()
    source, target = arena.image(x, spare_lanes), arena.target(n, c, out_h, out_w, spare_lanes)
    numbers = {
        "images": n, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": round_up(c), "taps": len(rows[0]),
        "source": source["start"], "in_image": source["image"], "in_row": source["row"], "in_pixel": source["pixel"],
        "target": target["start"], "out_image": target["image"], "out_row": target["row"], "out_pixel": target["pixel"],
    }  # fmt: skip
    step = Upsample(numbers, *rows, *columns)
    return image_at(run_step(step, arena.array), target, n, c, out_h, out_w)


def copies(axis: Axis) -> Table:
    indices = nearest_table(axis)[None]
    return indices, np.ones(indices.shape, np.float32)


SIZES = [((3, 4), (6, 8)), ((5, 7), (5, 7)), ((7, 5), (3, 2)), ((1, 1), (4, 3)), ((4, 9), (11, 1))]


@pytest.mark.parametrize(("size", "out"), SIZES)
@pytest.mark.parametrize("channels", [1, LANES + 1, 40])
def test_upsample_nearest_equals_its_reference(size: tuple[int, int], out: tuple[int, int], channels: int) -> None:
    x = numbers(2, channels, *size)
    rows, columns = (copies(Axis(i, o)) for i, o in zip(size, out, strict=True))
    wanted = reference.take_nearest(x.reshape(2 * channels, *size), rows[0][0], columns[0][0])
    np.testing.assert_array_equal(upsample(x, rows, columns, 3).reshape(wanted.shape), wanted)


@pytest.mark.parametrize(("size", "out"), SIZES)
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("table", [linear_table, cubic_table])
def test_upsample_blends_as_its_reference(
    size: tuple[int, int], out: tuple[int, int], align_corners: bool, table: Callable[[Axis], Table]
) -> None:
    x = numbers(2, LANES + 1, *size)
    rows, columns = (table(Axis(i, o, align_corners=align_corners)) for i, o in zip(size, out, strict=True))
    wanted = reference.blend(x.reshape(-1, *size), rows, columns)
    np.testing.assert_allclose(upsample(x, rows, columns, 3).reshape(wanted.shape), wanted, rtol=0, atol=2e-6)


def test_upsample_passes_nan_on_and_keeps_it_in_its_channel() -> None:
    x = numbers(1, 3, 4, 4)
    x[0, 1, 2, 2] = np.nan
    table = linear_table(Axis(4, 8))
    expected = np.zeros((1, 3, 8, 8), bool)
    expected[0, 1, 3:7, 3:7] = True
    np.testing.assert_array_equal(np.isnan(upsample(x, table, table)), expected)


@pytest.mark.parametrize("table", [copies, linear_table])
def test_upsample_in_many_tasks(table: Callable[[Axis], Table]) -> None:
    x = numbers(2, 24, 20, 20)
    axis = table(Axis(20, 40))
    wanted = reference.blend(x.reshape(-1, 20, 20), axis, axis)
    np.testing.assert_allclose(upsample(x, axis, axis).reshape(wanted.shape), wanted, rtol=0, atol=2e-6)
