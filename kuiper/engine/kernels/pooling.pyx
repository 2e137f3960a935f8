"""Pooling: the maximum or the mean of a box of pixels, for windows that tables give.

An axis' table says where each window begins and ends on the image. So padding, stride and dilation, the ragged windows
of adaptive pooling and the single one of global pooling are all the same here:

    columns          0   1   2   3   4   5   6   7       first  end
    window 0        [=======]                              0     2      kernel 3, stride 2, padding 1: the padding is no
    window 1            [===========]                      1     4      part of any window, as it can change neither a
    window 2                    [===========]              3     6      maximum nor a sum; what to divide by is told
    window 3                            [===========]      5     8

A box of r rows and c columns takes r * c loads. Where windows overlap much it goes in two moves, r + c in all: down the
rows, which leaves a line of the image's width, then across it.

    image rows                    line                        outputs
    a b c d e f g h  --.
    i j k l m n o p  --+- max ->  A B C D E F G H  -- max ->  0 1 2 3
    q r s t u v w x  --'                  of [A B], [B C D], [D E F], [F G H]

Maxima share more: where the next window is this one moved by one pixel, both hold all taps but one. Their maximum is made
once, for two rows on the way down and for two outputs on the way across.

    a [b c d e] f      max(a, m) and max(m, f), m = max(b, c, d, e): five maxima instead of eight

A vector is LANES channels of a pixel; four of them are in work at a time. The sum of each row of a box is made by
itself and then added to the total: long sums so keep the precision of short ones. A NaN is larger than everything.

Source: torch.nn.functional.max_pool2d, avg_pool2d, adaptive_avg_pool2d.
"""

import numpy as np

from kuiper.engine.step import of_all_images

from kuiper.engine.kernels.pooling_box cimport Box, pool_box, two_maxima
from kuiper.engine.step cimport Memory, RowWise, Step
from kuiper.simd.vector cimport LANES

cdef enum:
    TASK_LOADS = 4096  # vectors: a microsecond or more
    MAX_TASKS = 16

cdef struct Geometry:
    Py_ssize_t images, in_h, in_w, out_h, out_w, channels  # channels: whole vectors of floats
    Py_ssize_t source, in_image, in_row, in_pixel  # offsets into the arena, in floats
    Py_ssize_t target, out_image, out_row, out_pixel
    Py_ssize_t dilation_h, dilation_w
    bint maximum

cdef struct Work:
    Geometry geometry
    const Py_ssize_t* rows  # where windows begin, then where they end
    const Py_ssize_t* columns
    const float* divisor_h
    const float* divisor_w
    Py_ssize_t row_blocks, channel_blocks  # of each image
    bint separable


