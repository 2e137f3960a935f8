"""The two products of attention for a block of rows, where keys and values lie row by row.

    scores (rows, seen) = queries @ keys^T          mixed (rows, numbers) = scores @ values

Keys, and values, are packed panel by panel; a panel is multiplied with all rows while it is near.
"""

from kuiper.engine.blocks cimport fill
from kuiper.engine.kernels.panel_packing cimport pack
from kuiper.engine.tile cimport MAX_ROWS, MAX_VECTORS, TileWork, rows_for, tile
from kuiper.simd.vector cimport LANES

cdef enum:
    KEYS = 256  # whose values are packed at a time

# Of one head: how keys and values lie, and how many vectors a panel of each has.
cdef struct Rows:
    Py_ssize_t numbers
    Py_ssize_t key_row, value_row  # floats from position to position
    Py_ssize_t key_vectors, value_vectors


cdef inline Py_ssize_t panel_floats(Py_ssize_t numbers) noexcept nogil:
    """Scratch that a product needs: a panel, a vector of zeros for each of a tile's, pointers to rows and targets."""
    cdef Py_ssize_t pointers = 2 * MAX_ROWS * <Py_ssize_t> (sizeof(void*) // sizeof(float))
    return (max(<Py_ssize_t> KEYS, numbers) + 1) * MAX_VECTORS * LANES + pointers


cdef inline void multiply_keys(
    const Rows* r, const float* keys, Py_ssize_t seen, Py_ssize_t rows, const float* queries, Py_ssize_t query_row,
    float* scores, Py_ssize_t score_row, float* panel,
) noexcept nogil:
    """The scores of ``seen`` keys; each row is written up to a whole vector."""
    cdef Py_ssize_t width = r.key_vectors * LANES, i, columns, vectors
    for i in range((seen + width - 1) // width):
        columns = min(width, seen - i * width)
        vectors = (columns + LANES - 1) // LANES
        pack(keys + i * width * r.key_row, 1, r.key_row, r.numbers, columns, vectors * LANES, 1, panel)
        multiply(
            queries, query_row, panel, r.numbers, vectors, rows, scores + i * width, score_row, False,
            after_panel(r, panel),
        )


cdef inline void mix_values(
    const Rows* r, const float* values, Py_ssize_t seen, Py_ssize_t rows, const float* scores, Py_ssize_t score_row,
    float* mixed, Py_ssize_t mixed_row, float* panel,
) noexcept nogil:
    """The mixtures, some keys after the other; each row is written up to a whole vector."""
    cdef Py_ssize_t width = r.value_vectors * LANES, i, j, columns, vectors, depth
    cdef const float* packed
    for i in range((r.numbers + width - 1) // width):
        columns = min(width, r.numbers - i * width)
        vectors = (columns + LANES - 1) // LANES
        for j in range((seen + KEYS - 1) // KEYS):
            depth = min(<Py_ssize_t> KEYS, seen - j * KEYS)
            packed = values + j * KEYS * r.value_row + i * width
            if columns != r.value_row or columns != vectors * LANES:  # else a panel is what lies there
                pack(packed, r.value_row, 1, depth, columns, vectors * LANES, 1, panel)
                packed = panel
            multiply(
                scores + j * KEYS, score_row, packed, depth, vectors, rows, mixed + i * width, mixed_row, j > 0,
                after_panel(r, panel),
            )


cdef inline float* after_panel(const Rows* r, float* panel) noexcept nogil:
    """The memory behind the largest panel."""
    return panel + max(<Py_ssize_t> KEYS, r.numbers) * MAX_VECTORS * LANES


cdef inline void multiply(
    const float* a, Py_ssize_t a_row, const float* panel, Py_ssize_t depth, Py_ssize_t vectors, Py_ssize_t rows,
    float* out, Py_ssize_t out_row, bint adds, float* zeros,
) noexcept nogil:
    """out (rows, vectors * LANES) = a (rows, depth) @ panel, or what is added to it; in tiles that differ by one row."""
    cdef int most = rows_for(<int> vectors), i, height
    cdef Py_ssize_t tiles = (rows + most - 1) // most, index, row = 0, end
    cdef const float** pointers = <const float**> (zeros + MAX_VECTORS * LANES)
    cdef float** targets = <float**> (pointers + MAX_ROWS)
    cdef TileWork work
    fill(zeros, 0, vectors)
    work.taps, work.depth, work.weights, work.bias, work.ahead = 1, depth, panel, zeros, panel
    work.in_channel = work.out_channel = work.clamps = 0
    work.ahead_bytes = 0
    for index in range(tiles):
        end = (index + 1) * rows // tiles
        height = <int> (end - row)
        for i in range(height):
            pointers[i], targets[i] = a + (row + i) * a_row, out + (row + i) * out_row
        tile(height, <int> vectors, &work, pointers, <const float**> targets if adds else NULL, targets)
        row = end
