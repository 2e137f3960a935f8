"""Depthwise convolution on channels-last images: each channel has a kernel of its own, a vector holds LANES channels.

A vector of weights times a vector of the image is LANES products; channels share nothing. What neighbours in a row
share is what they look at: with the sums of some pixels in registers, a column of the image is loaded once for all of
them, and so is a weight.

    image row     j = 0   1   2   3   4   5          columns under 4 output pixels, kernel width 3, stride 1
                  [a] [b] [c] [d] [e] [f]
    s[0] +=       a*w0 b*w1 c*w2
    s[1] +=            b*w0 c*w1 d*w2                column j meets output i under tap j - i * stride
    s[2] +=                 c*w0 d*w1 e*w2
    s[3] +=                      d*w0 e*w1 f*w2

One row of a 3x3 kernel over 8 pixels takes 10 + 3 loads for 24 multiply-adds. Number of pixels, width and stride are
constants wherever ``kuiper_depthwise_of`` is expanded, so the loops over them are gone. Other widths, strides and
dilations load once for each multiply-add, at about half the speed.

Groups of a few channels, as many as divide a vector, are done in the same way: depthwise_block.pxd.

Padding is what is not added: rows of the kernel outside of the image are cut off beforehand, columns in the two blocks
at the ends of a row.

A task is some rows of some channels. Tasks are in the order of rows, or of channels if the image is small: then the
convolution in front has many weights, of which each thread has taken its share, and made its share of the channels. Where image and output stay in the second-level cache it takes so few channels
that the rows under a kernel stay in the first; larger ones are read from front to end, as memory likes it.

Source: A. Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications", 2017; S. Xie
et al., "Aggregated Residual Transformations for Deep Neural Networks", 2017 (groups of four).
"""

from kuiper.engine.step import rows_needed

from kuiper.engine.kernels.depthwise_block cimport MAX_PIXELS, Block, Row, block_for
from kuiper.engine.step cimport Memory, RowWise, Step
from kuiper.simd.activations cimport CLIP, NONE, activate
from kuiper.simd.vector cimport LANES

cdef enum:
    FIRST_LEVEL = 6144  # floats: half of a first-level cache
    TASK_PRODUCTS = 65536  # a microsecond
    MAX_TASKS = 16
    SMALL = 256  # pixels


cdef struct Geometry:
    Py_ssize_t images, in_h, in_w, out_h, out_w, channels  # channels: whole vectors of floats
    Py_ssize_t own  # channels of a group: a divisor of LANES
    Py_ssize_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w
    Py_ssize_t source, in_image, in_row, in_pixel  # offsets into the arena, in floats
    Py_ssize_t target, out_image, out_row, out_pixel
    Py_ssize_t residual, residual_pixel  # -1: none
    Py_ssize_t near  # floats of image and output that the second-level cache has room for
    int activation
    float alpha, beta

cdef struct Work:
    Geometry geometry
    Py_ssize_t row_blocks, channel_blocks  # of each image
    Block block
    int first_lane[LANES]  # of each lane's group
    const float* weights
    const float* bias


