"""The cost model, on stated machines: it cuts layers as kernels can, fits registers and caches; more costs more."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from kuiper.engine import cost
from kuiper.engine.cost import (
    MAX_VECTORS,
    block_floats,
    direct_cost,
    for_kernels,
    max_rows,
    panel_widths,
    pixel_cycles,
    tile_cycles,
    tile_sizes,
)
from kuiper.engine.kernels.convolution import LANES, TILE_ROWS
from kuiper.engine.lowering.winograd import options_for
from kuiper.engine.winograd_cost import TASKS, cut_winograd, winograd_cost
from kuiper.engine.winograd_matrices import winograd_matrices
from kuiper.machine import REPRODUCIBLE, Machine
from kuiper.machine.build import REGISTERS
from tests.engine.machines import EVERY_MACHINE, MACHINES, K, M

CACHES = [256 * K, 512 * K, 1 * M, 2 * M, 4 * M]  # from Skylake's to beyond Sapphire Rapids'
SHAPES = [(1, 1), (16, 16), (64, 64), (40, 100), (256, 512), (2048, 2048)]
SIDES = (1, 7, 14, 55, 200)
WINOGRADS = list(itertools.product((2, 4), (1, 2)))
"""Size of tiles and stride."""

VECTORS = range(1, MAX_VECTORS + 1)


@EVERY_MACHINE
@pytest.mark.parametrize(("channels", "out_channels"), SHAPES)
def test_cut_winograd_covers_all_tiles_and_fits_the_cache(machine: Machine, channels: int, out_channels: int) -> None:
    vectors = -(-out_channels // machine.lanes)
    for images, side, (size, stride) in itertools.product((1, 8), SIDES, WINOGRADS):
        cut = cut_winograd(machine, images, side, side, channels, out_channels, size, stride)
        assert cut.positions == len(winograd_matrices(size, stride)[1]) ** 2
        assert cut.tiles == images * (-(-side // size)) ** 2
        assert 1 <= cut.block <= cut.tiles
        panel = -(-vectors // cut.panels)
        assert panel <= MAX_VECTORS
        assert 1 <= cut.panel_groups <= cut.panels <= vectors
        floats = cut.block * cut.positions * (-(-channels // machine.lanes) + panel) * machine.lanes
        assert cut.block == 1 or floats <= block_floats(machine)
        assert cut.panel_groups == 1 or cut.panel_groups * -(-cut.tiles // cut.block) < 2 * TASKS


@EVERY_MACHINE
@pytest.mark.parametrize(("channels", "out_channels"), SHAPES)
def test_costs_of_a_cut_never_rise_with_the_cache(machine: Machine, channels: int, out_channels: int) -> None:
    machines = [replace(machine, l2=cache) for cache in CACHES]
    for side, (size, stride), cut_for in itertools.product(SIDES, WINOGRADS, machines):
        cut = cut_winograd(cut_for, 1, side, side, channels, out_channels, size, stride)
        costs = [winograd_cost(other, cut, channels, out_channels) for other in machines]
        assert costs == sorted(costs, reverse=True)


@EVERY_MACHINE
def test_costs_rise_with_the_image(machine: Machine) -> None:
    for channels, out_channels in SHAPES:
        direct, winograd = [], []
        for side in SIDES:
            pixels, steps = side * side, 9 * channels
            widths = panel_widths(machine, -(-out_channels // machine.lanes), pixels, steps)
            direct.append(direct_cost(machine, pixels, widths, steps))
            cut = cut_winograd(machine, 1, side, side, channels, out_channels, 4)
            winograd.append(winograd_cost(machine, cut, channels, out_channels))
        assert direct == sorted(direct)
        assert winograd == sorted(winograd)


@EVERY_MACHINE
def test_cut_winograd_gives_two_threads_work_wherever_it_can(machine: Machine) -> None:
    for side, vectors, size in itertools.product((2, 7, 16, 56), (2, 5, 32), (2, 4)):
        cut = cut_winograd(machine, 1, side, side, 64, vectors * machine.lanes, size)
        assert -(-cut.tiles // cut.block) * cut.panel_groups >= 2


@EVERY_MACHINE
def test_sums_of_every_tile_fit_the_registers_beside_their_factors(machine: Machine) -> None:
    for vectors in VECTORS:
        rows = max_rows(machine, vectors)
        assert rows >= 1
        assert rows * vectors + vectors + 1 < machine.registers


@EVERY_MACHINE
def test_for_kernels_has_the_vectors_of_the_build(machine: Machine) -> None:
    kernels = for_kernels(machine)
    assert (kernels.lanes, kernels.registers) == (LANES, REGISTERS)
    assert [max_rows(kernels, vectors) for vectors in VECTORS] == TILE_ROWS
    assert (kernels.l2, kernels.cores, kernels.name) == (machine.l2, machine.cores, machine.name)


@EVERY_MACHINE
def test_tile_cycles_waits_for_sums_where_there_are_few(machine: Machine) -> None:
    assert tile_cycles(machine, 1, 1) == tile_cycles(machine, 2, 1) == cost.LATENCY


def test_tile_cycles_doubles_where_vectors_are_split() -> None:
    halves = replace(REPRODUCIBLE, lanes=16, registers=32, splits_avx512=True)
    assert tile_cycles(REPRODUCIBLE, 6, 4) < tile_cycles(halves, 6, 4) <= 2 * tile_cycles(REPRODUCIBLE, 6, 4)


@EVERY_MACHINE
def test_panel_widths_add_up(machine: Machine) -> None:
    for vectors, pixels in itertools.product((*range(1, 12), 39), (1, 5, 49, 196, 10_000)):
        widths = panel_widths(machine, vectors, pixels, steps=64)
        assert sum(widths) == vectors
        assert set(widths) <= set(VECTORS)


@EVERY_MACHINE
def test_tile_sizes_differ_by_at_most_one_row(machine: Machine) -> None:
    for vectors in VECTORS:
        most = max_rows(machine, vectors)
        for pixels in (1, most, most + 1, 10 * most + 3):
            sizes = [rows for count, rows in tile_sizes(machine, pixels, vectors) if count]
            assert sum(count * rows for count, rows in tile_sizes(machine, pixels, vectors)) == pixels
            assert max(sizes) <= most
            assert max(sizes) - min(sizes) <= 1


@EVERY_MACHINE
def test_pixel_cycles_counts_every_pixel(machine: Machine) -> None:
    for vectors in VECTORS:
        rows = max_rows(machine, vectors)
        one, ten = (pixel_cycles(machine, count * rows, vectors, 9) for count in (1, 10))
        assert ten == pytest.approx(10 * one)
        assert pixel_cycles(machine, 10 * rows + 1, vectors, 9) > ten


@pytest.mark.parametrize(("channels", "out_channels"), SHAPES)
def test_options_for_depend_on_what_is_stated_alone(channels: int, out_channels: int) -> None:
    for side, stride, machine in itertools.product(SIDES, (1, 2), MACHINES):
        options = options_for(machine, channels, (1, out_channels, side, side), stride)
        assert sorted(option.size for option in options) == [0, 2, 4]
        assert [option.cost for option in options] == sorted(option.cost for option in options)
        another = replace(machine, name="another", features=frozenset(), cores=3, l1=1 * M, l3=0, clock=10**9)
        assert options_for(another, channels, (1, out_channels, side, side), stride) == options
