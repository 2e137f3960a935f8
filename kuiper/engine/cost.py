"""How long a convolution will take by each of the engine's algorithms: what the planner chooses by.

A cost is a number of the core's clock cycles, on one thread. It is a sum of three things:

    arithmetic   vector operations of the products and of Winograd's transforms
    calls        what each tile spends on finding its pixels, and on starting and storing its sums
    weights      those that come from beyond the second-level cache, in every run of the network: other layers' weights
                 have pushed them out. They come while the products run (the tile asks for them ahead), so the longer
                 of the two counts, and a part of the other

Nothing is timed when a model is loaded, so the same machine gives a model the same plan, and the same bits, each time.
All that differs from one machine to another is in the ``Machine`` that each function takes: its second-level cache, and
the size and number of its vectors. So a machine that is only stated, with other vectors than those of the kernels, has
costs, too: an algorithm is chosen by the machine, and then cut for the kernels that there are (``for_kernels``). The
constants below are ratios: operations per cycle and bytes per cycle, which modern cores have much the same.
Where each comes from stands beside it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kuiper.engine.kernels.convolution import LANES, TILE_ROWS
from kuiper.machine.build import REGISTERS

if TYPE_CHECKING:
    from kuiper.machine import Machine

MAX_VECTORS = len(TILE_ROWS)
MAX_ROWS = max(TILE_ROWS)

# What a core does in a cycle: multiply-adds of vectors, operations of any kind with vectors, and loads; most of the
# tile's are of single numbers. Of the first two, a core that splits its vectors does half. At least this many do x86
# cores since 2013 and arm64 cores since 2017.
PRODUCTS, OPERATIONS, LOADS = 2.0, 4.0, 2.0
LATENCY = 4.0  # cycles until a sum is ready for its next term: 4 on Zen, Skylake and Neoverse, 3 on Apple's

# Tiles of every size, timed on the AVX2 build: 12 x 1 reaches 70 % of the peak, 10 x 1 84 %, 6 x 2 all of it; the
# formula gives 69, 75 and 92.
POINTERS = 9  # rows whose pointers stay in registers; the others are loaded in each step
UNHIDDEN_LOADS = 1 / 8  # the part of the loads' time that multiply-adds do not hide
FEW_SUMS = 1.35  # a tile with hardly more sums than wait for each other takes this many times as long (3 x 3 on AVX2)

# What is left of the time of layers with few channels.
SUM_CYCLES = 3.5  # to start and to store one vector of sums
TILE_CYCLES = 30.0  # to find the pixels of a tile, and to call it

# Bytes per cycle: from the second-level cache (Winograd's transforms, 330 cycles with AVX2, 430 with AVX-512), and from
# beyond it while products run (5 on a Xeon, 8 on a Zen 4).
NEAR_BYTES, FAR_BYTES = 20.0, 6.0

# Of an image beyond that cache, of which each of Winograd's tiles takes some pixels of several rows: between 1 and 3.5
# on images of 6 and 13 MB, on a machine with other work to do.
TILED_BYTES = 2.0
UNHIDDEN_WEIGHTS = 0.3  # the part of the shorter of arithmetic and weights that does not hide behind the longer

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


@functools.cache
def for_kernels(machine: Machine) -> Machine:
    """The machine with the vectors that the kernels of this build have: what layers are cut for."""
    return replace(machine, lanes=LANES, registers=REGISTERS, splits_avx512=machine.splits_avx512 and LANES == 16)


def second_level_floats(machine: Machine) -> int:
    """float32 numbers that one core's second-level cache holds."""
    return machine.l2 // 4


def near_floats(machine: Machine) -> int:
    """Weights up to this size, half of the second-level cache, stay there from block to block."""
    return second_level_floats(machine) // 2


def many_weights(machine: Machine) -> int:
    """Weights of this size and more, a quarter of the cache, push the image out: a panel then serves many pixels."""
    return second_level_floats(machine) // 4


def block_floats(machine: Machine) -> int:
    """V of a block and M of a panel: they may fill most of the cache, being used again at once."""
    return second_level_floats(machine) * 3 // 4


def products_per_cycle(machine: Machine) -> float:
    """Multiply-adds of vectors that a core does in a cycle."""
    return PRODUCTS / 2 if machine.splits_avx512 else PRODUCTS


