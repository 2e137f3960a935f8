"""How long the products of a convolution will take: what the planner chooses an algorithm and cuts panels by.

A cost is a number of the core's clock cycles, on one thread. It is a sum of three things:

    arithmetic   vector operations of the products and of Winograd's transforms (``winograd_cost.py``)
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
from dataclasses import replace
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
UNHIDDEN_WEIGHTS = 0.3  # the part of the shorter of arithmetic and weights that does not hide behind the longer


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


def together(cycles: float, floats: float) -> float:
    """Cycles of arithmetic and of weights that come from afar meanwhile."""
    weights = 4 * floats / FAR_BYTES
    return max(cycles, weights) + UNHIDDEN_WEIGHTS * min(cycles, weights)
