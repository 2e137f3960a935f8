"""Products with weights in 8 or 4 bits, in integers: for CPUs that multiply bytes and add them up in one instruction.

    SplitInt8       rows of numbers -> their slices (split_int8_tile.pxd says what these are)
    SplitInt8Product    out[i, o] = activation(sum over k of x[i, k] * q[o, k] * scale[o, k / group] + bias[o] + residual[i, o])
    SplitInt8Rows       out[i, k] = q[index[i], k] * scale[index[i], k / group]       an embedding, from the same panels

Products that read the same rows share their slices. The weights are cut into panels of WIDTH outputs; a task is some
panels, for all rows. A row that has no slices, because there is NaN or infinity in it, is multiplied number by number.
"""

from kuiper.engine.split_int8_tile cimport (
    SPLIT_HEAD, SPLIT_ROWS, SPLIT_WIDTH, SLICES, SplitInt8Work, split_int8_4, split_int8_8, split_int8_8_in_groups, number_at,
    scale_at, split,
)
from kuiper.engine.quantized_output cimport Picking, Product, finish, picked, tasks_of
from kuiper.engine.step cimport Memory, Step

from kuiper.machine.build import VNNI
from kuiper.machine.levels import cpu_features

WIDTH = SPLIT_WIDTH  # outputs of a panel
RUNS = not VNNI or VNNI in (cpu_features() or ())  # without the instruction in the build: plain loops, which run anywhere

cdef struct Taking:
    Py_ssize_t x, x_row, out, out_row  # in floats
    Py_ssize_t rows, depth, groups, fours

cdef struct Multiplying:
    Product product
    Py_ssize_t slices, slice_row  # where the rows' slices lie, in floats
    SplitInt8Work tile  # of the first panel
    Py_ssize_t panels, panel_bytes, scale_bytes, tasks

cdef struct Rows:
    Picking picking
    SplitInt8Work tile  # of the first panel
    Py_ssize_t panel_bytes, scale_bytes


def words_of_row(Py_ssize_t groups, Py_ssize_t fours) -> int:
    """How many words of 4 bytes the slices of a row of ``groups`` times ``fours`` times four inputs are."""
    return SPLIT_HEAD + SLICES * groups * (1 + fours)


cdef class SplitInt8(Step):
    """See the head of this file. ``numbers`` names the fields of Taking.

    Parameters
    ----------
    numbers : dict of integers
    """

    cdef Taking work

    def __init__(self, dict numbers):
        self.work = numbers
        self.tasks = self.work.rows
        self.numbers, self.run = &self.work, take_row


