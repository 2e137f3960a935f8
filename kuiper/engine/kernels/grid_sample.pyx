"""Channels-last images read at any points: each output is a weighted sum of the pixels around its point.

    grid (x, y)  --->  place on the image  --->  up to four pixels and what they count  --->  their sum, for all channels

The places of BLOCK points are found first, LANES at a time: each gets the indices of its pixels, -1 for one that lies
outside, and their weights. Then the pixels are read, a point at a time: all channels of a pixel are neighbours. One that
lies outside is read from a row of zeros.

    first = floor(x)      first     first + 1        weights  first + 1 - x,  x - first       of two axes: the four products
                            |---x------|

An image of up to four channels would fill few lanes of a vector. Its pixels are read four numbers at a time, and the output
is written by planes, as such images mostly come and go.

Places that are no number give NaN. Where a padding other than zeros is asked for, they are 0.

Source: torch.nn.functional.grid_sample.
"""

from kuiper.engine.grid_points cimport (
    PAD_BORDER, PAD_REFLECTION, PAD_ZEROS, SAMPLES, Axis, by_planes, find_offsets, nearest, places, sum_quads, taps,
)
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES, fma, load, splat, store, vec

PADDINGS = {"zeros": PAD_ZEROS, "border": PAD_BORDER, "reflection": PAD_REFLECTION}

cdef enum:
    TASK_BLOCKS = 8  # of points: some microseconds

cdef struct Geometry:
    Py_ssize_t images, points, channels  # points: of each image
    Py_ssize_t source, in_image, in_pixel  # offsets into the arena, in floats
    Py_ssize_t grid, grid_image
    Py_ssize_t target, out_image, out_pixel, out_plane  # out_plane: 0 if channels are neighbours
    Py_ssize_t zeros
    int taps  # 1 or 4

cdef struct Work:
    Geometry geometry
    Axis rows, columns
    Py_ssize_t blocks  # tasks of each image


cdef class GridSample(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry, ``rows`` and ``columns`` those of an Axis.

    The output has its channels side by side, or, with up to four of them and an ``out_plane``, its points.
    """

    cdef Work work

    def __init__(self, dict numbers, dict rows, dict columns):
        cdef Work* w = &self.work
        w.geometry, w.rows, w.columns = numbers, rows, columns
        w.blocks = (w.geometry.points + TASK_BLOCKS * SAMPLES - 1) // (TASK_BLOCKS * SAMPLES)
        self.numbers, self.run = w, sample
        self.tasks = w.geometry.images * w.blocks
        # places on both axes, four indices, weights and numbers of each point, and its offsets
        self.scratch_floats = (2 + 4 + 4 + 4 + 4 * (sizeof(Py_ssize_t) // sizeof(float))) * SAMPLES


cdef void sample(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some points of one image."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t image = task // w.blocks, first = task % w.blocks * TASK_BLOCKS * SAMPLES
    cdef Py_ssize_t end = min(first + TASK_BLOCKS * SAMPLES, g.points), place = g.out_pixel
    if g.out_plane:
        place = 1
    while first < end:
        sample_block(
            w, memory.arena + g.source + image * g.in_image, memory.arena + g.zeros,
            memory.arena + g.grid + image * g.grid_image + 2 * first, <int> min(SAMPLES, end - first),
            memory.scratch, memory.arena + g.target + image * g.out_image + first * place,
        )
        first += SAMPLES


cdef void sample_block(
    const Work* w, const float* source, const float* zeros, const float* grid, int points, float* scratch, float* out
) noexcept nogil:
    """Up to SAMPLES points."""
    cdef const Geometry* g = &w.geometry
    cdef float* weights = scratch + 2 * SAMPLES
    cdef float* sums = weights + 4 * SAMPLES
    cdef int* indices = <int*> (sums + 4 * SAMPLES)
    cdef Py_ssize_t* offsets = <Py_ssize_t*> (indices + 4 * SAMPLES)
    cdef int tap, p
    places(grid, points, &w.columns, scratch)
    places(grid + 1, points, &w.rows, scratch + SAMPLES)
    if g.taps == 1:
        nearest(scratch, scratch + SAMPLES, points, &w.columns, &w.rows, indices)
    else:
        taps(scratch, scratch + SAMPLES, points, &w.columns, &w.rows, indices, weights)
    for tap in range(g.taps):
        find_offsets(indices + tap * SAMPLES, points, g.in_pixel, zeros - source, offsets + tap * SAMPLES)
    if g.out_plane:
        sum_quads(source, offsets, weights, g.taps, points, sums)
        by_planes(sums, points, g.channels, out, g.out_plane)
    else:
        for p in range(points):
            sum_pixels(source, offsets + p, weights + p, g.taps, (g.channels + LANES - 1) // LANES, out + p * g.out_pixel)


cdef inline void sum_pixels(
    const float* source, const Py_ssize_t* offsets, const float* weights, int count, Py_ssize_t vectors, float* out
) noexcept nogil:
    """One point: the weighted sum of its pixels, or its only one."""
    cdef const float* first = source + offsets[0]
    cdef const float* second
    cdef const float* third
    cdef const float* fourth
    cdef Py_ssize_t i
    cdef vec a, b, c, d
    if count == 1:
        for i in range(vectors):
            store(out + i * LANES, load(first + i * LANES))
        return
    second, third = source + offsets[SAMPLES], source + offsets[2 * SAMPLES]
    fourth = source + offsets[3 * SAMPLES]
    a, b, c, d = splat(weights[0]), splat(weights[SAMPLES]), splat(weights[2 * SAMPLES]), splat(weights[3 * SAMPLES])
    for i in range(vectors):
        store(
            out + i * LANES,
            fma(d, load(fourth + i * LANES), fma(
                c, load(third + i * LANES), fma(b, load(second + i * LANES), a * load(first + i * LANES))
            )),
        )
