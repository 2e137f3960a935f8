"""Products with weights in 8 or 4 bits, and rows of such a table: weights become floats only in registers.

    QuantizedProduct    out[i, o] = activation(sum over k of x[i, k] * q[o, k] * scale[o, k / group] + bias[o] + residual[i, o])
    QuantizedRows       out[i] = q[index[i]] * scale[index[i]]          an embedding, from rows or from panels

A language model that writes text reads each of its weights once for every token, and does one multiply-add with it: memory
sets its pace, and a weight of a quarter or an eighth of the bytes comes four or eight times as fast.

The weights are cut into panels of QUANTIZED_WIDTH outputs (quantized_tile.pxd); a task is some panels, for all rows. Where
the CPU multiplies bytes, split_int8_product.pyx takes the place of the first step.
"""

from kuiper.engine.quantized_output cimport Picking, Product, finish, picked, tasks_of
from kuiper.engine.quantized_tile cimport (
    QUANTIZED_BLOCK, QUANTIZED_ROWS, QUANTIZED_VECTORS, QUANTIZED_WIDTH, QuantizedWork, tile_4, tile_8, tile_floats, to_floats,
)
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES

WIDTH = QUANTIZED_WIDTH  # outputs of a panel

cdef enum:
    FEW = 2 * QUANTIZED_ROWS  # rows for which weights become floats in registers only

cdef struct Multiplying:
    Product product
    const unsigned char* weights  # [panels][groups * depth * bits / 8][QUANTIZED_WIDTH]
    const float* scales  # [panels][groups][QUANTIZED_WIDTH]
    const float* bias  # [panels][QUANTIZED_WIDTH]
    Py_ssize_t panels, panel_bytes, tasks

cdef struct Rows:
    Picking picking
    Py_ssize_t width  # outputs of a panel, in which the numbers of one are so far apart; a table in rows has panels of 1
    Py_ssize_t table, scales  # bindings


cdef class QuantizedProduct(Step):
    """See the head of this file.

    Parameters
    ----------
    numbers : dict of numbers, the fields of Product
    weights : uint8 (panels, groups * depth * bits / 8, WIDTH)
    scales : (panels, groups, WIDTH)
    bias : (panels, WIDTH)
    """

    cdef Multiplying work

    def __init__(
        self, dict numbers, const unsigned char[:, :, ::1] weights, const float[:, :, ::1] scales,
        const float[:, ::1] bias,
    ):
        cdef Multiplying* w = &self.work
        w.product = numbers
        w.weights, w.scales, w.bias = &weights[0, 0, 0], &scales[0, 0, 0], &bias[0, 0]
        w.panels, w.panel_bytes = weights.shape[0], weights.shape[1] * weights.shape[2]
        w.tasks = self.tasks = tasks_of(w.panels, w.panel_bytes)
        self.keeps = (weights, scales, bias)
        self.numbers, self.run = w, multiply
        self.scratch_floats = QUANTIZED_ROWS * QUANTIZED_WIDTH
        if w.product.rows > FEW:
            self.scratch_floats += w.product.groups * w.product.depth * QUANTIZED_BLOCK * LANES


cdef void multiply(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some panels, for all rows."""
    cdef const Multiplying* w = <const Multiplying*> numbers
    cdef Py_ssize_t panel
    for panel in range(task * w.panels // w.tasks, (task + 1) * w.panels // w.tasks):
        multiply_panel(w, panel, memory)


cdef inline void multiply_panel(const Multiplying* w, Py_ssize_t panel, const Memory* memory) noexcept nogil:
    """One panel, for tiles of rows that differ by at most one row."""
    cdef const Product* p = &w.product
    cdef Py_ssize_t first = panel * QUANTIZED_WIDTH
    cdef QuantizedWork work
    cdef int block, vector
    work.groups, work.depth = p.groups, p.depth
    work.weights, work.bias = w.weights + panel * w.panel_bytes, w.bias + first
    work.scales = w.scales + panel * p.groups * QUANTIZED_WIDTH
    work.floats = memory.scratch + QUANTIZED_ROWS * QUANTIZED_WIDTH
    if p.rows <= FEW:
        multiply_rows(p, &work, first, -1, memory)
        return
    for block in range(QUANTIZED_VECTORS // QUANTIZED_BLOCK):
        vector = block * QUANTIZED_BLOCK
        if first + vector * LANES < p.outputs:
            to_floats(<int> p.bits, vector, &work, <float*> work.floats)
            multiply_rows(p, &work, first, vector, memory)


cdef inline void multiply_rows(
    const Product* p, const QuantizedWork* work, Py_ssize_t first, int vector, const Memory* memory
) noexcept nogil:
    """All rows times a panel, or times the block of vectors from ``vector`` on, if that is not -1."""
    cdef Py_ssize_t tiles = (p.rows + QUANTIZED_ROWS - 1) // QUANTIZED_ROWS, index, row = 0, end
    cdef const float* x[QUANTIZED_ROWS]
    cdef float* sums[QUANTIZED_ROWS]
    cdef int rows, i
    for index in range(tiles):
        end = (index + 1) * p.rows // tiles
        rows = <int> (end - row)
        for i in range(rows):
            x[i] = memory.arena + p.x + (row + i) * p.x_row
            sums[i] = memory.scratch + i * QUANTIZED_WIDTH
        if vector >= 0:
            tile_floats(rows, vector, work, x, sums)
        elif p.bits == 8:
            tile_8(rows, work, x, sums)
        else:
            tile_4(rows, work, x, sums)
        for i in range(rows):
            if vector >= 0:
                finish(p, sums[i] + vector * LANES, row + i, first + vector * LANES, QUANTIZED_BLOCK * LANES, memory)
            else:
                finish(p, sums[i], row + i, first, QUANTIZED_WIDTH, memory)
        row = end


cdef class QuantizedRows(Step):
    """See the head of this file.

    Parameters
    ----------
    numbers : dict of integers, the fields of Picking
    width : outputs of a panel
    table, scales : the numbers of these bindings
    """

    cdef Rows rows

    def __init__(self, dict numbers, Py_ssize_t width, Py_ssize_t table, Py_ssize_t scales):
        self.rows.picking = numbers
        self.rows.width, self.rows.table, self.rows.scales = width, table, scales
        self.tasks = self.rows.picking.count
        self.numbers, self.run = &self.rows, row_of


cdef void row_of(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One row of the table; row 0 and a flag if the index lies outside."""
    cdef const Rows* r = <const Rows*> numbers
    cdef const Picking* p = &r.picking
    cdef float* out = memory.arena + p.out + task * p.out_row
    cdef const unsigned char* table = <const unsigned char*> memory.bindings[r.table]
    cdef const float* scales = memory.bindings[r.scales]
    cdef Py_ssize_t index = picked(p, task, memory), first = index - index % r.width, i  # the panel's first row
    cdef unsigned char byte
    table += first * (p.numbers * p.bits // 8) + index % r.width
    scales += first * (p.numbers // p.group) + index % r.width
    for i in range(p.numbers):
        if p.bits == 8:
            out[i] = scales[i // p.group * r.width] * <float> <signed char> table[i * r.width]
        else:
            byte = table[i // 2 * r.width]
            byte = byte << 4 if i % 2 == 0 else byte
            out[i] = scales[i // p.group * r.width] * <float> (<signed char> byte >> 4)
