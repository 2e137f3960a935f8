/* The tile of gemm.pyx, which explains it. */
#ifndef KUIPER_LAYERS_GEMM_H
#define KUIPER_LAYERS_GEMM_H

#include "kuiper/simd/vector.h"

/* MR * VECTORS registers hold sums, some must be left for the numbers of a and b. */
#if !defined(KUIPER_VECTORS) /* a vec is one number, and the compiler may put the sums into vectors */
enum { MR = 4, VECTORS = 8 };
#elif defined(KUIPER_AVX512) || defined(KUIPER_NEON) /* 32 registers */
enum { MR = 8, VECTORS = 3 };
#elif defined(KUIPER_AVX)                            /* 16 registers */
enum { MR = 6, VECTORS = 2 };
#else /* 16, of which a product takes one more, as it has no fused multiply-add */
enum { MR = 4, VECTORS = 2 };
#endif
enum { NR = LANES * VECTORS };

/* rows and vectors are constants at each call, so the loops unroll and the sums live in registers. */
KUIPER_INLINE void kuiper_gemm_tile_of(const int rows, const int vectors, Py_ssize_t k, const float *a, const float *b,
                                       float *sums) {
    kuiper_vec s[MR][VECTORS];
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) s[i][v] = kuiper_splat(0);
    for (Py_ssize_t p = 0; p < k; p++, a += MR, b += NR)
        KUIPER_EACH (i, rows)
            KUIPER_EACH (v, vectors) s[i][v] = kuiper_fma(kuiper_splat(a[i]), kuiper_load(b + v * LANES), s[i][v]);
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) kuiper_store(sums + i * NR + v * LANES, s[i][v]);
}

/* The whole tile, and cheaper ones for a last panel that is mostly empty: a single row, a single vector. */
static void kuiper_gemm_tile(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t k, const float *a, const float *b, float *sums) {
    if (rows == 1)
        kuiper_gemm_tile_of(1, VECTORS, k, a, b, sums);
    else if (columns <= LANES)
        kuiper_gemm_tile_of(MR, 1, k, a, b, sums);
    else
        kuiper_gemm_tile_of(MR, VECTORS, k, a, b, sums);
}

#endif
