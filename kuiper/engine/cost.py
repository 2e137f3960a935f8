"""How long a 3 x 3 convolution will take by each of the engine's algorithms: what the planner chooses by.

A cost is a sum of three things, in nanoseconds on one thread:

    arithmetic   vector operations of the products and of Winograd's transforms, at the rate of the core
    calls        what each tile spends on starting and storing its sums
    weights      bytes that come from beyond the second-level cache, in every run of the network: other layers' weights
                 have pushed them out. They come while the products run (the tile asks for them ahead), so the longer
                 of the two counts, and a part of the other

The constants were measured on one machine (AVX-512, 3.6 GHz, 2 MB of second-level cache); arithmetic scales with the
width of a vector. Elsewhere the absolute numbers are wrong, but the choice rarely is: only ratios matter. Nothing is
measured when a model is loaded, so the same model gets the same plan, and the same bits, each time.
"""

from __future__ import annotations

from dataclasses import dataclass

from kuiper.engine.kernels.convolution import LANES, MOST_ROWS

MAX_VECTORS = len(MOST_ROWS)

CYCLES_PER_NS = 3.6  # the clock under vector load
PRODUCTS_PER_CYCLE = 1.75  # multiply-adds of vectors; the peak is 2
STORE_CYCLES = 3.5  # to start and to store one vector of sums
TRANSFORM_CYCLES = {2: (95.0, 65.0), 4: (240.0, 190.0)}  # one vector of a tile: its input, its output
FAR_BYTES_PER_NS = 18.0  # weights from beyond the second-level cache, while products run
UNHIDDEN = 0.3  # the part of the shorter of arithmetic and weights that does not hide behind the longer

NEAR_FLOATS = 256 << 10  # weights up to this size, half of the second-level cache, stay there from block to block
BLOCK_FLOATS = 320 << 10  # V of a block and M of a panel: they may fill a little more, being used again at once
LEAST_NEAR, LEAST_FAR = 12, 32  # tiles of a block; with fewer, far weights would take longer than the products
TASKS = 8  # of a layer, if it is large enough: 2 to 16 threads then share it evenly
GROUP_CHANNELS = 192  # of a group, at least: each group transforms the inputs again, 5 % of the products for so many


@dataclass(frozen=True, slots=True)
class WinogradCut:
    """How ``kernels/winograd.pyx`` cuts a layer: its fields of the same names, and the size of its tiles.

    ``tiles`` counts all tiles of all images.
    """

    size: int
    tiles: int
    block: int
    panels: int
    panel_groups: int


def cut_winograd(images: int, out_h: int, out_w: int, channels: int, out_channels: int, size: int) -> WinogradCut:
    """The blocks of tiles and the panels of output channels for F(2, 3) or F(4, 3) (``size`` 2 or 4).

    Blocks are as small as TASKS want them, but large enough for the weights, which are read once for each block, and no
    larger than the cache allows. A few blocks are 2 or 4, which threads share evenly, rather than 3 or 5. Where there
    are too few, output channels fall into groups; a single block is cut into two at any price.

    >>> cut_winograd(1, 56, 56, 64, 64, size=4).tiles
    196
    """
    tiles = images * -(-out_h // size) * -(-out_w // size)
    positions = (size + 2) ** 2
    vectors, depth = -(-out_channels // LANES), -(-channels // LANES) * LANES
    far = positions * channels * vectors * LANES > NEAR_FLOATS
    wanted = max(LEAST_FAR if far else LEAST_NEAR, -(-tiles // TASKS))
    most = max(1, BLOCK_FLOATS // (positions * (depth + min(vectors, MAX_VECTORS) * LANES)))
    limit = min(most, wanted * 3 // 2)
    blocks = next((few for few in (1, 2, 4, TASKS) if -(-tiles // few) <= limit), -(-tiles // limit))
    block = -(-tiles // blocks)
    panels = -(-vectors // panel_width(block, vectors))
    groups = 1
    while blocks * groups < TASKS and 2 * groups <= panels:
        if blocks * groups > 1 and 2 * groups * GROUP_CHANNELS > vectors * LANES:
            break
        groups *= 2
    return WinogradCut(size, tiles, block, panels, groups)


def panel_width(block: int, vectors: int) -> int:
    """Vectors of a panel: as many as there are passes over its weights, for each pass asks for one more line ahead."""
    for width in range(MAX_VECTORS, 2, -1):
        if -(-block // MOST_ROWS[width - 1]) >= width:
            return min(width, vectors)
    return min(2, vectors)


def winograd_cost(cut: WinogradCut, channels: int, out_channels: int) -> float:
    """Nanoseconds that Winograd's convolution will take on one thread.

    >>> winograd_cost(cut_winograd(1, 56, 56, 64, 64, size=4), 64, 64) < direct_cost(1, 56, 56, 64, 64)
    True
    """
    positions = (cut.size + 2) ** 2
    vectors = -(-out_channels // LANES)
    blocks = -(-cut.tiles // cut.block)
    sums = cut.tiles * positions * vectors
    cycles = sums * (channels / PRODUCTS_PER_CYCLE + STORE_CYCLES)
    weights = positions * channels * vectors * LANES
    into, out_of = TRANSFORM_CYCLES[cut.size]
    transforms = cut.tiles * (-(-channels // LANES) * into * cut.panel_groups + vectors * out_of)
    return together(cycles, weights * (blocks if weights > NEAR_FLOATS else 1)) + transforms / CYCLES_PER_NS


def direct_cost(images: int, out_h: int, out_w: int, channels: int, out_channels: int) -> float:
    """Nanoseconds that ``kernels/convolution.pyx`` will take for a 3 x 3 kernel on one thread."""
    vectors = -(-out_channels // LANES)
    sums = images * out_h * out_w * vectors
    return together(sums * (9 * channels / PRODUCTS_PER_CYCLE + STORE_CYCLES), 9 * channels * vectors * LANES)


def together(cycles: float, floats: float) -> float:
    """Nanoseconds of arithmetic and of weights that come from afar meanwhile."""
    arithmetic, weights = cycles / CYCLES_PER_NS, 4 * floats / FAR_BYTES_PER_NS
    return max(arithmetic, weights) + UNHIDDEN * min(arithmetic, weights)
