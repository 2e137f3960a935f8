"""Matrix product by register blocking: C (m, n) = A (m, k) B (k, n), float32, no BLAS.

The idea. A product of an MR x 1 column of A and a 1 x NR row of B needs MR + NR loads for MR * NR multiply-adds. If the
MR x NR sums stay in registers while k runs, memory hardly matters: this is the tile. Everything else serves to hand the tile
its operands in the order in which it reads them.

           B: panels of NR columns          packed A: [m / MR][k][MR]
           +----+----+----+--+              packed B: [n / NR][k][NR]
           |    |    |    |  |  k           (the last panel is filled up with zeros)
           +----+----+----+--+
    A      C
    +---+  +----+----+----+--+              for each panel of B, for each block of KC steps along k,
    |   |  |tile|    |    |  |  MR rows         for each panel of A:  tile += A panel * B panel
    +---+  +----+----+----+--+
    |   |  |    |    |    |  |              KC * NR floats of B stay in the L2 cache, KC * MR of A in L1.
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

    #if defined(__GNUC__)
    typedef float kuiper_vec __attribute__((vector_size(4 * LANES), aligned(4)));

    /* rows is a constant at each call, so the loops over i and v unroll and the sums live in registers */
    static inline __attribute__((always_inline)) void
    kuiper_tile_rows(const int rows, Py_ssize_t k, const float *a, const float *b, float *sums) {
        kuiper_vec s[MR][VECTORS] = {{{0}}};
        for (Py_ssize_t p = 0; p < k; p++, a += MR, b += NR) {
            _Pragma("GCC unroll 8")
            for (int i = 0; i < rows; i++)
                _Pragma("GCC unroll 4")
                for (int v = 0; v < VECTORS; v++)
                    s[i][v] += a[i] * *(const kuiper_vec *)(b + v * LANES);
        }
        for (int i = 0; i < rows; i++)
            for (int v = 0; v < VECTORS; v++)
                *(kuiper_vec *)(sums + i * NR + v * LANES) = s[i][v];
    }
    #else
    static void kuiper_tile_rows(const int rows, Py_ssize_t k, const float *a, const float *b, float *sums) {
        for (int i = 0; i < MR * NR; i++) sums[i] = 0;
        for (Py_ssize_t p = 0; p < k; p++, a += MR, b += NR)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < NR; j++)
                    sums[i * NR + j] += a[i] * b[j];
    }
    #endif

    static void kuiper_tile(Py_ssize_t k, const float *a, const float *b, float *sums) {
        kuiper_tile_rows(MR, k, a, b, sums);
    }
    static void kuiper_tile_one_row(Py_ssize_t k, const float *a, const float *b, float *sums) {
        kuiper_tile_rows(1, k, a, b, sums);
    }
    """
    enum:
        MR
        NR
    void kuiper_tile(Py_ssize_t k, const float *a, const float *b, float *sums) noexcept nogil
    void kuiper_tile_one_row(Py_ssize_t k, const float *a, const float *b, float *sums) noexcept nogil

cdef enum:
    KC = 256  # steps along k in one go
    PANELS = 16  # panels of A in one task: enough work for a thread, and all of them fit L2

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
    cdef Py_ssize_t k = left.shape[1], blocks = (left.shape[0] + PANELS - 1) // PANELS
    cdef Py_ssize_t task
    for task in prange(blocks * right.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        multiply_panel(left, right, out, k, task % blocks, task // blocks)


cdef void multiply_panel(
    const float[:, :, ::1] left, const float[:, :, ::1] right, float[:, :] out,
    Py_ssize_t k, Py_ssize_t block, Py_ssize_t column_panel,
) noexcept nogil:
    """One panel of columns of C, PANELS panels of rows; the sums along k are always added in the same order."""
    cdef float[MR * NR] sums
    cdef Py_ssize_t m = out.shape[0], first_column = column_panel * NR
    cdef Py_ssize_t columns = min(<Py_ssize_t>NR, out.shape[1] - first_column)
    cdef Py_ssize_t first_panel = block * PANELS, last_panel = min(first_panel + PANELS, left.shape[0])
    cdef Py_ssize_t step_block, start, steps, panel, rows, i, j
    cdef const float* b
    cdef float* c
    for step_block in range((k + KC - 1) // KC):
        start = step_block * KC
        steps = min(<Py_ssize_t>KC, k - start)
        b = &right[column_panel, start, 0]
        for panel in range(first_panel, last_panel):
            rows = min(<Py_ssize_t>MR, m - panel * MR)
            if rows == 1:
                kuiper_tile_one_row(steps, &left[panel, start, 0], b, sums)
            else:
                kuiper_tile(steps, &left[panel, start, 0], b, sums)
            for i in range(rows):
                c = &out[panel * MR + i, first_column]
                if start == 0:
                    for j in range(columns):
                        c[j] = sums[i * NR + j]
                else:
                    for j in range(columns):
                        c[j] += sums[i * NR + j]