def max_rows(machine: Machine, vectors: int) -> int:
    """Rows of the largest tile of this many vectors: its sums, weights and numbers fit the registers (``tile.pxd``).

    >>> from kuiper.machine import REPRODUCIBLE
    >>> [max_rows(REPRODUCIBLE, vectors) for vectors in (1, 2, 3, 4)]
    [12, 6, 3, 2]
    """
    is_arm = machine.registers == 32 and machine.lanes <= 4  # where each row has a register for four of its numbers
    fitting = (machine.registers - vectors) // (vectors + 1) if is_arm else (machine.registers - 2 - vectors) // vectors
    return min(fitting, MAX_ROWS)


def panel_rows(machine: Machine, vectors: int) -> int:
    """Rows of the largest tile that reads a panel of this many vectors; panels of four are read by halves where
    16 registers have no room for four vectors and many rows (``kuiper_tile_by_halves`` in ``tile.h``).

    >>> from kuiper.machine import REPRODUCIBLE
    >>> [panel_rows(REPRODUCIBLE, vectors) for vectors in (1, 2, 3, 4)]
    [12, 6, 3, 6]
    """
    return max_rows(machine, 2 if machine.registers == 16 and vectors == 4 else vectors)


def tile_cycles(machine: Machine, rows: int, vectors: int) -> float:
    """Cycles of one step of a tile: its multiply-adds, or its loads, or until the sums of the last step are ready.

    A step loads a number of each row, its vectors of weights, and a line that will be needed later.

    >>> from kuiper.machine import REPRODUCIBLE as machine
    >>> tile_cycles(machine, 6, 2) < tile_cycles(machine, 12, 1)
    True
    """
    loads = (rows + vectors + 1 + max(0, rows - POINTERS)) / LOADS
    products = rows * vectors / products_per_cycle(machine)
    return max(products + UNHIDDEN_LOADS * loads, loads, LATENCY)


def tile_sizes(machine: Machine, pixels: int, vectors: int) -> list[tuple[int, int]]:
    """Tiles as even as possible, as (how many, of how many rows).

    >>> from kuiper.machine import REPRODUCIBLE
    >>> sum(count * rows for count, rows in tile_sizes(REPRODUCIBLE, 100, 2))
    100
    """
    tiles = -(-pixels // max_rows(machine, vectors))
    rows, larger = divmod(pixels, tiles)
    return [(larger, rows + 1), (tiles - larger, rows)]


@functools.lru_cache(4096)
def pixel_cycles(machine: Machine, pixels: int, vectors: int, steps: int) -> float:
    """Cycles of a panel of this many vectors for this many pixels, each a sum of ``steps`` products."""
    own = SUM_CYCLES * vectors
    return sum(
        tiles * (steps * tile_cycles(machine, rows, vectors) + rows * own + TILE_CYCLES)
        for tiles, rows in tile_sizes(machine, pixels, vectors)
        if tiles
    )


def panel_widths(machine: Machine, vectors: int, pixels: int, steps: int) -> list[int]:
    """How many vectors each panel gets, for the fewest cycles; the widest first.

    >>> from kuiper.machine import REPRODUCIBLE
    >>> sum(panel_widths(REPRODUCIBLE, 9, pixels=1000, steps=576))
    9
    """
    return list(_panel_widths(machine, vectors, pixels, steps))


@functools.lru_cache(4096)  # each walk over a graph asks again, and so does packing
def _panel_widths(machine: Machine, vectors: int, pixels: int, steps: int) -> tuple[int, ...]:
    costs = {width: pixel_cycles(machine, pixels, width, steps) for width in range(1, MAX_VECTORS + 1)}
    for width in costs:
        if LATENCY < max_rows(machine, width) * width / products_per_cycle(machine) < LATENCY * 5 / 4:
            costs[width] *= FEW_SUMS
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for total in range(1, vectors + 1):
        best.append(min((best[total - w][0] + costs[w], [*best[total - w][1], w]) for w in costs if w <= total))
    return tuple(sorted(best[vectors][1], reverse=True))


def direct_cost(machine: Machine, pixels: int, widths: list[int], steps: int) -> float:
    """Cycles of ``kernels/convolution.pyx``: panels of these widths over this many pixels, sums of ``steps`` products.

    >>> from kuiper.machine import REPRODUCIBLE as machine
    >>> direct_cost(machine, 100, [2], 64) < direct_cost(machine, 100, [2, 2], 64)
    True
    """
    cycles = sum(pixel_cycles(machine, pixels, width, steps) for width in widths)
    return together(cycles, steps * sum(widths) * machine.lanes)


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


def together(cycles: float, floats: float) -> float:
    """Cycles of arithmetic and of weights that come from afar meanwhile."""
    weights = 4 * floats / FAR_BYTES
    return max(cycles, weights) + UNHIDDEN_WEIGHTS * min(cycles, weights)
