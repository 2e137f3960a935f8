"""What both kinds of products with weights in 8 or 4 bits share: their numbers, and what becomes of the sums of a panel.

Both read rows of such a table, too.
"""

from libc.string cimport memcpy

from kuiper.engine.index_check cimport checked_index
from kuiper.engine.step cimport Memory
from kuiper.simd.activations cimport activate
from kuiper.simd.vector cimport LANES, load, store

cdef enum:
    GRAIN = 1 << 14  # bytes of weights of a task

cdef struct Product:
    Py_ssize_t x, x_row, out, out_row, residual, residual_row  # offsets into the arena and strides, in floats
    bint has_residual
    Py_ssize_t rows, outputs, bits, groups, depth  # inputs of a group
    int activation
    float alpha, beta

cdef struct Picking:
    Py_ssize_t index  # bytes from the beginning of the arena
    Py_ssize_t out, out_row  # in floats
    Py_ssize_t count, size, numbers, bits, group
    Py_ssize_t error_flag  # where a flag is set for an index that lies outside


cdef inline Py_ssize_t tasks_of(Py_ssize_t panels, Py_ssize_t panel_bytes) noexcept nogil:
    """Into how many tasks the panels of a weight fall."""
    return max(1, min(panels, panels * panel_bytes // GRAIN))


cdef inline Py_ssize_t picked(const Picking* p, Py_ssize_t row, const Memory* memory) noexcept nogil:
    """The index of a row of the output; 0 and a flag if it lies outside of the table."""
    cdef long long index
    memcpy(&index, <const char*> memory.arena + p.index + 8 * row, 8)
    return checked_index(index, 0, p.size, p.error_flag, memory)


cdef inline void finish(
    const Product* p, const float* sums, Py_ssize_t row, Py_ssize_t first, Py_ssize_t width, const Memory* memory
) noexcept nogil:
    """Residual and activation of a panel's sums for one row, and whole vectors to the output."""
    cdef float* out = memory.arena + p.out + row * p.out_row + first
    cdef const float* residual = memory.arena + p.residual + row * p.residual_row + first
    cdef Py_ssize_t vectors = (min(width, p.outputs - first) + LANES - 1) // LANES, v
    for v in range(vectors):
        if p.has_residual:
            store(out + v * LANES, load(sums + v * LANES) + load(residual + v * LANES))
        else:
            store(out + v * LANES, load(sums + v * LANES))
    activate(out, vectors * LANES, p.activation, p.alpha, p.beta)
