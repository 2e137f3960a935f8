/* See thin_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_THIN_TILE_H
#define KUIPER_ENGINE_THIN_TILE_H

#include "kuiper/engine/tile.h"

/* A panel is 16 numbers wide. The sums, a vector of each panel and a number of a row stay in registers. */
enum { THIN_VECTORS = 4, THIN_ROWS = REGISTERS == 32 ? 4 : 2, THIN_PANELS = THIN_VECTORS * LANES / 16 };

KUIPER_INLINE void kuiper_thin_tile_of(const int rows, const float *w, Py_ssize_t panel, Py_ssize_t depth,
                                       const float *const *ahead, const float *const *x, float *const *out) {
    enum { PARTS = 16 / LANES }; /* vectors of a panel */
    kuiper_vec s[THIN_ROWS][THIN_VECTORS];
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, THIN_VECTORS) s[i][v] = kuiper_splat(0);
    for (Py_ssize_t k = 0; k < depth; k++, w += 16) {
        kuiper_vec b[THIN_VECTORS];
        KUIPER_EACH (p, THIN_PANELS) KUIPER_PREFETCH(ahead[p] + 16 * k);
        KUIPER_EACH (v, THIN_VECTORS) b[v] = kuiper_load(w + v / PARTS * panel + v % PARTS * LANES);
        KUIPER_EACH (i, rows)
            KUIPER_EACH (v, THIN_VECTORS) s[i][v] = kuiper_fma(kuiper_splat(x[i][k]), b[v], s[i][v]);
    }
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, THIN_VECTORS) kuiper_store(out[i] + v * LANES, s[i][v]);
}

static void kuiper_thin_tile(int rows, const float *w, Py_ssize_t panel, Py_ssize_t depth, const float *const *ahead,
                             const float *const *x, float *const *out) {
    switch (rows) {
        case 1: kuiper_thin_tile_of(1, w, panel, depth, ahead, x, out); break;
        case 2: kuiper_thin_tile_of(2, w, panel, depth, ahead, x, out); break;
#if defined(KUIPER_AVX512) || defined(KUIPER_NEON) /* 32 registers */
        case 3: kuiper_thin_tile_of(3, w, panel, depth, ahead, x, out); break;
        case 4: kuiper_thin_tile_of(4, w, panel, depth, ahead, x, out); break;
#endif
    }
}

#endif
