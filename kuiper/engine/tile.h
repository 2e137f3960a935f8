/* See tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_TILE_H
#define KUIPER_ENGINE_TILE_H

#include "kuiper/simd/vector.h"

enum { MAX_ROWS = 12, MAX_VECTORS = 4 };
enum { LINE_BYTES = 64 }; /* of a cache line */

/* The most rows for 1, 2, 3 and 4 vectors. Beside the sums a register for each vector of weights is needed, one for
   the number, and one to spare: without it, gcc reads the weights again for each row. On ARM each row has a register
   for four of its numbers instead, see below. More than MAX_ROWS pointers do not fit the other registers. */
#if defined(KUIPER_NEON)
#define KUIPER_FITTING(V) ((REGISTERS - (V)) / ((V) + 1))
#else
#define KUIPER_FITTING(V) ((REGISTERS - 2 - (V)) / (V))
#endif
#define KUIPER_ROWS(V) (KUIPER_FITTING(V) < MAX_ROWS ? KUIPER_FITTING(V) : MAX_ROWS)
enum { ROWS_1 = KUIPER_ROWS(1), ROWS_2 = KUIPER_ROWS(2), ROWS_3 = KUIPER_ROWS(3), ROWS_4 = KUIPER_ROWS(4) };

typedef struct {
    Py_ssize_t taps, depth;             /* how many positions, and how many numbers under each */
    const float *weights;               /* [taps][depth][vectors * LANES] */
    const float *bias;                  /* [vectors * LANES] */
    Py_ssize_t in_channel, out_channel; /* where in a pixel its numbers begin */
    const void *ahead;                  /* what will be read next */
    Py_ssize_t ahead_bytes;             /* of it, what each step asks for: as share_of has it, or less */
    int clamps;
    float low, high; /* if it clamps */
} kuiper_tile_work;

/* gcc for ARM (for x86 it does not) moves loads ahead before it hands out registers, until the sums no longer fit. */
#if defined(__ARM_NEON) && defined(__GNUC__) && !defined(__clang__)
#define KUIPER_TILE static __attribute__((optimize("no-schedule-insns")))
#else
#define KUIPER_TILE static
#endif

/* ``width`` are the vectors of the panel, of which the tile takes ``vectors``. */
KUIPER_INLINE void kuiper_tile_of(const int rows, const int vectors, const int width, const kuiper_tile_work *work,
                                  const float *const *pointers, const float *const *residual, float *const *out) {
    kuiper_vec s[MAX_ROWS][MAX_VECTORS];
    const float *w = work->weights;
    const char *ahead = (const char *)work->ahead;
    const Py_ssize_t ahead_bytes = work->ahead_bytes;
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) s[i][v] = kuiper_load(work->bias + v * LANES);
    for (Py_ssize_t tap = 0; tap < work->taps; tap++, pointers += rows) {
        const float *x[MAX_ROWS];
        KUIPER_EACH (i, rows) x[i] = pointers[i] + work->in_channel;
        Py_ssize_t c = 0;
#if defined(KUIPER_NEON)
        /* A multiply-add may take one of its factors from any lane of a register: one load for four numbers of a row. */
        for (; c + LANES <= work->depth; c += LANES, ahead += LANES * ahead_bytes) {
            KUIPER_EACH (v, vectors) KUIPER_PREFETCH(ahead + LINE_BYTES * v); /* or more than asked */
            kuiper_vec a[MAX_ROWS];
            KUIPER_EACH (i, rows) a[i] = kuiper_load(x[i] + c);
            KUIPER_UNROLL for (int lane = 0; lane < LANES; lane++, w += width * LANES) {
                kuiper_vec b[MAX_VECTORS];
                KUIPER_EACH (v, vectors) b[v] = kuiper_load(w + v * LANES);
                KUIPER_EACH (i, rows)
                    KUIPER_EACH (v, vectors) s[i][v] = kuiper_fma(kuiper_splat(a[i][lane]), b[v], s[i][v]);
            }
        }
#endif
        for (; c < work->depth; c++, w += width * LANES, ahead += ahead_bytes) {
            KUIPER_PREFETCH(ahead);
            if (vectors > 2) /* with fewer vectors there are more rows, whose pointers need this loop's registers */
                for (Py_ssize_t line = LINE_BYTES; line < ahead_bytes; line += LINE_BYTES) KUIPER_PREFETCH(ahead + line);
            kuiper_vec b[MAX_VECTORS];
            KUIPER_EACH (v, vectors) b[v] = kuiper_load(w + v * LANES);
            KUIPER_EACH (i, rows)
                KUIPER_EACH (v, vectors) s[i][v] = kuiper_fma(kuiper_splat(x[i][c]), b[v], s[i][v]);
        }
    }
    if (residual)
        KUIPER_EACH (i, rows)
            KUIPER_EACH (v, vectors) s[i][v] += kuiper_load(residual[i] + work->out_channel + v * LANES);
    if (work->clamps) {
        const kuiper_vec low = kuiper_splat(work->low), high = kuiper_splat(work->high);
        KUIPER_EACH (i, rows)
            KUIPER_EACH (v, vectors) s[i][v] = kuiper_at_most(kuiper_at_least(s[i][v], low), high);
    }
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) kuiper_store(out[i] + work->out_channel + v * LANES, s[i][v]);
}

