"""The cost model: it cuts layers as the kernels can, knows the registers of the build, and what costs more does."""

from __future__ import annotations

import itertools

import pytest

from kuiper.engine import cost
from kuiper.engine.cost import (
    MAX_VECTORS,
    block_floats,
    cut_winograd,
    direct_cost,
    panel_widths,
    pixel_cycles,
    tile_cycles,
    tile_sizes,
    winograd_cost,
)
from kuiper.engine.kernels.convolution import LANES, MOST_ROWS, REGISTERS
from kuiper.engine.winograd_matrices import winograd_matrices

CACHES = [256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20]  # bytes: from Skylake's to beyond Sapphire Rapids'
SHAPES = [(1, 1), (16, 16), (64, 64), (40, 100), (256, 512), (2048, 2048)]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(("channels", "out_channels"), SHAPES)
@pytest.mark.parametrize("cache", CACHES)
def test_cut_winograd_fits_the_kernel_and_the_cache(
    cache: int, channels: int, out_channels: int, size: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "second_level_floats", lambda: cache // 4)
    vectors = -(-out_channels // LANES)
    for images, side in itertools.product((1, 8), (1, 7, 14, 55, 200)):
        cut = cut_winograd(images, side, side, channels, out_channels, size, stride)
        assert cut.positions == len(winograd_matrices(size, stride)[1]) ** 2
        assert cut.tiles == images * (-(-side // size)) ** 2
        assert 1 <= cut.block <= cut.tiles
        assert -(-vectors // cut.panels) <= MAX_VECTORS
        assert 1 <= cut.panel_groups <= cut.panels <= vectors
        panel = -(-vectors // cut.panels)
        floats = cut.block * cut.positions * (-(-channels // LANES) + panel) * LANES
        assert cut.block == 1 or floats <= block_floats()
        assert cut.panel_groups == 1 or cut.panel_groups * -(-cut.tiles // cut.block) < 2 * cost.TASKS


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(("channels", "out_channels"), SHAPES)
def test_winograd_cost_of_a_cut_never_rises_with_the_cache(
    channels: int, out_channels: int, size: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for images, side, cut_for in itertools.product((1, 8), (1, 7, 14, 55, 200), CACHES):
        monkeypatch.setattr(cost, "second_level_floats", lambda size=cut_for: size // 4)
        cut = cut_winograd(images, side, side, channels, out_channels, size, stride)
        costs = []
        for cache in CACHES:
            monkeypatch.setattr(cost, "second_level_floats", lambda size=cache: size // 4)
            costs.append(winograd_cost(cut, channels, out_channels))
        assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("cache", CACHES)
def test_costs_rise_with_the_image(cache: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "second_level_floats", lambda: cache // 4)
    for channels, out_channels in SHAPES:
        direct, winograd = [], []
        for side in (1, 7, 14, 56, 200):
            pixels, steps = side * side, 9 * channels
            direct.append(direct_cost(pixels, panel_widths(-(-out_channels // LANES), pixels, steps), steps))
            winograd.append(
                winograd_cost(cut_winograd(1, side, side, channels, out_channels, 4), channels, out_channels)
            )
        assert direct == sorted(direct)
        assert winograd == sorted(winograd)


def test_cut_winograd_gives_two_threads_work_wherever_it_can() -> None:
    for side, out_channels in itertools.product((2, 7, 16, 56), (2 * LANES, 5 * LANES, 32 * LANES)):
        for size in (2, 4):
            cut = cut_winograd(1, side, side, 64, out_channels, size)
            assert -(-cut.tiles // cut.block) * cut.panel_groups >= 2


def test_sums_of_every_tile_fit_the_registers_beside_their_factors() -> None:
    for vectors, rows in enumerate(MOST_ROWS, 1):
        assert rows * vectors + vectors + 1 < REGISTERS


def test_tile_cycles_waits_for_sums_where_there_are_few() -> None:
    assert tile_cycles(1, 1) == tile_cycles(2, 1) == cost.LATENCY


@pytest.mark.parametrize("vectors", range(1, 40))
def test_panel_widths_add_up(vectors: int) -> None:
    for pixels in (1, 5, 49, 196, 10_000):
        widths = panel_widths(vectors, pixels, steps=64)
        assert sum(widths) == vectors
        assert set(widths) <= {1, 2, 3, 4}


def test_panel_widths_of_many_pixels_avoid_single_vectors() -> None:
    assert min(panel_widths(4, 10_000, steps=64)) >= 2
    assert panel_widths(5, 10_000, steps=64).count(1) <= 1


def test_tile_sizes_differ_by_at_most_one_row() -> None:
    for vectors, most in enumerate(MOST_ROWS, 1):
        for pixels in (1, most, most + 1, 10 * most + 3):
            sizes = [rows for count, rows in tile_sizes(pixels, vectors) if count]
            assert sum(count * rows for count, rows in tile_sizes(pixels, vectors)) == pixels
            assert max(sizes) <= most
            assert max(sizes) - min(sizes) <= 1


def test_pixel_cycles_counts_every_pixel() -> None:
    for vectors, rows in enumerate(MOST_ROWS, 1):
        assert pixel_cycles(10 * rows, vectors, 9) == pytest.approx(10 * pixel_cycles(rows, vectors, 9))
        assert pixel_cycles(10 * rows + 1, vectors, 9) > pixel_cycles(10 * rows, vectors, 9)