cdef class Depthwise(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of numbers
    weights : (kernel_h, own, kernel_w, channels), flat
    bias : (channels,)
    """

    cdef Work work

    def __init__(self, dict numbers, const float[::1] weights, const float[::1] bias):
        cdef Geometry* g = &self.work.geometry
        cdef Py_ssize_t pixels, vectors, wanted
        cdef Py_ssize_t[:, ::1] needed
        g[0] = numbers
        pixels = g.out_h * g.out_w
        vectors = g.channels
        if (g.in_h * g.in_w + pixels) * g.channels < g.near:
            vectors = max(1, FIRST_LEVEL // (g.kernel_h * g.in_w * LANES))
        self.work.channel_blocks = (g.channels // LANES + vectors - 1) // vectors
        wanted = min(MAX_TASKS, pixels * g.channels * g.own * g.kernel_h * g.kernel_w // TASK_PRODUCTS)
        self.work.row_blocks = max(1, min(g.out_h, (wanted + self.work.channel_blocks - 1) // self.work.channel_blocks))
        self.work.block = block_for(g.kernel_w, g.stride_w, g.dilation_w, g.own)
        for lane in range(LANES):
            self.work.first_lane[lane] = lane // g.own * g.own
        self.work.weights = &weights[0]
        self.work.bias = &bias[0]
        needed = rows_needed(g.images, g.out_h, g.stride_h, g.pad_top, (g.kernel_h - 1) * g.dilation_h + 1, g.in_h)
        self.rows = RowWise(filter_rows, g.images * g.out_h, &needed[0, 0])
        self.keeps = (weights, bias, needed)
        self.numbers = &self.work
        self.run = filter_part
        self.tasks = g.images * self.work.row_blocks * self.work.channel_blocks
        self.scratch_floats = 0


cdef void filter_part(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of some channels of one image."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t blocks = g.images * work.row_blocks, part, block, image, y
    cdef Row row
    if g.in_h * g.in_w > SMALL:
        part, block = task % work.channel_blocks, task // work.channel_blocks
    else:
        part, block = task // blocks, task % blocks
    image = block // work.row_blocks
    row = row_of(work, part)
    block %= work.row_blocks
    for y in range(block * g.out_h // work.row_blocks, (block + 1) * g.out_h // work.row_blocks):
        filter_row(work, &row, image, y, first_channel(work, part), memory)


cdef void filter_rows(const void* numbers, Py_ssize_t first, Py_ssize_t end, const Memory* memory) noexcept nogil:
    """Some rows, all channels."""
    cdef const Work* work = <const Work*> numbers
    cdef Py_ssize_t part, y, out_h = work.geometry.out_h
    cdef Row row
    for part in range(work.channel_blocks):
        row = row_of(work, part)
        for y in range(first, end):
            filter_row(work, &row, y // out_h, y % out_h, first_channel(work, part), memory)


cdef inline Py_ssize_t first_channel(const Work* work, Py_ssize_t part) noexcept nogil:
    return part * (work.geometry.channels // LANES) // work.channel_blocks * LANES


cdef inline Row row_of(const Work* work, Py_ssize_t part) noexcept nogil:
    """What is the same for all rows of one part of the channels."""
    cdef const Geometry* g = &work.geometry
    cdef Row row
    row.vectors = (first_channel(work, part + 1) - first_channel(work, part)) // LANES
    row.width, row.stride, row.dilation = g.kernel_w, g.stride_w, g.dilation_w
    row.in_row, row.in_pixel = g.dilation_h * g.in_row, g.in_pixel
    row.out_pixel, row.residual_pixel, row.channels = g.out_pixel, g.residual_pixel, g.channels
    row.own, row.first_lane = g.own, <const int*> work.first_lane
    row.clamps, row.low, row.high = g.activation == CLIP, g.alpha, g.beta
    row.rows = row.first = row.last = row.clips = 0  # each row of outputs has its own
    return row


cdef void filter_row(
    const Work* work, Row* row, Py_ssize_t image, Py_ssize_t y, Py_ssize_t channel, const Memory* memory
) noexcept nogil:
    """Row y of the outputs, from ``channel`` on, in blocks that differ by at most one pixel."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t blocks = (g.out_w + MAX_PIXELS - 1) // MAX_PIXELS, index, x = 0, end, i
    cdef Py_ssize_t in_y = y * g.stride_h - g.pad_top, in_x
    cdef Py_ssize_t above = 0 if in_y >= 0 else (g.dilation_h - 1 - in_y) // g.dilation_h  # rows of the kernel
    cdef const float* weights = work.weights + above * g.own * g.kernel_w * g.channels + channel
    cdef const float* residual = NULL
    cdef float* out
    if g.out_w < 4:
        blocks = g.out_w  # no block has two or three pixels
    in_y += above * g.dilation_h
    row.rows = max(0, min(g.kernel_h - above, (g.in_h - in_y + g.dilation_h - 1) // g.dilation_h))
    for index in range(blocks):
        end = (index + 1) * g.out_w // blocks
        in_x = x * g.stride_w - g.pad_left
        row.first, row.last = -in_x, g.in_w - in_x
        row.clips = in_x < 0 or (end - 1 - x) * g.stride_w + (g.kernel_w - 1) * g.dilation_w >= row.last
        out = memory.target + g.target + image * g.out_image + y * g.out_row + x * g.out_pixel + channel
        if g.residual >= 0:
            residual = memory.arena + g.residual + ((image * g.out_h + y) * g.out_w + x) * g.residual_pixel + channel
        work.block(
            <int> (end - x), row,
            memory.source + g.source + image * g.in_image + in_y * g.in_row + in_x * g.in_pixel + channel,
            weights, work.bias + channel, residual, out,
        )
        if g.activation != NONE and g.activation != CLIP:
            for i in range(end - x):
                activate(out + i * g.out_pixel, row.vectors * LANES, g.activation, g.alpha, g.beta)
        x = end
