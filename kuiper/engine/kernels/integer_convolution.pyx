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
neither of strides. Where the kernel is not dilated, a row of it is one run of kernel_w * channels numbers, else each tap is a
run of its own. Panels are the outer loop and pixels are the inner one, so that a panel is read from afar once for each task. Where all panels
fit the first-level cache, only some pixels at a time go through them: their outputs stay there, too.

Where each channel has an output of its own, a panel is some channels, and pairs are made of two taps of one channel.

Files that choose the scale of an input when they run compute what sums are multiplied with, too: the kernel then reads it from
the arena, and so a bias in integers of that scale. If its floats are to be bytes of such a scale, each task also finds the
range of those that it writes, while they are at hand.

A matrix product is a convolution of 1 x 1, each row of the matrix a pixel.

Source: M. Dukhan, "The Indirect Convolution Algorithm", 2019 (which has pointers in the place of the block); Jacob et al.,
"Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from kuiper.engine.byte_rounding cimport INTEGER_WIDTH, requantise_tile
from kuiper.engine.byte_rows cimport spread, sums_of_bytes
from kuiper.engine.integer_tile cimport (
    INTEGER_ROWS, WOVEN, IntegerFinish, IntegerWork, add_lacking, dequantise_tile, integer_depthwise, integer_tile,
)
from kuiper.engine.number_range cimport Range, RangeSoFar, begin_range, whole_range, widen_by_rows
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.activations cimport CLIP, NONE, activate
from kuiper.simd.vector cimport LANES

WIDTH = INTEGER_WIDTH  # outputs of a panel
ROWS = INTEGER_ROWS  # pixels of a tile
LANES_WOVEN = WOVEN

cdef enum Form:
    SUMS, BYTES, FLOATS

FORMS = {"sums": SUMS, "bytes": BYTES, "floats": FLOATS}  # what sums become

cdef enum:
    SLACK = 64  # bytes behind a block that may be read

# One panel: how many vectors, which outputs, from which input channel on, and where its weights begin, in bytes.
cdef struct Panel:
    Py_ssize_t vectors, out_channel, columns, in_channel, weights

cdef struct Geometry:
    Py_ssize_t images, in_h, in_w, out_h, out_w, channels
    Py_ssize_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w
    Py_ssize_t x, x_image, x_row, x_pixel, x_channel  # bytes
    Py_ssize_t out, out_image, out_row, out_pixel  # bytes
    bint x_signed, fours, depthwise
    int zero  # the input's zero point
    Py_ssize_t zero_at  # where it lies if the graph computes it, in bytes; -1: it does not
    int form
    float low, high  # of bytes, and of floats before a curved activation
    int out_zero
    Py_ssize_t factor, factor_step  # of floats: where what their scales are multiplied with lies, in floats; -1: nowhere
    Py_ssize_t added  # where an int32 for each output lies that begins its sums, in bytes; -1: nowhere
    int activation
    float alpha, beta
    Py_ssize_t ranges  # where the range of the floats of each task goes, in floats; -1: nowhere
    Py_ssize_t words  # of four bytes under a tap
    Py_ssize_t block_h, block_w, panel_groups
    Py_ssize_t together  # pixels that meet all panels before the next ones do

cdef struct Work:
    Geometry geometry
    Py_ssize_t taps, blocks_h, blocks_w, panels
    Py_ssize_t max_panels  # of a task
    Py_ssize_t seen_h, seen_w  # rows and columns of the padded image under a block
    Py_ssize_t pixel, row  # bytes of them as they are spread
    const Py_ssize_t* offset
    const Panel* panel
    const unsigned char* weights
    const int* bias
    const int* weight_sums
    const float* scale
    const float* shift
    const int* lacking  # NULL: the packed weights are whole

# A block of output pixels of one image, and the bytes under it.
cdef struct Block:
    Py_ssize_t image, y, x, h, w
    int zero
    unsigned char* seen
    int* sums  # of a tile
    RangeSoFar* found  # of its floats
    int* windows  # what the bytes under each output pixel add up to, if weights lack something

