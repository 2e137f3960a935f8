"""How long a convolution will take by each of the engine's algorithms: what the planner chooses by.

A cost is a number of the core's clock cycles, on one thread. It is a sum of three things:

    arithmetic   vector operations of the products and of Winograd's transforms
    calls        what each tile spends on finding its pixels, and on starting and storing its sums
    weights      those that come from beyond the second-level cache, in every run of the network: other layers' weights
                 have pushed them out. They come while the products run (the tile asks for them ahead), so the longer
                 of the two counts, and a part of the other

Nothing is timed when a model is loaded, so the same machine gives a model the same plan, and the same bits, each time.
What differs from one build to another (lanes, registers) is taken from the build, what differs from one machine to
another in steps of two (the second-level cache) from the operating system. The constants below are ratios: operations
per cycle and bytes per cycle, which modern cores have much the same. docs/engine.md tells where each comes from.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from kuiper.engine.kernels.convolution import LANES, MOST_ROWS
from kuiper.machine import this_machine


def second_level_floats() -> int:
    return this_machine().l2 // 4


MAX_VECTORS = len(MOST_ROWS)

# What a core does in a cycle: multiply-adds of vectors, operations of any kind with vectors, and loads; most of the
# tile's are of single numbers.
_PARTS = 2.0 if this_machine().splits_avx512 else 1.0
PRODUCTS, OPERATIONS, LOADS = 2.0 / _PARTS, 4.0 / _PARTS, 2.0
LATENCY = 4.0  # cycles until a sum is ready for its next term
POINTERS = 9  # rows whose pointers stay in registers; the others are loaded in each step
UNHIDDEN_LOADS = 1 / 8  # the part of the loads' time that multiply-adds do not hide
SUM_CYCLES = 3.5  # to start and to store one vector of sums
TILE_CYCLES = 30.0  # to find the pixels of a tile, and to call it

# Bytes per cycle: from the second-level cache, and from beyond it while products run.
NEAR_BYTES, FAR_BYTES = 20.0, 6.0
TILED_BYTES = 2.0  # of an image beyond that cache, of which each of Winograd's tiles takes some pixels of several rows
COPY_BYTES, MAP_BYTES = 5.5, 11.0  # read and written: where the order changes, and where it stays
UNHIDDEN_WEIGHTS = 0.3  # the part of the shorter of arithmetic and weights that does not hide behind the longer

# One vector of a tile of Winograd's, by stride and size of tiles: operations of both transforms (loads and stores among
# them), and vectors that they move between caches.
TRANSFORM_OPERATIONS = {(1, 2): 64 + 52, (1, 4): 288 + 215, (2, 2): 80 + 72, (2, 4): 342 + 337}
TRANSFORM_MOVES = {(1, 2): 20 + 24, (1, 4): 52 + 68, (2, 2): 41 + 33, (2, 4): 145 + 113}
INPUT_SHARE = 0.55  # of a transform, the input's: done once for each group of panels

LEAST_NEAR, LEAST_FAR = 12, 32  # tiles of a block; with fewer, far weights would take longer than the products
TASKS = 8  # of a layer, if it is large enough: 2 to 16 threads then share it evenly
GROUP_CHANNELS = 192  # of a group, at least: each group transforms the inputs again, 5 % of the products for so many


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


def near_floats() -> int:
    """Weights up to this size, half of the second-level cache, stay there from block to block."""
    return second_level_floats() // 2


def many_weights() -> int:
    """Weights of this size and more, a quarter of the cache, push the image out: a panel then serves many pixels."""
    return second_level_floats() // 4


def block_floats() -> int:
    """V of a block and M of a panel: they may fill most of the cache, being used again at once."""
    return second_level_floats() * 3 // 4


def tile_cycles(rows: int, vectors: int) -> float:
    """Cycles of one step of a tile: its multiply-adds, or its loads, or until the sums of the last step are ready.

    A step loads a number of each row, its vectors of weights, and a line that will be needed later.

    >>> tile_cycles(6, 2) < tile_cycles(12, 1) and tile_cycles(1, 1) == tile_cycles(2, 1)
    True
    """
    loads = (rows + vectors + 1 + max(0, rows - POINTERS)) / LOADS
    products = rows * vectors / PRODUCTS
    return max(products + UNHIDDEN_LOADS * loads, loads, LATENCY)


def tile_sizes(pixels: int, vectors: int) -> list[tuple[int, int]]:
    """Tiles as even as possible, as (how many, of how many rows).

    >>> sum(count * rows for count, rows in tile_sizes(100, 2))
    100
    """
    tiles = -(-pixels // MOST_ROWS[vectors - 1])
    rows, larger = divmod(pixels, tiles)
    return [(larger, rows + 1), (tiles - larger, rows)]


@functools.lru_cache(4096)
def pixel_cycles(pixels: int, vectors: int, steps: int) -> float:
    """Cycles of a panel of so many vectors for so many pixels, each a sum of ``steps`` products."""
    own = SUM_CYCLES * vectors
    return sum(
        tiles * (steps * tile_cycles(rows, vectors) + rows * own + TILE_CYCLES)
        for tiles, rows in tile_sizes(pixels, vectors)
        if tiles
    )


def panel_widths(vectors: int, pixels: int, steps: int) -> list[int]:
    """How many vectors each panel gets, for the fewest cycles; the widest first.

    >>> sum(panel_widths(9, pixels=1000, steps=576))
    9
    """
    return list(_panel_widths(vectors, pixels, steps))


@functools.lru_cache(4096)  # each walk over a graph asks again, and so does packing
def _panel_widths(vectors: int, pixels: int, steps: int) -> tuple[int, ...]:
    costs = {width: pixel_cycles(pixels, width, steps) for width in range(1, MAX_VECTORS + 1)}
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for total in range(1, vectors + 1):
        best.append(min((best[total - w][0] + costs[w], [*best[total - w][1], w]) for w in costs if w <= total))
    return tuple(sorted(best[vectors][1], reverse=True))


def direct_cost(pixels: int, widths: list[int], steps: int) -> float:
    """Cycles of ``kernels/convolution.pyx``: panels of these widths over so many pixels, sums of ``steps`` products.

    >>> direct_cost(100, [2], 64) < direct_cost(100, [2, 2], 64)
    True
    """
    cycles = sum(pixel_cycles(pixels, width, steps) for width in widths)
    return together(cycles, steps * sum(widths) * LANES)


def _positions(size: int, stride: int) -> int:
    return (stride * (size - 1) + 3) ** 2


def _matrices(size: int) -> int:
    return (size + 2) ** 2


def cut_winograd(
    images: int, out_h: int, out_w: int, channels: int, out_channels: int, size: int, stride: int = 1
) -> WinogradCut:
    """The blocks of tiles and the panels of output channels for F(2, 3) or F(4, 3) (``size`` 2 or 4).

    Blocks are as small as TASKS want them, but large enough for the weights, which are read once for each block, and no
    larger than the cache allows. A few blocks are 2 or 4, which threads share evenly, rather than 3 or 5. Where there
    are too few, output channels fall into groups; a single block is cut into two at any price.

    >>> cut_winograd(1, 56, 56, 64, 64, size=4).tiles
    196
    """
    tiles = images * -(-out_h // size) * -(-out_w // size)
    positions = _positions(size, stride)
    vectors, depth = -(-out_channels // LANES), -(-channels // LANES) * LANES
    far = _matrices(size) * channels * vectors * LANES > near_floats()
    wanted = max(LEAST_FAR if far else LEAST_NEAR, -(-tiles // TASKS))
    most = max(1, block_floats() // (positions * (depth + min(vectors, MAX_VECTORS) * LANES)))
    limit = min(most, wanted * 3 // 2)
    blocks = next((few for few in (1, 2, 4, TASKS) if -(-tiles // few) <= limit), -(-tiles // limit))
    block = -(-tiles // blocks)
    panels = max(-(-vectors // winograd_panel(block, vectors, channels)), 2 if blocks == 1 and vectors > 1 else 1)
    groups = 1
    while blocks * groups < TASKS and 2 * groups <= panels:
        if blocks * groups > 1 and 2 * groups * GROUP_CHANNELS > vectors * LANES:
            break
        groups *= 2
    return WinogradCut(size, stride, tiles, block, panels, groups)


def winograd_panel(block: int, vectors: int, channels: int) -> int:
    """Vectors of a panel: those that take the fewest cycles for each.

    >>> 1 <= winograd_panel(25, 8, 64) <= MAX_VECTORS
    True
    """
    widths = range(1, min(vectors, MAX_VECTORS) + 1)
    return min(widths, key=lambda width: (pixel_cycles(block, width, channels) / width, -width))


def winograd_cost(cut: WinogradCut, channels: int, out_channels: int) -> float:
    """Cycles that Winograd's convolution will take on one thread.

    >>> widths = panel_widths(-(-64 // LANES), 56 * 56, 9 * 64)
    >>> winograd_cost(cut_winograd(1, 56, 56, 64, 64, size=4), 64, 64) < direct_cost(56 * 56, widths, 9 * 64)
    True
    """
    vectors = -(-out_channels // LANES)
    blocks = -(-cut.tiles // cut.block)
    width = -(-vectors // cut.panels)
    cycles = cut.positions * blocks * vectors / width * pixel_cycles(cut.block, width, channels)
    weights = cut.matrices * channels * vectors * LANES
    kind = cut.stride, cut.size
    transform = TRANSFORM_OPERATIONS[kind] / OPERATIONS + TRANSFORM_MOVES[kind] * LANES * 4 / NEAR_BYTES
    inputs, outputs = -(-channels // LANES) * cut.panel_groups, vectors
    transforms = cut.tiles * transform * (INPUT_SHARE * inputs + (1 - INPUT_SHARE) * outputs)
    image = cut.tiles * (cut.stride * cut.size) ** 2 * -(-channels // LANES) * LANES
    if image > second_level_floats():
        transforms += 4 * image / TILED_BYTES
    return together(cycles, weights * (blocks if weights > near_floats() else 1)) + transforms


def together(cycles: float, floats: float) -> float:
    """Cycles of arithmetic and of weights that come from afar meanwhile."""
    weights = 4 * floats / FAR_BYTES
    return max(cycles, weights) + UNHIDDEN_WEIGHTS * min(cycles, weights)
