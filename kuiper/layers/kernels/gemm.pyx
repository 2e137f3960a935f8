"""Matrix product by register blocking: C (m, n) = A (m, k) B (k, n), float32, no BLAS.

The idea. A product of an MR x 1 column of A and a 1 x NR row of B needs MR + NR loads for MR * NR multiply-adds. If the
MR x NR sums stay in registers while k runs, memory hardly matters: this is the tile. Everything else serves to hand the tile
its operands in the order in which it reads them.

           B: panels of NR columns          packed A: [m / MR][k][MR]
           +----+----+----+--+              packed B: [n / NR][k][NR]
           |    |    |    |  |  k           (the last panel is filled up with zeros)
           +----+----+----+--+
    A      C
    +---+  +----+----+----+--+              for each block of KC steps along k, for each panel of A,
    |   |  |tile|    |    |  |  MR rows         for each panel of B:  tile += A panel * B panel
    +---+  +----+----+----+--+
    |   |  |    |    |    |  |              KC * MR floats of A stay in the L1 cache, KC * NR of B in L2.
    +---+  +----+----+----+--+
      k

The tile, in ``gemm.h``, is written with the vector type of ``kuiper/simd``, which keeps it in registers at any width (a plain
loop depends on the optimiser's mood: between 6 and 131 GFLOP/s for the same tile on AVX2).
Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 2008.
"""

from cython.parallel cimport prange

cdef extern from "kuiper/layers/kernels/gemm.h":
    enum:
        MR
        NR
    # sums (MR, NR) = a panel of A times a panel of B, over k steps, in the first ``rows`` and ``columns`` at least
    void tile "kuiper_gemm_tile"(
        Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t k, const float* a, const float* b, float* sums
    ) noexcept nogil

cdef enum:
    KC = 256  # steps along k in one go
    ROW_PANELS = 16  # panels of A in one task,
    COLUMN_PANELS = 4  # and of B: enough work for a thread, and KC steps of all of them fit L2

TILE_ROWS = MR
TILE_COLUMNS = NR


def pack_left(const float[:, :] a, float[:, :, ::1] packed, int num_threads):
    """Copy A (m, k) into panels (ceil(m / MR), k, MR); rows beyond m are zero."""
    cdef Py_ssize_t panel
    for panel in prange(packed.shape[0], nogil=True, num_threads=num_threads):
        pack_left_panel(a, packed, panel)


cdef void pack_left_panel(const float[:, :] a, float[:, :, ::1] packed, Py_ssize_t panel) noexcept nogil:
    cdef Py_ssize_t i, p, row
    for i in range(MR):
        row = panel * MR + i
        if row < a.shape[0]:
            for p in range(a.shape[1]):
                packed[panel, p, i] = a[row, p]
        else:
            for p in range(a.shape[1]):
                packed[panel, p, i] = 0


def pack_right(const float[:, :] b, float[:, :, ::1] packed, int num_threads):
    """Copy B (k, n) into panels (ceil(n / NR), k, NR); columns beyond n are zero."""
    cdef Py_ssize_t panel
    for panel in prange(packed.shape[0], nogil=True, num_threads=num_threads):
        pack_right_panel(b, packed, panel)


cdef void pack_right_panel(const float[:, :] b, float[:, :, ::1] packed, Py_ssize_t panel) noexcept nogil:
    cdef Py_ssize_t p, j, first = panel * NR, columns = min(<Py_ssize_t>NR, b.shape[1] - first)
    for p in range(b.shape[0]):
        for j in range(columns):
            packed[panel, p, j] = b[p, first + j]
        for j in range(columns, NR):
            packed[panel, p, j] = 0


def multiply(const float[:, :, ::1] left, const float[:, :, ::1] right, float[:, :] out, int num_threads):
    """out (m, n) = A B from packed operands; the rows of ``out`` must be contiguous."""
    cdef Py_ssize_t row_blocks = (left.shape[0] + ROW_PANELS - 1) // ROW_PANELS
    cdef Py_ssize_t column_blocks = (right.shape[0] + COLUMN_PANELS - 1) // COLUMN_PANELS
    cdef Py_ssize_t task
    for task in prange(row_blocks * column_blocks, nogil=True, num_threads=num_threads, schedule="static"):
        multiply_block(left, right, out, task % row_blocks, task // row_blocks)


cdef void multiply_block(
    const float[:, :, ::1] left, const float[:, :, ::1] right, float[:, :] out,
    Py_ssize_t row_block, Py_ssize_t column_block,
) noexcept nogil:
    """A few panels of rows times a few panels of columns; the sums along k are always added in the same order."""
    cdef Py_ssize_t k = left.shape[1], step_block, start, steps, row_panel, column_panel
    cdef Py_ssize_t last_row_panel = min((row_block + 1) * ROW_PANELS, left.shape[0])
    cdef Py_ssize_t last_column_panel = min((column_block + 1) * COLUMN_PANELS, right.shape[0])
    for step_block in range((k + KC - 1) // KC):
        start = step_block * KC
        steps = min(<Py_ssize_t>KC, k - start)
        for row_panel in range(row_block * ROW_PANELS, last_row_panel):
            for column_panel in range(column_block * COLUMN_PANELS, last_column_panel):
                multiply_tile(
                    &left[row_panel, start, 0], &right[column_panel, start, 0], out,
                    row_panel * MR, column_panel * NR, steps, start == 0,
                )


cdef inline void multiply_tile(
    const float* a, const float* b, float[:, :] out,
    Py_ssize_t first_row, Py_ssize_t first_column, Py_ssize_t steps, bint fresh,
) noexcept nogil:
    """One tile over a block of k: stored if it is the first block, else added to what is there."""
    cdef float[MR * NR] sums
    cdef Py_ssize_t rows = min(<Py_ssize_t>MR, out.shape[0] - first_row)
    cdef Py_ssize_t columns = min(<Py_ssize_t>NR, out.shape[1] - first_column)
    cdef Py_ssize_t i, j
    cdef float* c
    tile(rows, columns, steps, a, b, sums)
    for i in range(rows):
        c = &out[first_row + i, first_column]
        if fresh:
            for j in range(columns):
                c[j] = sums[i * NR + j]
        else:
            for j in range(columns):
                c[j] += sums[i * NR + j]
