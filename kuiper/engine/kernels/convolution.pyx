"""Convolution on channels-last images without im2col: the tile of tile.pxd slid over the output pixels.

    image   (n, in_h, in_w, channels), ``in_pixel`` floats from pixel to pixel      out   (n, out_h, out_w, channels), likewise

    output pixels in order, ``rows`` at a time          weights in panels of at most 4 vectors of output channels
    +--+--+--+--+--+--+--+--+--+--+--+--+ ...           +-----------+-----------+-----------+
    |  |  |  |  |  |  |  |  |  |  |  |  |               | panel 0   | panel 1   | panel 2   |  each [taps][depth][vectors * LANES]
    +--+--+--+--+--+--+--+--+--+--+--+--+               +-----------+-----------+-----------+
    '--- tile 0 ---''--- tile 1 ---'

For each tile a small table of pointers says where under each tap each pixel's channels begin, or points to a row of zeros where
that is outside of the image (convolution_table.pxd). The tile then runs through taps and channels without a question, once for
each panel.

A task is a block of pixels times a group of panels. Each sum is made by one task in one order: taps, then channels.

Source: M. Dukhan, "The Indirect Convolution Algorithm", 2019.
"""

import numpy as np

from kuiper.engine.step import rows_needed

from kuiper.engine.kernels.convolution_table cimport (
    Geometry, Panel, Table, Work, go_to, place, put_back, set_aside,
)
from kuiper.engine.step cimport Memory, RowWise, Step
from kuiper.engine.tile cimport LINE_BYTES, MAX_ROWS, TileWork, max_rows, rows_for, share_of, tile
from kuiper.simd.activations cimport CLIP, NONE, activate
from kuiper.simd.vector cimport LANES as LANES_OF_BUILD

cdef enum:
    SOON = 1024  # floats: as far ahead as weights are asked for that are read but once

LANES = LANES_OF_BUILD
TILE_ROWS = [rows_for(vectors) for vectors in range(1, 5)]