cdef void take_row(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """The slices of one row."""
    cdef const Taking* w = <const Taking*> numbers
    split(
        memory.arena + w.x + task * w.x_row, w.depth, w.groups, w.fours, <int*> (memory.arena + w.out + task * w.out_row)
    )


cdef class SplitInt8Product(Step):
    """See the head of this file.

    Parameters
    ----------
    numbers : dict of numbers, the fields of Product
    slices : where the rows' slices begin, in floats, and their stride
    weights : uint8 (panels, groups * fours, 4 * WIDTH), in 4 bits half as many in the middle
    scales : float32 of whole rows, float16 of groups, as bytes (panels, groups, WIDTH * size)
    bias : (panels, WIDTH)
    in_groups : whether scales are those of groups
    """

    cdef Multiplying work

    def __init__(
        self, dict numbers, slices, const unsigned char[:, :, ::1] weights, const unsigned char[:, :, ::1] scales,
        const float[:, ::1] bias, bint in_groups,
    ):
        cdef Multiplying* w = &self.work
        w.product = numbers
        w.slices, w.slice_row = slices
        w.tile.groups, w.tile.fours = w.product.groups, (w.product.depth + 3) // 4
        w.tile.weights, w.tile.scales, w.tile.bias = &weights[0, 0, 0], &scales[0, 0, 0], &bias[0, 0]
        w.tile.in_groups = in_groups
        w.panels, w.panel_bytes = weights.shape[0], weights.shape[1] * weights.shape[2]
        w.scale_bytes = scales.shape[1] * scales.shape[2]
        w.tasks = self.tasks = tasks_of(w.panels, w.panel_bytes)
        self.keeps = (weights, scales, bias)
        self.numbers, self.run = w, multiply
        self.scratch_floats = SPLIT_ROWS * SPLIT_WIDTH


cdef void multiply(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some panels, for all rows."""
    cdef const Multiplying* w = <const Multiplying*> numbers
    cdef Py_ssize_t panel
    for panel in range(task * w.panels // w.tasks, (task + 1) * w.panels // w.tasks):
        multiply_panel(w, panel, memory)


cdef inline void multiply_panel(const Multiplying* w, Py_ssize_t panel, const Memory* memory) noexcept nogil:
    """One panel, for a few rows at a time."""
    cdef const Product* p = &w.product
    cdef Py_ssize_t first = panel * SPLIT_WIDTH, row, tiles = (p.rows + SPLIT_ROWS - 1) // SPLIT_ROWS, index
    cdef const int* x[SPLIT_ROWS]
    cdef float* sums[SPLIT_ROWS]
    cdef SplitInt8Work tile = w.tile
    cdef int rows, i
    tile.weights += panel * w.panel_bytes
    tile.scales = <const char*> tile.scales + panel * w.scale_bytes
    tile.bias += first
    for index in range(tiles):
        row = index * SPLIT_ROWS
        rows = <int> min(<Py_ssize_t> SPLIT_ROWS, p.rows - row)
        for i in range(rows):
            x[i] = <const int*> (memory.arena + w.slices + (row + i) * w.slice_row)
            sums[i] = memory.scratch + i * SPLIT_WIDTH
        if p.bits == 4:
            split_int8_4(rows, &tile, x, sums)
        elif tile.in_groups:
            split_int8_8_in_groups(rows, &tile, x, sums)
        else:
            split_int8_8(rows, &tile, x, sums)
        for i in range(rows):
            if not x[i][1]:
                multiply_plainly(p, &tile, memory.arena + p.x + (row + i) * p.x_row, sums[i])
            finish(p, sums[i], row + i, first, SPLIT_WIDTH, memory)


cdef void multiply_plainly(const Product* p, const SplitInt8Work* tile, const float* x, float* sums) noexcept nogil:
    """One panel for one row that has no slices: as the layer does it."""
    cdef Py_ssize_t column, k
    cdef float sum
    for column in range(SPLIT_WIDTH):
        sum = 0
        for k in range(p.groups * p.depth):
            sum += x[k] * (number_at(tile, <int> p.bits, k, column) * scale_at(tile, k // p.depth, column))
        sums[column] = sum + tile.bias[column]


cdef class SplitInt8Rows(Step):
    """See the head of this file.

    Parameters
    ----------
    numbers : dict of integers, the fields of Picking
    weights, scales, in_groups : as SplitInt8Product has them
    """

    cdef Rows rows

    def __init__(
        self, dict numbers, const unsigned char[:, :, ::1] weights, const unsigned char[:, :, ::1] scales, bint in_groups
    ):
        cdef Rows* r = &self.rows
        r.picking = numbers
        r.tile.weights, r.tile.scales, r.tile.in_groups = &weights[0, 0, 0], &scales[0, 0, 0], in_groups
        r.panel_bytes, r.scale_bytes = weights.shape[1] * weights.shape[2], scales.shape[1] * scales.shape[2]
        self.tasks = r.picking.count
        self.keeps = (weights, scales)
        self.numbers, self.run = r, row_of


cdef void row_of(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One row of the table, a column of its panel; row 0 and a flag if the index lies outside."""
    cdef const Rows* r = <const Rows*> numbers
    cdef const Picking* p = &r.picking
    cdef float* out = memory.arena + p.out + task * p.out_row
    cdef SplitInt8Work tile = r.tile
    cdef Py_ssize_t index = picked(p, task, memory), k
    cdef int bits = <int> p.bits
    tile.weights += index // SPLIT_WIDTH * r.panel_bytes
    tile.scales = <const char*> tile.scales + index // SPLIT_WIDTH * r.scale_bytes
    for k in range(p.numbers):
        out[k] = scale_at(&tile, k // p.group, index % SPLIT_WIDTH) * number_at(&tile, bits, k, index % SPLIT_WIDTH)
