"""What both kinds of products with weights in 8 or 4 bits share: their numbers, and what becomes of the sums of a panel."""

from kuiper.engine.step cimport Memory
from kuiper.simd.activations cimport activate
from kuiper.simd.vector cimport LANES, load, store

cdef struct Product:
    Py_ssize_t x, x_row, out, out_row, residual, residual_row  # offsets into the arena and strides, in floats
    bint has_residual
    Py_ssize_t rows, outputs, bits, groups, depth  # inputs of a group
    int activation
    float alpha, beta


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