cdef class Pooling(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers; ``maximum`` is 1 for maxima and 0 for means
    rows, columns : intp (2, out_h) and (2, out_w), positions on the image: the first, and one that lies behind the last
    divisor_h, divisor_w : float32 (out_h,) and (out_w,), whose products the sums are divided by
    """

    cdef Work work

    def __init__(
        self, dict numbers, const Py_ssize_t[:, ::1] rows, const Py_ssize_t[:, ::1] columns,
        const float[::1] divisor_h, const float[::1] divisor_w,
    ):
        cdef Geometry* g = &self.work.geometry
        cdef Py_ssize_t vectors, down = 0, across = 0, loads, wanted, i
        cdef Py_ssize_t[:, ::1] needed
        g[0] = numbers
        for i in range(g.out_h):
            down += taps(rows[0, i], rows[1, i], g.dilation_h)
        for i in range(g.out_w):
            across += taps(columns[0, i], columns[1, i], g.dilation_w)
        # a move down fills a line, which costs about another load for each pixel
        self.work.separable = down * across > down * g.in_w + g.out_h * (across + g.in_w)
        loads = down * g.in_w + g.out_h * across if self.work.separable else down * across
        vectors = g.channels // LANES
        wanted = max(1, min(MAX_TASKS, loads * vectors // TASK_LOADS))
        self.work.row_blocks = min(wanted, g.out_h)
        self.work.channel_blocks = max(1, min(wanted // self.work.row_blocks, vectors // 4))
        self.work.rows = &rows[0, 0]
        self.work.columns = &columns[0, 0]
        self.work.divisor_h = &divisor_h[0]
        self.work.divisor_w = &divisor_w[0]
        needed = of_all_images(g.images, np.asarray(rows), g.in_h)
        self.keeps = (rows, columns, divisor_h, divisor_w, needed)
        self.numbers = &self.work
        self.run = pool
        self.rows = RowWise(pool_rows, g.images * g.out_h, &needed[0, 0])
        self.tasks = g.images * self.work.row_blocks * self.work.channel_blocks
        self.scratch_floats = 2 * g.in_w * g.channels if self.work.separable else 0


cdef inline Py_ssize_t taps(Py_ssize_t first, Py_ssize_t end, Py_ssize_t dilation) noexcept nogil:
    """How many positions a window looks at."""
    return max(0, (end - first + dilation - 1) // dilation)


cdef void pool(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of some channels of one image."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t part = task % work.channel_blocks, block = task // work.channel_blocks
    cdef Py_ssize_t image = block // work.row_blocks, all_vectors = g.channels // LANES, y
    cdef Py_ssize_t vector = part * all_vectors // work.channel_blocks
    cdef Py_ssize_t vectors = (part + 1) * all_vectors // work.channel_blocks - vector
    cdef const float* source = memory.source + g.source + image * g.in_image + vector * LANES
    cdef float* out = memory.target + g.target + image * g.out_image + vector * LANES
    block %= work.row_blocks
    y = block * g.out_h // work.row_blocks
    while y < (block + 1) * g.out_h // work.row_blocks:
        y += pool_some(
            work, source, y, (block + 1) * g.out_h // work.row_blocks, vectors, memory.scratch, out + y * g.out_row
        )


cdef void pool_rows(const void* numbers, Py_ssize_t first, Py_ssize_t end, const Memory* memory) noexcept nogil:
    """Some rows, all channels."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t image, y
    while first < end:
        image, y = first // g.out_h, first % g.out_h
        first += pool_some(
            work, memory.source + g.source + image * g.in_image, y, min(g.out_h, y + end - first), g.channels // LANES,
            memory.scratch, memory.target + g.target + image * g.out_image + y * g.out_row,
        )


cdef Py_ssize_t pool_some(
    const Work* work, const float* source, Py_ssize_t y, Py_ssize_t end, Py_ssize_t vectors, float* line, float* out
) noexcept nogil:
    """The next rows of outputs, of which there are ``end``; the answer is how many: two that share their taps, or one."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t first = work.rows[y], count = taps(first, work.rows[g.out_h + y], g.dilation_h), x
    cdef Py_ssize_t pixel = vectors * LANES
    cdef float* other = line + g.in_w * pixel
    cdef Box box
    if not work.separable:
        box.rows, box.row = count, g.dilation_h * g.in_row
        across(work, y, &box, source + first * g.in_row, g.in_pixel, vectors, out)
        return 1
    source += first * g.in_row
    if g.maximum and y + 1 < end and share(work.rows, g.out_h, g.dilation_h, y):
        for x in range(g.in_w):
            two_maxima(source + x * g.in_pixel, g.in_row, count, vectors, line + x * pixel, other + x * pixel)
        box.rows, box.row = 1, 0
        across(work, y, &box, line, pixel, vectors, out)
        across(work, y + 1, &box, other, pixel, vectors, out + g.out_row)
        return 2
    box.rows, box.row, box.columns, box.column = count, g.dilation_h * g.in_row, 1, 0
    for x in range(g.in_w):
        pool_box(g.maximum, &box, source + x * g.in_pixel, vectors, 1, line + x * pixel)
    box.rows = 1
    across(work, y, &box, line, pixel, vectors, out)
    return 1


cdef inline bint share(const Py_ssize_t* windows, Py_ssize_t count, Py_ssize_t dilation, Py_ssize_t i) noexcept nogil:
    """Whether window i + 1 is window i moved by one, and both have several taps."""
    return (
        dilation == 1 and windows[i + 1] == windows[i] + 1 and windows[count + i + 1] == windows[count + i] + 1
        and windows[count + i] > windows[i] + 1
    )


cdef void across(
    const Work* work, Py_ssize_t y, Box* box, const float* source, Py_ssize_t pixel, Py_ssize_t vectors, float* out
) noexcept nogil:
    """One row of outputs, from boxes whose rows are known, or from a line, which is a row."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t x = 0, first
    box.column = g.dilation_w * pixel
    while x < g.out_w:
        first = work.columns[x]
        box.columns = taps(first, work.columns[g.out_w + x], g.dilation_w)
        if work.separable and g.maximum and x + 1 < g.out_w and share(work.columns, g.out_w, g.dilation_w, x):
            two_maxima(source + first * pixel, pixel, box.columns, vectors, out + x * g.out_pixel, out + (x + 1) * g.out_pixel)
            x += 2
            continue
        pool_box(
            g.maximum, box, source + first * pixel, vectors, work.divisor_h[y] * work.divisor_w[x], out + x * g.out_pixel
        )
        x += 1
