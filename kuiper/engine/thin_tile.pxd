"""The tile of few rows with several panels side by side: the queries of one token, and the caches of a session.

A multiply-add takes four cycles, and its sum has to wait so long for the next one. One to four rows times a panel of one
vector are as many sums, where eight could be under way. So panels that lie apart in memory are taken together:

    panel 0   [ w[0] ][ w[1] ] ...         three rows, four panels: twelve sums,
    panel 1   [ w[0] ][ w[1] ] ...         each of the same numbers in the same order as in tile.pxd
    ...

Caches are read from memory, and soon: while some panels are multiplied, those that come after them are asked for, line by line.
"""

from kuiper.engine.tile cimport REGISTERS

cdef extern from *:
    """
    /* A panel is 16 numbers wide. The sums, a vector of each panel and a number of a row stay in registers. */
    enum { THIN_VECTORS = 4, THIN_ROWS = REGISTERS == 32 ? 4 : 2, THIN_PANELS = THIN_VECTORS * LANES / 16 };

    KUIPER_INLINE void kuiper_thin_tile_of(
        const int rows, const float *w, Py_ssize_t panel, Py_ssize_t depth, const float *const *ahead,
        const float *const *x, float *const *out
    ) {
        enum { PARTS = 16 / LANES }; /* vectors of a panel */
        kuiper_vec s[THIN_ROWS][THIN_VECTORS];
        KUIPER_UNROLL for (int i = 0; i < rows; i++)
            KUIPER_UNROLL for (int v = 0; v < THIN_VECTORS; v++) s[i][v] = kuiper_splat(0);
        for (Py_ssize_t k = 0; k < depth; k++, w += 16) {
            kuiper_vec b[THIN_VECTORS];
            KUIPER_UNROLL for (int p = 0; p < THIN_PANELS; p++) KUIPER_PREFETCH(ahead[p] + 16 * k);
            KUIPER_UNROLL for (int v = 0; v < THIN_VECTORS; v++)
                b[v] = kuiper_load(w + v / PARTS * panel + v % PARTS * LANES);
            KUIPER_UNROLL for (int i = 0; i < rows; i++)
                KUIPER_UNROLL for (int v = 0; v < THIN_VECTORS; v++)
                    s[i][v] = kuiper_fma(kuiper_splat(x[i][k]), b[v], s[i][v]);
        }
        KUIPER_UNROLL for (int i = 0; i < rows; i++)
            KUIPER_UNROLL for (int v = 0; v < THIN_VECTORS; v++) kuiper_store(out[i] + v * LANES, s[i][v]);
    }

    #define KUIPER_THIN(R) case R: kuiper_thin_tile_of(R, w, panel, depth, ahead, x, out); break;
    static void kuiper_thin_tile(
        int rows, const float *w, Py_ssize_t panel, Py_ssize_t depth, const float *const *ahead, const float *const *x,
        float *const *out
    ) {
        switch (rows) {
            KUIPER_THIN(1) KUIPER_THIN(2)
        #if defined(__AVX512F__) || defined(__aarch64__) /* 32 registers */
            KUIPER_THIN(3) KUIPER_THIN(4)
        #endif
        }
    }
    """
    enum:
        THIN_VECTORS
        THIN_ROWS  # at most
        THIN_PANELS  # that are taken together; 1 or none: a panel is several vectors of this build, sums enough for tile.pxd

    # out[row] (THIN_PANELS * 16) = x[row] (depth) times the panels (depth, 16) from w on, ``panel`` floats apart; of each of
    # THIN_PANELS places ``ahead``, ``depth`` cache lines are asked for
    void thin_tile "kuiper_thin_tile"(
        int rows, const float* w, Py_ssize_t panel, Py_ssize_t depth, const float** ahead, const float** x, float** out
    ) noexcept nogil
