"""Winograd's convolution for 3 x 3 kernels: 1.4 to 4 times fewer multiplications for the same numbers.

The outputs are cut into tiles of size x size pixels, size 2 or 4. A tile sees edge x edge inputs, edge = size + 2 with
stride 1, so neighbours overlap by two; edge = 2 * size + 1 with stride 2, and they overlap by one. Each of the
edge * edge positions is a matrix product of its own, over the channels:

    input tiles               V[position][tile][channel]              M[position][tile][out_channel]         outputs
    +------+                  +--------------+      U[position]       +-----------+                          +----+
    |      |  1. B d B'       | tile 0       |    +-----------+       |           |     3. A m A' + bias      |    |
    |      | -------------->  | tile 1       | *  | channels  |  =    |           |  ------------------->    +----+
    +------+  LANES channels  | ...          |    |           |  2.   |           |     + residual, clamp    size x size
    edge x edge at once       +--------------+    +-----------+       +-----------+
                              36 (16) of them     36 (16) of them     36 (16) of them

1 and 3 are additions and memory traffic; 2 is the tile of tile.pxd with one tap. For F(4, 3) 36 multiplications replace
16 * 9 = 144; for F(2, 3) 16 replace 4 * 9 = 36. With stride 2 there are 81 (25) positions, which share 36 (16) matrices U:
those that share one follow each other.

A task is a block of tiles times a group of panels of output channels. V of the block and M of one panel stay in the
second-level cache; the weights are read once for each block, from front to end. Tiles that stick out of the image see
zeros there, and write only outputs that exist.

The result is the plain convolution up to rounding (``engine/winograd_matrices.py``). A NaN or an infinity reaches at
least the outputs that it reaches there; it may reach the others of its tile, and an infinity may arrive as a NaN.

Sources: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2016; J. Yepez, S.-B. Ko, "Stride 2 1-D,
2-D, and 3-D Winograd for Convolutional Neural Networks", 2020.
"""

import numpy as np

from kuiper.engine.kernels.winograd_geometry cimport Geometry, Place, Work, place_of
from kuiper.engine.kernels.winograd_transforms cimport (
    input_tile_2, input_tile_2_stride_2, input_tile_4, input_tile_4_stride_2,
    output_tile_2, output_tile_2_stride_2, output_tile_4, output_tile_4_stride_2,
)
from kuiper.engine.step cimport Memory, Step
from kuiper.engine.tile cimport MAX_VECTORS, TileWork, rows_for, share_of, tile
from kuiper.simd.activations cimport CLIP, NONE, activate
from kuiper.simd.vector cimport LANES, at_least, at_most, load, splat, store, vec

cdef enum:
    LINE = 16  # floats of a cache line
    SOON = 2048  # floats, two pages of memory: weights are asked for at least so far ahead


