"""A part of a matrix as the panel that a tile (tile.pxd) reads, whichever way the matrix lies in memory."""

from kuiper.engine.blocks cimport fill
from kuiper.engine.kernels.transpose cimport transpose
from kuiper.simd.vector cimport LANES, load, store, with_rest


cdef inline void pack(
    const float* b, Py_ssize_t b_depth, Py_ssize_t b_column, Py_ssize_t depth, Py_ssize_t columns, Py_ssize_t width,
    float scale, float* packed,
) noexcept nogil:
    """scale * b, (depth, columns) of it with these strides, as (depth, width) with zeros behind the columns."""
    cdef Py_ssize_t whole = columns // LANES, rest = columns - whole * LANES, k, i, column
    if b_column == 1:
        for k in range(depth):
            for i in range(whole):
                store(packed + k * width + i * LANES, load(b + k * b_depth + i * LANES) * scale)
            if rest:
                store(packed + k * width + whole * LANES, with_rest(b + k * b_depth + whole * LANES, rest, 0) * scale)
        return
    if rest:
        for k in range(depth):
            fill(packed + k * width + whole * LANES, 0, 1)
    if b_depth == 1 and depth >= LANES and columns >= LANES:
        transpose(b, b_column, packed, width, depth, columns)
    else:
        for column in range(columns):
            for k in range(depth):
                packed[k * width + column] = b[k * b_depth + column * b_column]
    if scale != 1:
        for i in range(depth * width // LANES):
            store(packed + i * LANES, load(packed + i * LANES) * scale)