# What the sums of each panel of a task begin with, and what they are multiplied with; INTEGER_WIDTH for each panel.
cdef struct Ends:
    int* start
    float* factor


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
    panels : (panels, 5): vectors, first output, number of outputs, first input channel, offset of the weights
    lacking : int32, what the packed weights of each output lack; of several groups they lack nothing
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
        self.scratch_floats = (INTEGER_ROWS + 2 * work.max_panels) * INTEGER_WIDTH + (work.seen_h * work.row + 2 * SLACK) // 4
        if work.lacking != NULL:
            self.scratch_floats += (g.block_h + work.seen_h) * g.block_w + work.seen_w


cdef void convolve(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One block of pixels for one group of panels."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t blocks = g.images * work.blocks_h * work.blocks_w, group = task // blocks, panel, place
    cdef Py_ssize_t first = group * work.panels // g.panel_groups, end = (group + 1) * work.panels // g.panel_groups
    cdef Py_ssize_t pixel = 0, pixels
    cdef Py_ssize_t range_at = g.ranges + 2 * task
    cdef Block block
    cdef Ends ends
    cdef RangeSoFar found
    cdef Range whole
    begin_range(&found)
    block.found = &found
    task %= blocks
    block.x = task % work.blocks_w * g.block_w
    block.y = task // work.blocks_w % work.blocks_h * g.block_h
    block.image = task // (work.blocks_w * work.blocks_h)
    block.h, block.w = min(g.block_h, g.out_h - block.y), min(g.block_w, g.out_w - block.x)
    block.zero = zero_point(g, memory)
    block.sums = <int*> memory.scratch
    ends.start = block.sums + INTEGER_ROWS * INTEGER_WIDTH
    ends.factor = <float*> (ends.start + work.max_panels * INTEGER_WIDTH)
    block.windows = <int*> (ends.factor + work.max_panels * INTEGER_WIDTH)
    block.seen = <unsigned char*> block.windows
    if work.lacking != NULL:
        block.seen += 4 * ((g.block_h + work.seen_h) * g.block_w + work.seen_w)
    spread_block(work, &block, memory)
    if work.lacking != NULL:
        add_windows(work, &block, block.windows + g.block_h * g.block_w)
    for panel in range(first, end):
        place = (panel - first) * INTEGER_WIDTH
        begin(work, &work.panel[panel], block.zero, memory, ends.start + place)
        if g.form == FLOATS:
            find_factors(work, &work.panel[panel], memory, ends.factor + place)
    while pixel < block.h * block.w:
        pixels = min(g.together, block.h * block.w - pixel)
        for panel in range(first, end):
            place = (panel - first) * INTEGER_WIDTH
            multiply_panel(
                work, &work.panel[panel], &block, ends.start + place, ends.factor + place, pixel, pixels, memory
            )
        pixel += pixels
    if g.ranges >= 0:
        whole = whole_range(&found)
        memory.arena[range_at], memory.arena[range_at + 1] = whole.low, whole.high


cdef inline int zero_point(const Geometry* g, const Memory* memory) noexcept nogil:
    """The input's."""
    cdef const unsigned char* place = <const unsigned char*> memory.arena + g.zero_at
    if g.zero_at < 0:
        return g.zero
    return place[0] - 256 * (g.x_signed and place[0] > 127)


cdef void spread_block(const Work* work, const Block* block, const Memory* memory) noexcept nogil:
    """The padded image under a block."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t top = block.y * g.stride_h - g.pad_top, left = block.x * g.stride_w - g.pad_left
    cdef Py_ssize_t height = (block.h - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1
    cdef Py_ssize_t width = (block.w - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1
    cdef Py_ssize_t before = min(max(0, -left), width), end = max(before, min(width, g.in_w - left)), y, x
    cdef int border = block.zero + (128 if g.x_signed else 0) if g.fours else 0
    cdef const unsigned char* source
    cdef unsigned char* seen = block.seen
    for y in range(top, top + height):
        if y < 0 or y >= g.in_h:
            memset(seen, border, width * work.pixel)
        else:
            source = <const unsigned char*> memory.arena + g.x + block.image * g.x_image + y * g.x_row
            source += (left + before) * g.x_pixel
            memset(seen, border, before * work.pixel)
            if g.x_channel != 1 and g.channels > 1:
                spread_planes(g, source, block.zero, end - before, seen + before * work.pixel)
            elif g.x_pixel == g.channels:
                spread(source, g.x_signed, block.zero, (end - before) * g.channels, g.fours, seen + before * work.pixel)
            else:
                for x in range(before, end):
                    spread(source, g.x_signed, block.zero, g.channels, g.fours, seen + x * work.pixel)
                    source += g.x_pixel
            memset(seen + end * work.pixel, border, (width - end) * work.pixel)
        seen += work.row
    memset(seen, 0, SLACK)


cdef void add_windows(const Work* work, const Block* block, int* rows) noexcept nogil:
    """What is under each output pixel of a block, added up: all channels of a pixel, then columns of a window, then rows."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t height = (block.h - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1
    cdef Py_ssize_t width = (block.w - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1
    cdef Py_ssize_t y, x, k
    cdef int* pixels = rows + height * block.w  # of one row
    cdef int* row
    cdef const int* seen
    cdef int* window
    for y in range(height):
        row = rows + y * block.w
        sums_of_bytes(block.seen + y * work.row, g.channels, width, pixels)
        memset(row, 0, 4 * block.w)
        for k in range(g.kernel_w):
            seen = pixels + k * g.dilation_w
            for x in range(block.w):
                row[x] += seen[x * g.stride_w]
    for y in range(block.h):
        window = block.windows + y * block.w
        memset(window, 0, 4 * block.w)
        for k in range(g.kernel_h):
            seen = rows + (y * g.stride_h + k * g.dilation_h) * block.w
            for x in range(block.w):
                window[x] += seen[x]


cdef void spread_planes(
    const Geometry* g, const unsigned char* x, int zero, Py_ssize_t pixels, unsigned char* out
) noexcept nogil:
    """Some pixels whose channels are no neighbours: those of an image from outside, with few channels."""
    cdef Py_ssize_t c, i, channels = g.channels, step = g.x_pixel
    cdef int flip = 128 if g.x_signed else 0
    cdef short* numbers = <short*> out
    cdef const unsigned char* plane
    for c in range(channels):
        plane = x + c * g.x_channel
        if g.fours:
            for i in range(pixels):
                out[i * channels + c] = plane[i * step] ^ flip
        else:
            for i in range(pixels):
                numbers[i * channels + c] = <short> ((plane[i * step] ^ flip) - flip - zero)


cdef void multiply_panel(
    const Work* work, const Panel* panel, const Block* block, const int* start, const float* factor, Py_ssize_t pixel,
    Py_ssize_t pixels, const Memory* memory,
) noexcept nogil:
    """Some pixels of a block, from one on, times one panel, in tiles that differ by at most one row."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t tiles = (pixels + INTEGER_ROWS - 1) // INTEGER_ROWS, index, longer = pixels % tiles
    cdef Py_ssize_t x = pixel % block.w, first = panel.out_channel, at = pixel
    cdef Py_ssize_t step_in = g.stride_w * work.pixel, next_in = g.stride_h * work.row - block.w * step_in
    cdef Py_ssize_t next_out = g.out_row - block.w * g.out_pixel
    cdef int rows, i
    cdef const unsigned char* seen = block.seen + panel.in_channel * (1 if g.fours else 2)
    cdef const unsigned char* source[INTEGER_ROWS]
    cdef unsigned char* out[INTEGER_ROWS]
    cdef unsigned char* target = <unsigned char*> memory.arena + g.out + block.image * g.out_image
    cdef IntegerWork tile
    cdef IntegerFinish finish
    cdef IntegerFinish* finished = NULL  # where sums become floats in registers
    if g.form == FLOATS and g.activation == NONE and not g.depthwise and panel.columns == panel.vectors * LANES:
        finish.factor, finish.shift, finish.low, finish.high = factor, work.shift + first, g.low, g.high
        finish.lacking = work.lacking + first if work.lacking != NULL else NULL
        finish.lows, finish.highs = NULL, NULL
        if g.ranges >= 0:
            finish.lows, finish.highs = block.found.lows, block.found.highs
        finish.out = <float**> out
        finished = &finish
    seen += pixel // block.w * g.stride_h * work.row + x * step_in
    target += (block.y + pixel // block.w) * g.out_row + (block.x + x) * g.out_pixel + first * (1 if g.form == BYTES else 4)
    tile.taps, tile.words, tile.offset, tile.start = work.taps, g.words, work.offset, start
    tile.weights = work.weights + panel.weights
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
            integer_depthwise(rows, &tile, source, block.sums)
        else:
            finish.row_sums = block.windows + at
            integer_tile(rows, <int> panel.vectors, g.fours, &tile, source, block.sums, finished)
            if work.lacking != NULL and finished == NULL:
                add_lacking(rows, <int> panel.vectors, work.lacking + first, block.windows + at, block.sums)
        at += rows
        if finished != NULL:
            continue
        if g.form == BYTES:
            requantise_tile(rows, block.sums, work.scale + first, panel.columns, g.low, g.high, g.out_zero, out)
            continue
        if g.form == FLOATS:
            to_floats(work, panel, rows, block, factor, out)
            continue
        for i in range(rows):
            memcpy(out[i], block.sums + i * INTEGER_WIDTH, 4 * panel.columns)


cdef inline void begin(
    const Work* work, const Panel* panel, int zero, const Memory* memory, int* start
) noexcept nogil:
    """What the sums of a panel begin with: without a sign, so that what is too large goes round."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t column, first = panel.out_channel
    cdef unsigned less = zero + (128 if g.x_signed else 0) if g.fours else 0
    cdef const int* added = <const int*> (<const char*> memory.arena + g.added) + first
    for column in range(panel.columns):
        start[column] = <int> (<unsigned> work.bias[first + column] - less * <unsigned> work.weight_sums[first + column])
    for column in range(panel.columns, INTEGER_WIDTH):
        start[column] = 0
    if g.added >= 0:
        for column in range(panel.columns):
            start[column] = <int> (<unsigned> start[column] + <unsigned> added[column])


cdef inline void find_factors(
    const Work* work, const Panel* panel, const Memory* memory, float* factor
) noexcept nogil:
    """What the sums of a panel are multiplied with."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t column, first = panel.out_channel
    cdef const float* computed = memory.arena + g.factor + first * g.factor_step
    memcpy(factor, work.scale + first, 4 * INTEGER_WIDTH)
    if g.factor >= 0:
        for column in range(panel.columns):
            factor[column] *= computed[column * g.factor_step]


cdef inline void to_floats(
    const Work* work, const Panel* panel, int rows, const Block* block, const float* factor, unsigned char** out
) noexcept nogil:
    """The sums of a tile as floats: where they belong, or first in their place if that has no room for whole vectors."""
    cdef const Geometry* g = &work.geometry
    cdef int vectors = INTEGER_WIDTH // LANES if g.depthwise else <int> panel.vectors, i
    cdef bint is_whole = panel.columns == vectors * LANES
    cdef float* target[INTEGER_ROWS]
    for i in range(rows):
        target[i] = <float*> out[i] if is_whole else <float*> block.sums + i * INTEGER_WIDTH
    dequantise_tile(rows, vectors, block.sums, factor, work.shift + panel.out_channel, g.low, g.high, target)
    for i in range(rows):
        activate(target[i], vectors * LANES, g.activation, g.alpha, g.beta)
    if g.ranges >= 0:
        widen_by_rows(block.found, target, rows, panel.columns)
    for i in range(rows):
        if not is_whole:
            memcpy(out[i], target[i], 4 * panel.columns)