cdef class Winograd(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of integers
    weights : as ``winograd_packing.pack_winograd`` gives them for the same ``size``, ``stride`` and ``panels``
    bias : one for each output channel, whole vectors
    """

    cdef Work work

    def __init__(self, dict numbers, const float[::1] weights, const float[::1] bias):
        cdef Work* work = &self.work
        cdef Geometry* g = &work.geometry
        cdef float[::1] zeros = np.zeros(MAX_VECTORS * LANES, np.float32)
        cdef Py_ssize_t tiles, widest
        g[0] = numbers
        work.edge = g.stride * (g.size - 1) + 3
        work.positions = work.edge * work.edge
        number_positions(work)
        work.tiles_h = (g.out_h + g.size - 1) // g.size
        work.tiles_w = (g.out_w + g.size - 1) // g.size
        work.depth = (g.channels + LANES - 1) // LANES * LANES
        widest = (g.out_channels // LANES + g.panels - 1) // g.panels * LANES
        work.tables = (2 * g.block * <Py_ssize_t> (sizeof(void*) // sizeof(float)) + LINE - 1) // LINE * LINE
        # One vector more: were the distance a multiple of 4096 bytes, all positions would share one set of the cache.
        work.values_position = g.block * work.depth + LANES
        work.sums_position = g.block * widest + LANES
        work.weights = self.weights = &weights[0]
        self.weight_floats = weights.shape[0]
        work.bias = &bias[0]
        work.zeros = &zeros[0]
        tiles = g.images * work.tiles_h * work.tiles_w
        self.keeps = (weights, bias, zeros)
        self.numbers = work
        self.run = convolve
        self.tasks = (tiles + g.block - 1) // g.block * g.panel_groups
        # pointers to the tiles' rows of V and M, then V, M, and one tile of pixels
        self.scratch_floats = work.tables
        self.scratch_floats += work.positions * (work.values_position + work.sums_position + work.depth)


cdef void number_positions(Work* work) noexcept:
    """The order of the positions, and the weights of each.

    With stride 2 the last ``size`` rows of G are the same, so the positions in the last ``size`` rows and columns are.
    """
    cdef Py_ssize_t slots = work.geometry.size + 2, row_slot, column_slot, row, column
    cdef int index = 0
    for row_slot in range(slots):
        for column_slot in range(slots):
            for row in range(row_slot, work.edge if row_slot == slots - 1 else row_slot + 1):
                for column in range(column_slot, work.edge if column_slot == slots - 1 else column_slot + 1):
                    work.order[index] = <int> (row * work.edge + column)
                    work.slot[index] = <int> (row_slot * slots + column_slot)
                    index += 1


cdef void convolve(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One block of tiles, for one group of panels: its input transform, then products and outputs panel by panel."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t tiles = g.images * work.tiles_h * work.tiles_w
    cdef Py_ssize_t blocks = (tiles + g.block - 1) // g.block
    cdef Py_ssize_t group = task // blocks, panel, row
    cdef Py_ssize_t first = task % blocks * g.block
    cdef Py_ssize_t count = min(g.block, tiles - first), vectors = g.out_channels // LANES, start, end
    cdef const float** rows_of_values = <const float**> memory.scratch
    cdef float** rows_of_sums = <float**> (rows_of_values + g.block)
    cdef float* values = memory.scratch + work.tables
    cdef float* sums = values + work.positions * work.values_position
    for row in range(count):
        rows_of_values[row] = values + row * work.depth
    transform_inputs(work, first, count, memory.arena, values, sums + work.positions * work.sums_position)
    for panel in range(group * g.panels // g.panel_groups, (group + 1) * g.panels // g.panel_groups):
        start = panel * vectors // g.panels
        end = (panel + 1) * vectors // g.panels
        multiply(work, start * LANES, <int> (end - start), count, rows_of_values, rows_of_sums, sums)
        transform_outputs(work, start * LANES, (end - start) * LANES, first, count, sums, memory.arena)


cdef void transform_inputs(
    const Work* work, Py_ssize_t first, Py_ssize_t count, const float* arena, float* values, float* framed
) noexcept nogil:
    """V of the tiles first .. first + count. A tile at the border is first copied into ``framed``, with its zeros."""
    cdef const Geometry* g = &work.geometry
    cdef const float* image
    cdef const float* pixels
    cdef Py_ssize_t index, row, pixel, vector
    cdef Place place
    for index in range(count):
        place = place_of(work, first + index)
        image = arena + g.source + place.image * g.in_image
        if (
            place.in_y >= 0 and place.in_y + work.edge <= g.in_h
            and place.in_x >= 0 and place.in_x + work.edge <= g.in_w
        ):
            pixels = image + place.in_y * g.in_row + place.in_x * g.in_pixel
            row = g.in_row
            pixel = g.in_pixel
        else:
            frame(work, &place, image, framed)
            pixels = framed
            row = work.edge * work.depth
            pixel = work.depth
        for vector in range(work.depth // LANES):
            transform_input(g, pixels + vector * LANES, row, pixel, values, work.values_position)
            values += LANES


cdef inline void transform_input(
    const Geometry* g, const float* pixels, Py_ssize_t row, Py_ssize_t pixel, float* values, Py_ssize_t position
) noexcept nogil:
    """V of one tile, a vector of channels."""
    if g.stride == 2:
        if g.size == 4:
            input_tile_4_stride_2(pixels, row, pixel, values, position)
        else:
            input_tile_2_stride_2(pixels, row, pixel, values, position)
    elif g.size == 4:
        input_tile_4(pixels, row, pixel, values, position)
    else:
        input_tile_2(pixels, row, pixel, values, position)


cdef void frame(const Work* work, const Place* place, const float* image, float* framed) noexcept nogil:
    """Copy a tile's pixels, whole vectors of channels, and zeros for those outside of the image."""
    cdef const Geometry* g = &work.geometry
    cdef const float* pixel
    cdef Py_ssize_t y, x, vector
    for y in range(place.in_y, place.in_y + work.edge):
        for x in range(place.in_x, place.in_x + work.edge):
            if 0 <= y < g.in_h and 0 <= x < g.in_w:
                pixel = image + y * g.in_row + x * g.in_pixel
                for vector in range(work.depth // LANES):
                    store(framed + vector * LANES, load(pixel + vector * LANES))
            else:
                for vector in range(work.depth // LANES):
                    store(framed + vector * LANES, splat(0))
            framed += work.depth


cdef void multiply(
    const Work* work, Py_ssize_t first_channel, int vectors, Py_ssize_t count, const float** rows_of_values,
    float** rows_of_sums, float* sums,
) noexcept nogil:
    """M[position] = V[position] U[position] for one panel: a position's weights serve all tiles of the block."""
    cdef Py_ssize_t channels = work.geometry.channels, columns = vectors * LANES, slots = work.geometry.size + 2
    cdef Py_ssize_t chunks = (count + rows_for(vectors) - 1) // rows_for(vectors)
    cdef Py_ssize_t product, sharing, index, first, end, matrix = channels * columns
    cdef const float* weights = work.weights + first_channel * channels * slots * slots
    cdef const char* ahead = NULL
    cdef int rows
    cdef TileWork tiled
    tiled.taps = 1
    tiled.depth = channels
    tiled.bias = work.zeros
    tiled.clamps = False
    for index in range(count):
        rows_of_sums[index] = sums + index * columns
    for product in range(work.positions):
        # The same rows in each position, only further on: the tables of pointers serve all.
        tiled.in_channel = work.order[product] * work.values_position
        tiled.out_channel = work.order[product] * work.sums_position
        tiled.weights = weights + work.slot[product] * matrix
        if product == 0 or work.slot[product] != work.slot[product - 1]:
            # All tiles that read this matrix together ask for the next one, or for a later one if the next comes too soon.
            sharing = 1
            while product + sharing < work.positions and work.slot[product + sharing] == work.slot[product]:
                sharing += 1
            tiled.ahead_bytes = share_of(vectors, sharing * chunks)
            ahead = <const char*> (tiled.weights + max(matrix, <Py_ssize_t> SOON))
        first = 0
        for index in range(chunks):
            end = (index + 1) * count // chunks
            tiled.ahead = ahead
            ahead += channels * tiled.ahead_bytes
            rows = <int> (end - first)
            tile(rows, vectors, &tiled, rows_of_values + first, NULL, rows_of_sums + first)
            first = end


cdef void transform_outputs(
    const Work* work, Py_ssize_t out_channel, Py_ssize_t columns, Py_ssize_t first, Py_ssize_t count, const float* sums,
    float* arena,
) noexcept nogil:
    """The outputs of one panel, ``columns`` channels of them, with all that is left to do on them."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t index, y, x, rows, row_columns
    cdef float* out
    cdef const float* residual = NULL
    cdef Place place
    for index in range(count):
        place = place_of(work, first + index)
        out = arena + g.target + place.image * g.out_image + place.out_y * g.out_row + place.out_x * g.out_pixel
        out += out_channel
        if g.residual >= 0:
            y = (place.image * g.out_h + place.out_y) * g.out_w + place.out_x
            residual = arena + g.residual + y * g.residual_pixel + out_channel
        rows = min(g.size, g.out_h - place.out_y)
        row_columns = min(g.size, g.out_w - place.out_x)
        write_tile(work, sums + index * columns, work.bias + out_channel, residual, columns, rows, row_columns, out)
        if g.activation != CLIP and g.activation != NONE:
            for y in range(rows):
                for x in range(row_columns):
                    activate(out + y * g.out_row + x * g.out_pixel, columns, g.activation, g.alpha, g.beta)


cdef void write_tile(
    const Work* work, const float* sums, const float* bias, const float* residual, Py_ssize_t columns,
    Py_ssize_t rows, Py_ssize_t row_columns, float* out,
) noexcept nogil:
    """rows x row_columns outputs of one tile, a vector of channels at a time."""
    cdef const Geometry* g = &work.geometry
    cdef Py_ssize_t vector, c, y, x
    cdef vec result[16]
    cdef vec value, shift, low = splat(g.alpha), high = splat(g.beta)
    cdef bint clamps = g.activation == CLIP
    for vector in range(columns // LANES):
        c = vector * LANES
        if g.stride == 2:
            if g.size == 4:
                output_tile_4_stride_2(sums + c, work.sums_position, result)
            else:
                output_tile_2_stride_2(sums + c, work.sums_position, result)
        elif g.size == 4:
            output_tile_4(sums + c, work.sums_position, result)
        else:
            output_tile_2(sums + c, work.sums_position, result)
        shift = load(bias + c)
        for y in range(rows):
            for x in range(row_columns):
                value = result[y * g.size + x] + shift
                if residual != NULL:
                    value = value + load(residual + (y * g.out_w + x) * g.residual_pixel + c)
                if clamps:
                    value = at_most(at_least(value, low), high)
                store(out + y * g.out_row + x * g.out_pixel + c, value)
