"""Rows of numbers times panels of 16 columns, which lie where a cache has them: what attention multiplies.

Few rows have a tile of their own, which takes several panels together (thin_tile.pxd); more go through the tile of all
products (tile.pxd). The order of each sum is the same.
"""

from kuiper.engine.kernels.cache_panels cimport PANEL
from kuiper.engine.thin_tile cimport THIN_PANELS, THIN_ROWS, THIN_VECTORS, thin_tile
from kuiper.engine.tile cimport MAX_ROWS, MAX_VECTORS, TileWork, rows_for, share_of, tile
from kuiper.simd.vector cimport LANES, fma_of_one

cdef enum:
    MOST = MAX_ROWS  # rows of a product, at most


cdef inline int rows_of_task() noexcept nogil:
    """The most rows that are multiplied together."""
    return rows_for(PANEL // LANES) if PANEL <= MAX_VECTORS * LANES else 1


cdef inline void plain_tile(int rows, const TileWork* work, const float** pointers, float** targets) noexcept nogil:
    """The tile for builds whose vectors are too short for a panel."""
    cdef float* out
    cdef Py_ssize_t k
    cdef int i, j
    for i in range(rows):
        out = targets[i] + work.out_channel
        for j in range(PANEL):
            out[j] = 0
        for k in range(work.depth):
            for j in range(PANEL):
                out[j] = fma_of_one(pointers[i][k], work.weights[k * PANEL + j], out[j])


cdef inline void multiply(
    int rows, const float* panels, Py_ssize_t depth, Py_ssize_t first, Py_ssize_t end, Py_ssize_t panel,
    const float* behind, Py_ssize_t behind_panel, const float* zeros, const float** pointers, float** targets,
) noexcept nogil:
    """targets[row] = pointers[row] (depth) times panels ``first`` to ``end`` (depth, PANEL), ``panel`` floats apart.

    Targets have room for all panels. What will be read after them, ``behind`` and ``behind_panel`` floats further, is
    asked for with the last ones.
    """
    cdef TileWork work
    cdef float* parts[MOST]
    cdef const float* ahead[THIN_VECTORS]
    cdef Py_ssize_t p = first, after
    cdef int i
    if rows <= THIN_ROWS and THIN_PANELS > 1:
        while p + THIN_PANELS <= end:
            for i in range(THIN_PANELS):
                after = p + THIN_PANELS + i - end
                ahead[i] = panels + (end + after) * panel if after < 0 else behind + after * behind_panel
            for i in range(rows):
                parts[i] = targets[i] + p * PANEL
            thin_tile(rows, panels + p * panel, panel, depth, ahead, pointers, parts)
            p += THIN_PANELS
    work.taps, work.depth, work.bias = 1, depth, zeros
    work.in_channel = work.clamps = 0
    work.ahead_bytes = share_of(PANEL // LANES, 1)
    for p in range(p, end):
        work.weights, work.out_channel = panels + p * panel, p * PANEL
        work.ahead = work.weights + panel if p + 1 < end else behind
        if PANEL <= MAX_VECTORS * LANES:
            tile(rows, PANEL // LANES, &work, pointers, NULL, targets)
        else:
            plain_tile(rows, &work, pointers, targets)
