"""Rows of a table that lies in panels (packing.py), for a model that looks up and multiplies with the same numbers.

    out[i] = table[index[i]]           a row of the table is a column of its panel

    panel   [depth][lanes]             one number of each cache line or two: slower than a row, and hardly anything beside
             . . x . .                 the product that reads the whole table
             . . x . .

An index that lies outside sets ``error_flag`` (index_check.pxd).
"""

from libc.string cimport memcpy

from kuiper.engine.index_check cimport checked_index
from kuiper.engine.kernels.convolution_table cimport Panel
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES

cdef struct Geometry:
    Py_ssize_t index  # bytes from the beginning of the arena
    Py_ssize_t out, out_row  # in floats
    Py_ssize_t count, size, depth  # of indices, of the table's rows, of the numbers of a row
    Py_ssize_t lowest  # index: 0, or -size where one may count from the end
    Py_ssize_t error_flag  # offset of the flag in the arena, in floats

cdef struct Work:
    Geometry geometry
    const float* weights
    const Panel* panel
    Py_ssize_t panels


cdef class PanelRows(Step):
    """See the head of this file.

    Parameters
    ----------
    numbers : dict of integers, the fields of Geometry
    weights : packed, one panel behind the other
    panels : int64 (panels, 4), as a convolution has them
    """

    cdef Work work

    def __init__(self, dict numbers, const float[::1] weights, const Py_ssize_t[:, ::1] panels):
        cdef Work* work = &self.work
        work.geometry = numbers
        work.weights, work.panel, work.panels = &weights[0], <const Panel*> &panels[0, 0], panels.shape[0]
        self.tasks = work.geometry.count
        self.keeps = (weights, panels)
        self.numbers, self.run = work, row_of


cdef void row_of(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One row of the table; row 0 and a flag if the index lies outside."""
    cdef const Work* work = <const Work*> numbers
    cdef const Geometry* g = &work.geometry
    cdef float* out = memory.arena + g.out + task * g.out_row
    cdef long long index
    cdef const Panel* panel
    cdef const float* column
    cdef Py_ssize_t row, k
    memcpy(&index, <const char*> memory.arena + g.index + 8 * task, 8)
    row = checked_index(index, g.lowest, g.size, g.error_flag, memory)
    panel = panel_of(work, row)
    column = work.weights + panel.weights + (row - panel.out_channel)
    for k in range(g.depth):
        out[k] = column[k * panel.vectors * LANES]


cdef inline const Panel* panel_of(const Work* work, Py_ssize_t row) noexcept nogil:
    """The last panel that begins with this row of the table or before: between ``first`` and ``end``, halved until one is left."""
    cdef Py_ssize_t first = 0, end = work.panels, middle
    while end - first > 1:
        middle = (first + end) // 2
        if work.panel[middle].out_channel <= row:
            first = middle
        else:
            end = middle
    return &work.panel[first]
