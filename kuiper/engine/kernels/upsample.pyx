"""Resampling of channels-last images by tables: nearest, linear and cubic are one, two and four taps on each axis.

Which pixels an output looks at, and what they count, depends on its row and its column alone. So two tables say it all;
the caller has made them (see ``kuiper/layers/resampled_axis.py``), and no coordinate is computed here. With two taps:

    image                 line = image rows 2, 3 mixed          output row
    . . . . . . . .
    . . . . . . . .
    a a a a a a a a  --- * row_weights[0, y]
    b b b b b b b b  --- * row_weights[1, y]  -->  m m m m m m m m  -->  out[x] = column_weights[0, x] * m[first pixel]
                                                                                + column_weights[1, x] * m[second pixel]

First down, then across: the line serves a whole row of outputs, and taps + taps products do the work of taps * taps.
One tap is a copy, and needs no line.

Source: torch.nn.functional.interpolate; R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE
Trans. ASSP 1981.
"""

from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES, fma, load, splat, store, vec

cdef enum:
    TASK_FLOATS = 8192  # of output: a microsecond or more
    MAX_TASKS = 16
    MAX_TAPS = 4

cdef struct Geometry:
    Py_ssize_t images, in_w, out_h, out_w, channels  # channels: whole vectors of floats
    Py_ssize_t source, in_image, in_row, in_pixel  # offsets into the arena, in floats
    Py_ssize_t target, out_image, out_row, out_pixel
    Py_ssize_t taps  # 1, 2 or 4

# Both (taps, outputs).
cdef struct Table:
    const Py_ssize_t* indices
    const float* weights

cdef struct Work:
    Geometry geometry
    Table rows, columns
    Py_ssize_t blocks  # of rows of each image


cdef class Upsample(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers
    row_indices, row_weights : intp and float32 (taps, out_h); the weights of a single tap do not matter
    column_indices, column_weights : likewise (taps, out_w)
    """

    cdef Work work

    def __init__(
        self, dict numbers, const Py_ssize_t[:, ::1] row_indices, const float[:, ::1] row_weights,
        const Py_ssize_t[:, ::1] column_indices, const float[:, ::1] column_weights,
    ):
        cdef Geometry* g = &self.work.geometry
        g[0] = numbers
        self.work.rows = Table(&row_indices[0, 0], &row_weights[0, 0])
        self.work.columns = Table(&column_indices[0, 0], &column_weights[0, 0])
        self.work.blocks = max(1, min(g.out_h, MAX_TASKS, g.out_h * g.out_w * g.channels // TASK_FLOATS))
        self.keeps = (row_indices, row_weights, column_indices, column_weights)
        self.numbers = &self.work
        self.run = resample
        self.tasks = g.images * self.work.blocks
        self.scratch_floats = g.in_w * g.channels if g.taps > 1 else 0


cdef void resample(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of one image."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t image = task // work.blocks, block = task % work.blocks, y
    cdef const float* source = memory.arena + g.source + image * g.in_image
    cdef float* out = memory.arena + g.target + image * g.out_image
    for y in range(block * g.out_h // work.blocks, (block + 1) * g.out_h // work.blocks):
        resample_row(work, source, y, memory.scratch, out + y * g.out_row)


cdef void resample_row(
    const Work* work, const float* source, Py_ssize_t y, float* line, float* out
) noexcept nogil:
    """One row of outputs."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t x, pixel = g.in_pixel
    if g.taps == 1:
        source += work.rows.indices[y] * g.in_row
    else:
        for x in range(g.in_w):
            mix(&work.rows, g.taps, g.out_h, y, source + x * g.in_pixel, g.in_row, g.channels, line + x * g.channels)
        source = line
        pixel = g.channels
    for x in range(g.out_w):
        mix(&work.columns, g.taps, g.out_w, x, source, pixel, g.channels, out + x * g.out_pixel)


cdef inline void mix(
    const Table* table, Py_ssize_t taps, Py_ssize_t outputs, Py_ssize_t output, const float* source, Py_ssize_t step,
    Py_ssize_t count, float* out,
) noexcept nogil:
    """One pixel: the weighted sum of those that the table names, ``step`` floats from one to the next."""
    cdef const float* p[MAX_TAPS]
    cdef float w[MAX_TAPS]
    cdef Py_ssize_t tap, i, vectors = count // LANES
    cdef vec sum
    for tap in range(taps):
        p[tap] = source + table.indices[tap * outputs + output] * step
        w[tap] = table.weights[tap * outputs + output]
    if taps == 1:
        for i in range(vectors):
            store(out + i * LANES, load(p[0] + i * LANES))
    elif taps == 2:
        for i in range(vectors):
            store(out + i * LANES, fma(splat(w[1]), load(p[1] + i * LANES), splat(w[0]) * load(p[0] + i * LANES)))
    else:
        for i in range(vectors):
            sum = splat(w[0]) * load(p[0] + i * LANES)
            for tap in range(1, 4):
                sum = fma(splat(w[tap]), load(p[tap] + i * LANES), sum)
            store(out + i * LANES, sum)
