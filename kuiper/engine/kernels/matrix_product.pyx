"""Products of two matrices that are both computed at run time, one or a stack: queries by keys, attention by values.

    out[i, j] = scale * sum over k of a[i, k] * b[k, j]            (rows, depth) (depth, columns) -> (rows, columns)

Either matrix may lie in memory by rows or by columns. The tile (tile.pxd) reads rows of a where they are, and b in
panels of a few vectors, as many as suit the registers; so each task first copies its panel, turning it if b lies by columns:

                       b, packed                            one task: one matrix, one panel, a block of rows
                       +--------+--------+-----+
                       |        |        |     | depth      The copy costs depth * width moves for rows * depth * width
                       +--------+--------+-----+            multiply-adds: little, but for a few rows.
      a  +--------+    +--------+--------+-----+
    rows |        |    |  tile  |        |     |            The last panel may end within a vector: it is written to a
         |        |    |  tile  |        |     |            buffer first, unless the output has room for whole vectors.
         +--------+    +--------+--------+-----+

If a lies by columns, the rows of each tile are copied, too, once for each panel: turn a big one with a Copy step first.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 2008.
"""

import math

from kuiper.engine.arrangement import arranged

from kuiper.engine.blocks cimport copy_exactly, copy_in, fill
from kuiper.engine.kernels.panel_packing cimport pack
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.engine.tile cimport MAX_ROWS, MAX_VECTORS, TileWork, rows_for, tile
from kuiper.simd.vector cimport LANES

cdef enum:
    GRAIN = 1 << 19  # multiply-adds of a task
    TASKS = 16  # as many as there should be, if they are worth it

cdef struct Geometry:
    Py_ssize_t rows, depth, columns
    Py_ssize_t a, a_row, a_depth  # where it begins in the arena, and its strides, in floats
    Py_ssize_t b, b_depth, b_column
    Py_ssize_t out, out_row  # columns are neighbours
    bint whole_vectors  # each row of the output may be written up to a whole vector past its end
    Py_ssize_t panel_vectors  # of a panel, at most
    float scale

# Where in the stack the matrices of one product lie; a stride of 0 uses a matrix again.
cdef struct Stack:
    Py_ssize_t count
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t out[MAX_NDIM]
    Py_ssize_t a[MAX_NDIM]
    Py_ssize_t b[MAX_NDIM]

cdef struct Work:
    Geometry geometry
    Stack stack
    Py_ssize_t vectors, panels, blocks  # of the output's columns, of its vectors, of its rows


cdef class MatrixProduct(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry.

    Parameters
    ----------
    numbers : dict of numbers
    shape : of the stack; () for one product
    out_strides, a_strides, b_strides : from matrix to matrix, for each axis of ``shape``
    """

    cdef Work work

    def __init__(self, dict numbers, shape=(), out_strides=(), a_strides=(), b_strides=()):
        cdef Work* w = &self.work
        plan = arranged(shape, [out_strides, a_strides, b_strides], 1, MAX_NDIM, LANES)
        out_strides, a_strides, b_strides = plan.strides
        count = math.prod(shape)
        w.geometry = numbers
        w.stack = {"count": count, "shape": plan.shape, "out": out_strides, "a": a_strides, "b": b_strides}
        w.vectors = (numbers["columns"] + LANES - 1) // LANES
        w.panels = (w.vectors + w.geometry.panel_vectors - 1) // w.geometry.panel_vectors
        products = numbers["rows"] * numbers["depth"] * w.vectors * LANES // w.panels
        w.blocks = max(1, min(TASKS // (count * w.panels), products // GRAIN, numbers["rows"] // (2 * MAX_ROWS)))
        self.tasks = count * w.panels * w.blocks
        self.numbers, self.run = w, multiply
        # the panel, the tile, its bias, rows of a, and the pointers to rows of a and of the output
        self.scratch_floats = (numbers["depth"] + MAX_ROWS + 1) * MAX_VECTORS * LANES
        self.scratch_floats += MAX_ROWS * (numbers["depth"] + LANES) + 2 * MAX_ROWS * (sizeof(void*) // sizeof(float))


cdef void multiply(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One panel of one product, for one block of rows."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t block = task % w.blocks, panel = task // w.blocks % w.panels
    cdef Py_ssize_t first = panel * w.vectors // w.panels
    cdef Py_ssize_t width = ((panel + 1) * w.vectors // w.panels - first) * LANES
    cdef Py_ssize_t columns = min(width, g.columns - first * LANES)
    cdef const float* a = memory.arena + g.a
    cdef const float* b = memory.arena + g.b + first * LANES * g.b_column
    cdef float* out = memory.arena + g.out + first * LANES
    cdef float* packed = memory.scratch
    find_matrices(&w.stack, task // (w.blocks * w.panels), &a, &b, &out)
    pack(b, g.b_depth, g.b_column, g.depth, columns, width, g.scale, packed)
    multiply_rows(
        g, a, packed, columns, width, block * g.rows // w.blocks, (block + 1) * g.rows // w.blocks, out,
        packed + g.depth * MAX_VECTORS * LANES,
    )


cdef inline void find_matrices(
    const Stack* stack, Py_ssize_t index, const float** a, const float** b, float** out
) noexcept nogil:
    """On to the matrices of product ``index``."""
    cdef Py_ssize_t axis = MAX_NDIM, at
    while index > 0:
        axis -= 1
        at = index % stack.shape[axis]
        index = index // stack.shape[axis]
        a[0] += at * stack.a[axis]
        b[0] += at * stack.b[axis]
        out[0] += at * stack.out[axis]


cdef void multiply_rows(
    const Geometry* g, const float* a, const float* packed, Py_ssize_t columns, Py_ssize_t width, Py_ssize_t first,
    Py_ssize_t last, float* out, float* scratch,
) noexcept nogil:
    """Rows first .. last of one panel, in tiles that differ by at most one row."""
    cdef int vectors = <int> (width // LANES), most = rows_for(vectors), rows, i
    cdef bint direct = columns == width or g.whole_vectors
    cdef Py_ssize_t tiles = (last - first + most - 1) // most, index, row = first, end
    cdef float* buffer = scratch + MAX_VECTORS * LANES
    cdef float* own_rows = buffer + MAX_ROWS * MAX_VECTORS * LANES
    cdef const float** pointers = <const float**> (own_rows + MAX_ROWS * (g.depth + LANES))
    cdef float** targets = <float**> (pointers + MAX_ROWS)
    cdef TileWork work
    fill(scratch, 0, vectors)
    work.taps, work.depth, work.weights, work.bias, work.ahead = 1, g.depth, packed, scratch, packed
    work.ahead_bytes = 0
    work.in_channel = work.out_channel = work.clamps = 0
    for index in range(tiles):
        end = first + (index + 1) * (last - first) // tiles
        rows = <int> (end - row)
        if g.a_depth != 1:
            copy_in(a + row * g.a_row, g.a_row, g.a_depth, rows, g.depth, own_rows, False)
        for i in range(rows):
            pointers[i] = a + (row + i) * g.a_row if g.a_depth == 1 else own_rows + i * g.depth
            targets[i] = out + (row + i) * g.out_row if direct else buffer + i * width
        tile(rows, vectors, &work, pointers, NULL, targets)
        if not direct:
            for i in range(rows):
                copy_exactly(buffer + i * width, out + (row + i) * g.out_row, columns)
        row = end
