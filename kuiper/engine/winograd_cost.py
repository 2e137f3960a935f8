"""How Winograd's convolution is cut into blocks and panels, and how long it takes (``cost.py`` has the products)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.engine.cost import (
    MAX_VECTORS,
    NEAR_BYTES,
    OPERATIONS,
    block_floats,
    near_floats,
    pixel_cycles,
    second_level_floats,
    together,
)

if TYPE_CHECKING:
    from kuiper.machine import Machine

# Of an image beyond that cache, of which each of Winograd's tiles takes some pixels of several rows: between 1 and 3.5
# on images of 6 and 13 MB, on a machine with other work to do.
TILED_BYTES = 2.0

# One vector of a tile of Winograd's, by stride and size of tiles: operations of both transforms (loads and stores among
# them), and vectors that they move between caches.
TRANSFORM_OPERATIONS = {(1, 2): 64 + 52, (1, 4): 288 + 215, (2, 2): 80 + 72, (2, 4): 342 + 337}
TRANSFORM_MOVES = {(1, 2): 20 + 24, (1, 4): 52 + 68, (2, 2): 41 + 33, (2, 4): 145 + 113}
INPUT_SHARE = 0.55  # of a transform, the input's: done once for each group of panels

MIN_NEAR, MIN_FAR = 12, 32  # tiles of a block; with fewer, far weights would take longer than the products
TASKS = 8  # of a layer, if it is large enough: 2 to 16 threads then share it evenly
GROUP_CHANNELS = 192  # of a group, at least: each group transforms the inputs again, 5 % of the products for this many


@dataclass(frozen=True, slots=True)
class WinogradCut:
    """How ``kernels/winograd.pyx`` cuts a layer: its fields of the same names, and the size of its tiles.

    ``tiles`` counts all tiles of all images.
    """

    size: int
    stride: int
    tiles: int
    block: int
    panels: int
    panel_groups: int

    @property
    def positions(self) -> int:
        """Products of a tile: as many as it has inputs."""
        return _positions(self.size, self.stride)

    @property
    def matrices(self) -> int:
        """Matrices of weights; with stride 2, some positions share one."""
        return _matrices(self.size)


def _positions(size: int, stride: int) -> int:
    return (stride * (size - 1) + 3) ** 2


def _matrices(size: int) -> int:
    return (size + 2) ** 2


def cut_winograd(
    machine: Machine,
    images: int,
    out_h: int,
    out_w: int,
    channels: int,
    out_channels: int,
    size: int,
    stride: int = 1,
) -> WinogradCut:
    """The blocks of tiles and the panels of output channels for F(2, 3) or F(4, 3) (``size`` 2 or 4).

    Blocks are as small as TASKS want them, but large enough for the weights, which are read once for each block, and no
    larger than the cache allows. A few blocks are 2 or 4, which threads share evenly, rather than 3 or 5. Where there
    are too few, output channels fall into groups; a single block is cut into two at any price.

    >>> from kuiper.machine import REPRODUCIBLE
    >>> cut_winograd(REPRODUCIBLE, 1, 56, 56, 64, 64, size=4).tiles
    196
    """
    tiles = images * -(-out_h // size) * -(-out_w // size)
    positions, lanes = _positions(size, stride), machine.lanes
    vectors, depth = -(-out_channels // lanes), -(-channels // lanes) * lanes
    far = _matrices(size) * channels * vectors * lanes > near_floats(machine)
    wanted = max(MIN_FAR if far else MIN_NEAR, -(-tiles // TASKS))
    most = max(1, block_floats(machine) // (positions * (depth + min(vectors, MAX_VECTORS) * lanes)))
    limit = min(most, wanted * 3 // 2)
    blocks = next((few for few in (1, 2, 4, TASKS) if -(-tiles // few) <= limit), -(-tiles // limit))
    block = -(-tiles // blocks)
    width = winograd_panel(machine, block, vectors, channels)
    panels = max(-(-vectors // width), 2 if blocks == 1 and vectors > 1 else 1)
    groups = 1
    while blocks * groups < TASKS and 2 * groups <= panels:
        if blocks * groups > 1 and 2 * groups * GROUP_CHANNELS > vectors * lanes:
            break
        groups *= 2
    return WinogradCut(size, stride, tiles, block, panels, groups)


def winograd_panel(machine: Machine, block: int, vectors: int, channels: int) -> int:
    """Vectors of a panel: those that take the fewest cycles for each.

    >>> from kuiper.machine import REPRODUCIBLE
    >>> 1 <= winograd_panel(REPRODUCIBLE, 25, 8, 64) <= MAX_VECTORS
    True
    """
    widths = range(1, min(vectors, MAX_VECTORS) + 1)
    return min(widths, key=lambda width: (pixel_cycles(machine, block, width, channels) / width, -width))


def winograd_cost(machine: Machine, cut: WinogradCut, channels: int, out_channels: int) -> float:
    """Cycles that Winograd's convolution will take on one thread.

    >>> from kuiper.engine.cost import direct_cost, panel_widths
    >>> from kuiper.machine import REPRODUCIBLE as machine
    >>> winograd = winograd_cost(machine, cut_winograd(machine, 1, 56, 56, 64, 64, size=4), 64, 64)
    >>> widths = panel_widths(machine, 64 // machine.lanes, 56 * 56, 9 * 64)
    >>> winograd < direct_cost(machine, 56 * 56, widths, 9 * 64)
    True
    """
    lanes, vectors = machine.lanes, -(-out_channels // machine.lanes)
    blocks = -(-cut.tiles // cut.block)
    width = -(-vectors // cut.panels)
    cycles = cut.positions * blocks * vectors / width * pixel_cycles(machine, cut.block, width, channels)
    weights = cut.matrices * channels * vectors * lanes
    kind = cut.stride, cut.size
    operations = OPERATIONS / 2 if machine.splits_avx512 else OPERATIONS
    transform = TRANSFORM_OPERATIONS[kind] / operations + TRANSFORM_MOVES[kind] * lanes * 4 / NEAR_BYTES
    inputs, outputs = -(-channels // lanes) * cut.panel_groups, vectors
    transforms = cut.tiles * transform * (INPUT_SHARE * inputs + (1 - INPUT_SHARE) * outputs)
    image = cut.tiles * (cut.stride * cut.size) ** 2 * -(-channels // lanes) * lanes
    if image > second_level_floats(machine):
        transforms += 4 * image / TILED_BYTES
    return together(cycles, weights * (blocks if weights > near_floats(machine) else 1)) + transforms