/* clang-format off */
#define KUIPER_CASE(R, V) \
    case R: if (R <= ROWS_##V) kuiper_tile_of(R, V, V, work, pointers, residual, out); break;
#define KUIPER_TILES(V) \
    KUIPER_TILE void kuiper_tile_##V(int rows, const kuiper_tile_work *work, const float *const *pointers, \
                                     const float *const *residual, float *const *out) { \
        switch (rows) { \
            KUIPER_CASE(1, V) KUIPER_CASE(2, V) KUIPER_CASE(3, V) KUIPER_CASE(4, V) KUIPER_CASE(5, V) KUIPER_CASE(6, V) \
            KUIPER_CASE(7, V) KUIPER_CASE(8, V) KUIPER_CASE(9, V) KUIPER_CASE(10, V) KUIPER_CASE(11, V) KUIPER_CASE(12, V) \
        } \
    }
/* clang-format on */
KUIPER_TILES(1)
KUIPER_TILES(2)
KUIPER_TILES(3)
KUIPER_TILES(4)

/* With 16 registers, panels of four vectors are for one row and two: their sums fill the registers. More rows take such a panel
   by halves, in tiles of two vectors. */
#if !defined(KUIPER_AVX512) && !defined(KUIPER_NEON)
/* clang-format off */
#define KUIPER_HALF_CASE(R) case R: if (R <= ROWS_2) kuiper_tile_of(R, 2, 4, work, pointers, residual, out); break;
/* clang-format on */
KUIPER_TILE void kuiper_half_tile(int rows, const kuiper_tile_work *work, const float *const *pointers,
                                  const float *const *residual, float *const *out) {
    switch (rows) {
        KUIPER_HALF_CASE(1)
        KUIPER_HALF_CASE(2)
        KUIPER_HALF_CASE(3)
        KUIPER_HALF_CASE(4)
        KUIPER_HALF_CASE(5)
        KUIPER_HALF_CASE(6)
    }
}
static void kuiper_tile_by_halves(int rows, const kuiper_tile_work *work, const float *const *pointers,
                                  const float *const *residual, float *const *out) {
    kuiper_tile_work half = *work;
    kuiper_half_tile(rows, &half, pointers, residual, out);
    half.weights += 2 * LANES;
    half.bias += 2 * LANES;
    half.out_channel += 2 * LANES;
    half.ahead = (const char *)half.ahead + work->taps * work->depth * work->ahead_bytes;
    kuiper_half_tile(rows, &half, pointers, residual, out);
}
#else
static void kuiper_tile_by_halves(int rows, const kuiper_tile_work *work, const float *const *pointers,
                                  const float *const *residual, float *const *out) {
    kuiper_tile_4(rows, work, pointers, residual, out);
}
#endif

static inline void kuiper_tile(int rows, int vectors, const kuiper_tile_work *work, const float *const *pointers,
                               const float *const *residual, float *const *out) {
    switch (vectors) {
        case 1: kuiper_tile_1(rows, work, pointers, residual, out); break;
        case 2: kuiper_tile_2(rows, work, pointers, residual, out); break;
        case 3: kuiper_tile_3(rows, work, pointers, residual, out); break;
        case 4:
            if (rows <= ROWS_4)
                kuiper_tile_4(rows, work, pointers, residual, out);
            else
                kuiper_tile_by_halves(rows, work, pointers, residual, out);
            break;
    }
}

#endif