cdef class Convolution(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers
    weights : packed, one panel behind the other
    bias : one for each output channel, whole vectors
    panels : int64 (panels, 4): vectors, first output channel, first input channel, offset of the weights
    """

    cdef Work work

    def __init__(self, dict numbers, const float[::1] weights, const float[::1] bias, const Py_ssize_t[:, ::1] panels):
        cdef Work* work = &self.work
        cdef Geometry* g = &work.geometry
        cdef Py_ssize_t[::1] offset
        cdef Py_ssize_t[:, ::1] needed
        g[0] = numbers
        work.pixels = g.images * g.out_h * g.out_w
        work.blocks = (work.pixels + g.block - 1) // g.block
        work.taps = g.kernel_h * g.kernel_w
        work.dense = (
            work.taps == g.stride_h == g.stride_w == 1 and g.pad_top == g.pad_left == 0
            and (g.in_h, g.in_w) == (g.out_h, g.out_w)
            and (g.in_row, g.in_image) == (g.in_w * g.in_pixel, g.in_h * g.in_w * g.in_pixel)
            and (g.out_row, g.out_image) == (g.out_w * g.out_pixel, g.out_h * g.out_w * g.out_pixel)
        )
        offset = np.add.outer(
            np.arange(g.kernel_h, dtype=np.intp) * g.dilation_h * g.in_row,
            np.arange(g.kernel_w, dtype=np.intp) * g.dilation_w * g.in_pixel,
        ).reshape(-1)
        work.weights = work.next_weights = self.weights = &weights[0]
        self.weight_floats = weights.shape[0]
        work.bias = &bias[0]
        work.panel = <const Panel*> &panels[0, 0]
        work.offset = &offset[0]
        reach = (g.kernel_h - 1) * g.dilation_h + 1
        needed = rows_needed(g.images, g.out_h, g.stride_h, g.pad_top, reach, g.in_h)
        self.rows = RowWise(convolve_rows, g.images * g.out_h, &needed[0, 0])
        self.keeps = (weights, bias, panels, offset, needed)
        self.numbers = work
        self.run = convolve
        self.tasks = work.blocks * g.panel_groups
        self.scratch_floats = work.taps * MAX_ROWS * (sizeof(void*) // sizeof(float))
        if g.rest:
            self.scratch_floats += MAX_ROWS * g.out_pixel

    cdef void announce(self, const float* weights, Py_ssize_t floats) noexcept:
        if weights != NULL:
            self.work.next_weights = weights
            self.work.next_bytes = <double> floats / (self.work.pixels * self.work.geometry.panels)
            self.work.next_bytes *= sizeof(float) / <double> (self.work.taps * self.work.geometry.depth)


cdef void convolve(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One block of pixels for one group of panels."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t group = task // work.blocks, first = task % work.blocks * g.block
    cdef Py_ssize_t first_panel = group * g.panels // g.panel_groups, end_panel = (group + 1) * g.panels // g.panel_groups
    convolve_block(work, first, min(first + g.block, work.pixels), first_panel, end_panel, memory)


cdef void convolve_rows(const void* numbers, Py_ssize_t first, Py_ssize_t end, const Memory* memory) noexcept nogil:
    """Some rows, all panels."""
    cdef const Work* work = <const Work*> numbers
    cdef Py_ssize_t out_w = work.geometry.out_w
    convolve_block(work, first * out_w, end * out_w, 0, work.geometry.panels, memory)


cdef void convolve_block(
    const Work* work, Py_ssize_t first, Py_ssize_t last, Py_ssize_t first_panel, Py_ssize_t end_panel, const Memory* memory
) noexcept nogil:
    """Pixels first .. last for some panels, in tiles that differ by at most one row."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t tiles, index, pixel = first, panel, longer, first_channel, end_channel
    cdef int most = MAX_ROWS, fewest, rows
    cdef Table table
    cdef const float** residual = table.residual if g.residual >= 0 else NULL
    cdef float* spare = <float*> (<const float**> memory.scratch + work.taps * MAX_ROWS)
    cdef TileWork tiled
    table.pointers = <const float**> memory.scratch
    go_to(g, first, &table)
    tiled.taps, tiled.depth = work.taps, g.depth
    tiled.clamps = g.activation == CLIP
    tiled.low, tiled.high = g.alpha, g.beta
    first_channel = work.panel[first_panel].out_channel
    end_channel = work.panel[end_panel - 1].out_channel + work.panel[end_panel - 1].vectors * LANES_OF_BUILD
    for panel in range(first_panel, end_panel):
        most = min(most, max_rows(<int> work.panel[panel].vectors, last - first))
    tiles = (last - first + most - 1) // most
    fewest = <int> ((last - first) // tiles)
    longer = last - first - fewest * tiles
    for index in range(tiles):
        rows = fewest + (index < longer)
        place(work, pixel, rows, memory, &table)
        if g.rest:
            set_aside(work, pixel, rows, spare, &table)
        for panel in range(first_panel, end_panel):
            tiled.weights = work.weights + work.panel[panel].weights
            tiled.bias = work.bias + work.panel[panel].out_channel
            tiled.in_channel, tiled.out_channel = work.panel[panel].in_channel, work.panel[panel].out_channel
            look_ahead(work, panel, pixel, rows, index, tiles, &tiled)
            tile(rows, <int> work.panel[panel].vectors, &tiled, table.pointers, residual, table.out)
        if g.activation != CLIP and g.activation != NONE:
            activate_rows(work, first_channel, end_channel, rows, &table)
        if g.rest:
            put_back(work, first_channel, end_channel, rows, &table)
        pixel += rows


cdef inline void look_ahead(
    const Work* work, Py_ssize_t panel, Py_ssize_t pixel, int rows, Py_ssize_t index, Py_ssize_t tiles, TileWork* tiled
) noexcept nogil:
    """What tile ``index`` of a block's ``tiles`` asks for while it computes.

    If the weights do not fit the cache, that is the panel behind its own, from this tile's part of it on; or, where a single
    tile does all pixels and reads each weight once, what it will read soon. Otherwise it is its part of the next step's
    weights, and no more.
    """
    cdef const Geometry* g = &work.geometry
    cdef int vectors = <int> work.panel[panel].vectors
    cdef Py_ssize_t steps = work.taps * g.depth, done
    if g.far_weights:
        done = SOON if rows == work.pixels else (steps + steps * index // tiles) * vectors * LANES_OF_BUILD
        tiled.ahead = tiled.weights + done
        tiled.ahead_bytes = min(share_of(vectors, 1), <Py_ssize_t> LINE_BYTES)
    else:
        done = panel * work.pixels + pixel if g.panel_groups > 1 else pixel * g.panels + panel * rows
        tiled.ahead = <const char*> work.next_weights + <Py_ssize_t> (done * steps * work.next_bytes)
        tiled.ahead_bytes = min(<Py_ssize_t> (rows * work.next_bytes) + 1, <Py_ssize_t> LINE_BYTES)


cdef inline void activate_rows(
    const Work* work, Py_ssize_t first, Py_ssize_t end, int rows, const Table* table
) noexcept nogil:
    """The activation of channels of a tile, while it is in the first-level cache; in one go if nothing lies between."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t columns = end - first
    cdef int i
    if columns == g.out_pixel and not g.rest and table.out[rows - 1] - table.out[0] == (rows - 1) * columns:
        activate(table.out[0] + first, rows * columns, g.activation, g.alpha, g.beta)
        return
    for i in range(rows):
        activate(table.out[i] + first, columns, g.activation, g.alpha, g.beta)
