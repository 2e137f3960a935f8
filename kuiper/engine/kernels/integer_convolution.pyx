"""Convolutions and matrix products of bytes: exact sums of 32 bits, which stay as they are, become bytes again, or floats.

    x (bytes)  ---- spread ---->  [a block of the padded image, as the tile reads it]
                                        |  rows: pixels of the output                    panel of weights
                                        '-------------- tile (integer_tile.pxd) ---------------'
                                                              |
    out (bytes)   <---- scale, round, saturate -------------  sums
    out (floats)  <---- scale, bias, activation ------------  sums
    out (int32)   <-----------------------------------------  sums

A task is a block of output pixels times a group of panels. It first spreads the bytes under its block, with the border around
them, into memory that the second-level cache holds: a border is the zero point there, so the tile knows nothing of it, and
neither of strides. Bytes under a kernel of 1 x 1 that are as the tile reads them stay where they are. Where the kernel is not
dilated, a row of it is one run of kernel_w * channels numbers, else each tap is a run of its own. Panels are the outer loop and
pixels are the inner one, so that a panel is read from afar once for each task.
Where all panels fit the first-level cache, only some pixels at a time go through them: their outputs stay there, too.

Where each channel has an output of its own, a panel is some channels, and words are made of taps of one channel
(integer_depthwise.pxd).

Files that choose the scale of an input when they run compute what sums are multiplied with, too: the kernel then reads it from
the arena, and so a bias in integers of that scale. If its floats are to be bytes of such a scale, each task also finds the
range of those that it writes, while they are at hand.

A matrix product is a convolution of 1 x 1, each row of the matrix a pixel.

Source: M. Dukhan, "The Indirect Convolution Algorithm", 2019 (which has pointers in the place of the block); Jacob et al.,
"Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

from kuiper.engine.byte_rounding cimport INTEGER_WIDTH, requantise_tile
from kuiper.engine.integer_depthwise cimport WOVEN, integer_depthwise
from kuiper.engine.integer_tile cimport INTEGER_ROWS, IntegerFinish, IntegerWork, integer_tile
from kuiper.engine.kernels.integer_block cimport (
    BYTES, FLOATS, SLACK, SUMS, Block, Ends, Geometry, Panel, Work, add_windows, spread_block, zero_point,
)
from kuiper.engine.number_range cimport Range, RangeSoFar, begin_range, whole_range, widen_by_rows
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.activations cimport CLIP, NONE, activate
from kuiper.simd.vector cimport LANES

WIDTH = INTEGER_WIDTH  # outputs of a panel
ROWS = INTEGER_ROWS  # pixels of a tile
LANES_WOVEN = WOVEN  # see integer_depthwise.pxd

FORMS = {"sums": SUMS, "bytes": BYTES, "floats": FLOATS}  # what sums become


cdef class IntegerConvolution(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of numbers
    offset : of each tap, in numbers, as rows and columns of the padded image: (taps, 2)
    weights : packed, one panel behind the other
    bias, weight_sums : int32, what sums begin with, and the sum of the weights of each output
    scale : float32, what the sums of each output are multiplied with to become bytes or floats
    shift : float32, what is added to the floats of each output; -0 adds nothing
    panels : (panels, 6): see integer_packing.py
    lacking : int32, what the packed weights of each output lack; of several groups that share channels they lack nothing
    """

    cdef Work work

    def __init__(
        self, dict numbers, const Py_ssize_t[:, ::1] offset, const unsigned char[::1] weights, const int[::1] bias,
        const int[::1] weight_sums, const float[::1] scale, const float[::1] shift, const Py_ssize_t[:, ::1] panels,
        const int[::1] lacking,
    ):
        cdef Work* work = &self.work
        cdef Geometry* g = &work.geometry
        cdef Py_ssize_t[::1] places
        cdef const int[::1] missing = np.append(lacking, np.zeros(INTEGER_WIDTH, np.int32))
        cdef const float[::1] scales = np.append(scale, np.zeros(INTEGER_WIDTH, np.float32))
        cdef const float[::1] shifts = np.append(shift, np.zeros(INTEGER_WIDTH, np.float32))
        g[0] = numbers
        work.taps, work.panels = offset.shape[0], panels.shape[0]
        work.blocks_h = (g.out_h + g.block_h - 1) // g.block_h
        work.blocks_w = (g.out_w + g.block_w - 1) // g.block_w
        work.seen_h = (g.block_h - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1
        work.seen_w = (g.block_w - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1
        work.pixel = g.channels * (1 if g.fours else 2)
        work.row = work.seen_w * work.pixel
        work.is_direct = reads_image(g, panels)
        if work.is_direct:
            work.pixel, work.row = g.x_pixel, g.x_row
        places = np.ascontiguousarray(np.matmul(offset, np.array([work.row, work.pixel], np.intp)))
        work.offset, work.panel, work.weights = &places[0], <const Panel*> &panels[0, 0], &weights[0]
        work.bias, work.weight_sums, work.scale = &bias[0], &weight_sums[0], &scales[0]
        work.shift = &shifts[0]
        work.lacking = &missing[0] if np.any(missing) else NULL
        self.keeps = (places, weights, bias, weight_sums, scales, shifts, panels, missing)
        self.numbers, self.run = work, convolve
        self.tasks = g.images * work.blocks_h * work.blocks_w * g.panel_groups
        work.max_panels = (work.panels + g.panel_groups - 1) // g.panel_groups
        if g.form == FLOATS:  # a clamp is no pass of its own
            g.low, g.high = -INFINITY, INFINITY
            if g.activation == CLIP:
                g.low, g.high, g.activation = g.alpha, g.beta, NONE
        self.scratch_floats = (INTEGER_ROWS + 2 * work.max_panels) * INTEGER_WIDTH
        if not work.is_direct:
            self.scratch_floats += (work.seen_h * work.row + 2 * SLACK) // 4
        if has_windows(work):
            self.scratch_floats += (g.block_h + work.seen_h) * g.block_w + work.seen_w


cdef bint reads_image(const Geometry* g, const Py_ssize_t[:, ::1] panels) noexcept:
    """Whether a tile can read the pixels of the image: bytes without a sign or a border, in whole words, without gaps."""
    cdef bint is_pointwise = g.kernel_h == g.kernel_w == 1 and g.pad_top == g.pad_left == 0 and not g.depthwise
    cdef bint is_inside = (g.out_h - 1) * g.stride_h < g.in_h and (g.out_w - 1) * g.stride_w < g.in_w
    cdef bint is_whole = panels[panels.shape[0] - 1, 3] + 4 * g.words <= g.channels and g.x_pixel == g.channels
    return g.fours and not g.x_signed and g.x_channel == 1 and is_pointwise and is_inside and is_whole


cdef inline bint has_windows(const Work* work) noexcept nogil:
    """Whether what is under each output pixel is added up for all outputs together."""
    return work.lacking != NULL and not work.geometry.depthwise


cdef void convolve(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One block of pixels for one group of panels."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t blocks = g.images * work.blocks_h * work.blocks_w, group = task // blocks, panel, pixel = 0, pixels
    cdef Py_ssize_t first = group * work.panels // g.panel_groups, end = (group + 1) * work.panels // g.panel_groups
    cdef Block block
    cdef Ends ends
    cdef RangeSoFar found
    cdef Range whole
    begin_range(&found)
    block.found = &found
    place(work, task % blocks, memory, &block, &ends)
    if not work.is_direct:
        spread_block(work, &block, memory)
    if has_windows(work):
        add_windows(work, &block, block.windows + g.block_h * g.block_w)
    for panel in range(first, end):
        begin(work, &work.panel[panel], block.zero, memory, ends_of(&ends, panel - first))
    while pixel < block.h * block.w:
        pixels = min(g.together, block.h * block.w - pixel)
        for panel in range(first, end):
            multiply_panel(work, &work.panel[panel], &block, ends_of(&ends, panel - first), pixel, pixels, memory)
        pixel += pixels
    if g.ranges >= 0:
        whole = whole_range(&found)
        memory.arena[g.ranges + 2 * task], memory.arena[g.ranges + 2 * task + 1] = whole.low, whole.high


cdef inline void place(
    const Work* work, Py_ssize_t index, const Memory* memory, Block* block, Ends* ends
) noexcept nogil:
    """Which pixels a block has, and where in the scratch the task has what."""
    cdef const Geometry* g = &work.geometry
    block.x = index % work.blocks_w * g.block_w
    block.y = index // work.blocks_w % work.blocks_h * g.block_h
    block.image = index // (work.blocks_w * work.blocks_h)
    block.h, block.w = min(g.block_h, g.out_h - block.y), min(g.block_w, g.out_w - block.x)
    block.zero = zero_point(g, memory)
    block.tile = <int*> memory.scratch
    ends.start = block.tile + INTEGER_ROWS * INTEGER_WIDTH
    ends.factor = <float*> (ends.start + work.max_panels * INTEGER_WIDTH)
    block.windows = <int*> (ends.factor + work.max_panels * INTEGER_WIDTH)
    block.seen = <unsigned char*> block.windows
    if has_windows(work):
        block.seen += 4 * ((g.block_h + work.seen_h) * g.block_w + work.seen_w)
    if work.is_direct:
        block.seen = <unsigned char*> memory.arena + g.x + block.image * g.x_image
        block.seen += block.y * g.stride_h * g.x_row + block.x * g.stride_w * g.x_pixel


cdef inline Ends ends_of(const Ends* ends, Py_ssize_t panel) noexcept nogil:
    """Those of one panel of a task."""
    cdef Ends own
    own.start, own.factor = ends.start + panel * INTEGER_WIDTH, ends.factor + panel * INTEGER_WIDTH
    return own


cdef inline void begin(const Work* work, const Panel* panel, int zero, const Memory* memory, Ends ends) noexcept nogil:
    """What the sums of a panel begin with: without a sign, so that what is too large goes round; and their factors."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t column, first = panel.out_channel
    cdef unsigned less = zero + (128 if g.x_signed else 0) if g.fours else 0
    cdef const int* added = <const int*> (<const char*> memory.arena + g.added) + first
    cdef const float* computed = memory.arena + g.factor + first * g.factor_step
    for column in range(panel.columns):
        ends.start[column] = <int> (<unsigned> work.bias[first + column] - less * <unsigned> work.weight_sums[first + column])
    for column in range(panel.columns, INTEGER_WIDTH):
        ends.start[column] = 0
    if g.added >= 0:
        for column in range(panel.columns):
            ends.start[column] = <int> (<unsigned> ends.start[column] + <unsigned> added[column])
    memcpy(ends.factor, work.scale + first, 4 * INTEGER_WIDTH)
    if g.factor >= 0:
        for column in range(panel.columns):
            ends.factor[column] *= computed[column * g.factor_step]


cdef inline IntegerWork work_of(const Work* work, const Panel* panel, Ends ends) noexcept nogil:
    """What is multiplied with the rows of each tile."""
    cdef IntegerWork tile
    tile.taps, tile.words, tile.offset, tile.start = work.taps, work.geometry.words, work.offset, ends.start
    tile.weights = work.weights + panel.weights
    tile.lacking, tile.row_sums = NULL, NULL
    if panel.lacks:
        tile.lacking = work.lacking + panel.out_channel
    return tile


cdef inline IntegerFinish finish_of(
    const Work* work, const Panel* panel, const Block* block, Ends ends, bint is_done
) noexcept nogil:
    """How the sums of a panel become floats in registers; the range is found there if nothing ``is`` left to do."""
    cdef const Geometry* g = &work.geometry
    cdef IntegerFinish finish
    finish.factor, finish.shift = ends.factor, work.shift + panel.out_channel
    finish.low, finish.high, finish.lows, finish.highs = g.low, g.high, NULL, NULL
    if g.ranges >= 0 and is_done:
        finish.lows, finish.highs = block.found.lows, block.found.highs
    return finish


cdef void multiply_panel(
    const Work* work, const Panel* panel, const Block* block, Ends ends, Py_ssize_t pixel, Py_ssize_t pixels,
    const Memory* memory,
) noexcept nogil:
    """Some pixels of a block, from one on, times one panel, in tiles that differ by at most one row."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t tiles = (pixels + INTEGER_ROWS - 1) // INTEGER_ROWS, index, longer = pixels % tiles
    cdef Py_ssize_t x = pixel % block.w
    cdef Py_ssize_t step_in = g.stride_w * work.pixel, next_in = g.stride_h * work.row - block.w * step_in
    cdef Py_ssize_t next_out = g.out_row - block.w * g.out_pixel
    cdef int rows, i
    cdef const unsigned char* seen = block.seen + panel.in_channel * (1 if g.fours else 2)
    cdef const unsigned char* source[INTEGER_ROWS]
    cdef unsigned char* out[INTEGER_ROWS]
    cdef float* aside[INTEGER_ROWS]
    cdef unsigned char* target = <unsigned char*> memory.arena + g.out + block.image * g.out_image
    cdef bint is_done = g.form == FLOATS and g.activation == NONE and (
        g.has_room or panel.columns == panel.vectors * LANES
    )
    cdef IntegerWork tile = work_of(work, panel, ends)
    cdef IntegerFinish finish = finish_of(work, panel, block, ends, is_done)
    cdef IntegerFinish* finished = &finish if g.form == FLOATS else NULL
    finish.out = <float**> out if is_done else aside
    seen += pixel // block.w * g.stride_h * work.row + x * step_in
    target += (block.y + pixel // block.w) * g.out_row + (block.x + x) * g.out_pixel
    target += panel.out_channel * (1 if g.form == BYTES else 4)
    for i in range(INTEGER_ROWS):
        aside[i] = <float*> block.tile + i * INTEGER_WIDTH
    for index in range(tiles):
        rows = <int> (pixels // tiles + (index < longer))
        for i in range(rows):
            source[i], out[i] = seen, target
            seen += step_in
            target += g.out_pixel
            x += 1
            if x == block.w:
                x = 0
                seen += next_in
                target += next_out
        if g.depthwise:
            integer_depthwise(rows, <int> panel.vectors, g.fours, &tile, source, block.tile, finished)
        else:
            tile.row_sums = block.windows + pixel
            integer_tile(rows, <int> panel.vectors, g.fours, &tile, source, block.tile, finished)
        pixel += rows
        if not is_done:
            settle(work, panel, rows, block, aside, out)


cdef inline void settle(
    const Work* work, const Panel* panel, int rows, const Block* block, float** aside, unsigned char** out
) noexcept nogil:
    """What is left to do with the numbers of a tile before they are where they belong."""
    cdef const Geometry* g = &work.geometry
    cdef int i
    if g.form == BYTES:
        requantise_tile(
            rows, block.tile, work.scale + panel.out_channel, panel.columns, g.low, g.high, g.out_zero, out
        )
        return
    if g.form == FLOATS:
        for i in range(rows):
            activate(aside[i], panel.vectors * LANES, g.activation, g.alpha, g.beta)
        if g.ranges >= 0:
            widen_by_rows(block.found, aside, rows, panel.columns)
    for i in range(rows):
        memcpy(out[i], aside[i], 4 * panel.columns)
