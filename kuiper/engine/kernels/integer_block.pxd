"""What a convolution of bytes knows of its layer, and the block of the padded image that a task has before it."""

from libc.string cimport memset

from kuiper.engine.byte_rows cimport spread, sums_of_bytes, weave_planes
from kuiper.engine.number_range cimport RangeSoFar
from kuiper.engine.step cimport Memory

cdef enum Form:  # what sums become
    SUMS, BYTES, FLOATS

cdef enum:
    SLACK = 64  # bytes behind a block that may be read

# One panel: how many vectors, which outputs, from which input channel on, where its weights begin, in bytes, and whether they
# lack something.
cdef struct Panel:
    Py_ssize_t vectors, out_channel, columns, in_channel, weights, lacks

cdef struct Geometry:
    Py_ssize_t images, in_h, in_w, out_h, out_w, channels
    Py_ssize_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w
    Py_ssize_t x, x_image, x_row, x_pixel, x_channel  # bytes
    Py_ssize_t out, out_image, out_row, out_pixel  # bytes
    bint has_room  # whether the floats of an output pixel may fill its last vector
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
    Py_ssize_t pixel, row  # bytes of them as the tile reads them
    bint is_direct  # whether it reads the image itself
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
    int* tile  # its numbers, where their place has no room for whole vectors, or they have to become something else
    RangeSoFar* found  # of its floats
    int* windows  # what the bytes under each output pixel add up to, if weights lack something

# What the sums of each panel of a task begin with, and what they are multiplied with; INTEGER_WIDTH for each panel.
cdef struct Ends:
    int* start
    float* factor


cdef inline void spread_planes(
    const Geometry* g, const unsigned char* x, int zero, Py_ssize_t pixels, unsigned char* out
) noexcept nogil:
    """Some pixels whose channels are no neighbours: those of an image from outside, with few channels."""
    cdef Py_ssize_t c, i, channels = g.channels, step = g.x_pixel
    cdef const unsigned char* plane
    cdef int flip = 128 if g.x_signed else 0
    cdef short* numbers = <short*> out
    if g.fours:
        weave_planes(x, channels, g.x_channel, g.x_pixel, g.x_signed, pixels, out)
        return
    for c in range(channels):
        plane = x + c * g.x_channel
        for i in range(pixels):
            numbers[i * channels + c] = <short> ((plane[i * step] ^ flip) - flip - zero)


cdef inline int zero_point(const Geometry* g, const Memory* memory) noexcept nogil:
    """The input's."""
    cdef const unsigned char* place = <const unsigned char*> memory.arena + g.zero_at
    if g.zero_at < 0:
        return g.zero
    return place[0] - 256 * (g.x_signed and place[0] > 127)


cdef inline void spread_block(const Work* work, const Block* block, const Memory* memory) noexcept nogil:
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


cdef inline void add_windows(const Work* work, const Block* block, int* rows) noexcept nogil:
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
