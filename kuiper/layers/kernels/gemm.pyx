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

The tile is written with the vector types of gcc and clang, which keep it in registers at any width (a plain loop depends on
the optimiser's mood: between 6 and 131 GFLOP/s for the same tile on AVX2); other compilers get the plain loop.
Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 2008.
"""

from cython.parallel cimport prange

cdef extern from *:
    """
    /* Tile sizes by the registers there are: 32 of 16 floats, 16 of 8, 32 of 4, 16 of 4. */
    #if defined(__AVX512F__)
    enum { LANES = 16, MR = 8, VECTORS = 3 };
    #elif defined(__AVX2__)
    enum { LANES = 8, MR = 6, VECTORS = 2 };
    #elif defined(__ARM_NEON)
    enum { LANES = 4, MR = 8, VECTORS = 3 };
    #else
    enum { LANES = 4, MR = 4, VECTORS = 2 };
    #endif
    enum { NR = LANES * VECTORS };

    #if defined(__clang__)  /* which passes over gcc's pragma without a word */
    #define KUIPER_UNROLL _Pragma("clang loop unroll(full)")
    #else
    #define KUIPER_UNROLL _Pragma("GCC unroll 8")
    #endif

    #if defined(__GNUC__)
    typedef float kuiper_vec __attribute__((vector_size(4 * LANES), aligned(4)));

    /* rows and vectors are constants at each call, so the loops unroll and the sums live in registers */
    static inline __attribute__((always_inline)) void
    kuiper_tile_of(const int rows, const int vectors, Py_ssize_t k, const float *a, const float *b, float *sums) {
        kuiper_vec s[MR][VECTORS] = {{{0}}};
        for (Py_ssize_t p = 0; p < k; p++, a += MR, b += NR) {
            KUIPER_UNROLL for (int i = 0; i < rows; i++)
                KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                    s[i][v] += a[i] * *(const kuiper_vec *)(b + v * LANES);
        }
        KUIPER_UNROLL for (int i = 0; i < rows; i++)
            KUIPER_UNROLL for (int v = 0; v < vectors; v++)
                *(kuiper_vec *)(sums + i * NR + v * LANES) = s[i][v];
    }
    #else
    static void
    kuiper_tile_of(const int rows, const int vectors, Py_ssize_t k, const float *a, const float *b, float *sums) {
        for (int i = 0; i < MR * NR; i++) sums[i] = 0;
        for (Py_ssize_t p = 0; p < k; p++, a += MR, b += NR)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < vectors * LANES; j++)
                    sums[i * NR + j] += a[i] * b[j];
    }
    #endif

    /* The whole tile, and cheaper ones for a last panel that is mostly empty: a single row, a single vector. */
    static void
    kuiper_tile(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t k, const float *a, const float *b, float *sums) {
        if (rows == 1)
            kuiper_tile_of(1, VECTORS, k, a, b, sums);
        else if (columns <= LANES)
            kuiper_tile_of(MR, 1, k, a, b, sums);
        else
            kuiper_tile_of(MR, VECTORS, k, a, b, sums);
    }
    """
    enum:
        MR
        NR
    void kuiper_tile(
        Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t k, const float *a, const float *b, float *sums
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
    kuiper_tile(rows, columns, steps, a, b, sums)
    for i in range(rows):
        c = &out[first_row + i, first_column]
        if fresh:
            for j in range(columns):
                c[j] = sums[i * NR + j]
        else:
            for j in range(columns):
                c[j] += sums[i * NR + j]
