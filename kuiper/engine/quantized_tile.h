/* See quantized_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_QUANTIZED_TILE_H
#define KUIPER_ENGINE_QUANTIZED_TILE_H

#include "kuiper/engine/tile.h"

/* Vectors of a panel, and the most rows of a tile: its sums stay in registers, beside the weights, a number of a row and one to
   spare. One row takes the whole panel at once, so that eight sums are under way, and reads whole cache lines. More rows take
   some of its vectors at a time, and read the panel, which is in a cache by then, several times. */
enum { QUANTIZED_VECTORS = 8, QUANTIZED_ROWS = 6, QUANTIZED_WIDTH = QUANTIZED_VECTORS * LANES };
enum { QUANTIZED_BLOCK = REGISTERS == 32 ? 4 : 2 };

typedef struct {
    Py_ssize_t groups, depth; /* how many groups of how many inputs; in 4 bits an even number */
    const unsigned char *weights;
    const float *scales; /* [groups][QUANTIZED_WIDTH] */
    const float *bias;   /* [QUANTIZED_WIDTH] */
    const float *floats; /* [inputs][vectors * LANES], the weights of some vectors, for many rows */
} kuiper_quantized_work;

#if defined(KUIPER_AVX512)
KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
    /* A permutation looks at four bits of each index: it is a table of 16 floats. */
    const __m512 table = _mm512_set_ps(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i both = KUIPER_WIDE(p);
    *even = _mm512_permutexvar_ps(both, table);
    *odd = _mm512_permutexvar_ps(_mm512_srli_epi32(both, 4), table);
}
#elif defined(KUIPER_AVX2)
KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
    const __m256i both = KUIPER_WIDE(p);
    *even = _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(both, 28), 28));
    *odd = _mm256_cvtepi32_ps(_mm256_srai_epi32(both, 4));
}
#elif defined(KUIPER_NEON)
KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
    const int32x4_t both = KUIPER_WIDE(p);
    *even = (kuiper_vec)vcvtq_f32_s32(vshrq_n_s32(vshlq_n_s32(both, 28), 28));
    *odd = (kuiper_vec)vcvtq_f32_s32(vshrq_n_s32(both, 4));
}
#else
KUIPER_INLINE void kuiper_of_halves(const unsigned char *p, kuiper_vec *even, kuiper_vec *odd) {
    float low[LANES], high[LANES];
    for (int i = 0; i < LANES; i++) {
        low[i] = (float)((p[i] & 15) - ((p[i] & 8) << 1));
        high[i] = (float)((p[i] >> 4) - ((p[i] & 128) >> 3));
    }
    *even = kuiper_load(low);
    *odd = kuiper_load(high);
}
#endif

/* Every sum adds up its products in the order of the inputs, whatever the number of rows. */
KUIPER_INLINE void kuiper_quantized_of(const int rows, const int vectors, const int bits, const int first_vector,
                                       const kuiper_quantized_work *work, const float *const *x, float *const *out) {
    const Py_ssize_t column = first_vector * LANES;
    const unsigned char *q = work->weights + column;
    const float *in[QUANTIZED_ROWS];
    KUIPER_EACH (i, rows) in[i] = x[i];
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) kuiper_store(out[i] + column + v * LANES, kuiper_load(work->bias + column + v * LANES));
    for (Py_ssize_t group = 0; group < work->groups; group++) {
        const Py_ssize_t first = group * work->depth, end = first + work->depth;
        kuiper_vec s[QUANTIZED_ROWS][QUANTIZED_VECTORS];
        KUIPER_EACH (i, rows)
            KUIPER_EACH (v, vectors) s[i][v] = kuiper_splat(0);
        for (Py_ssize_t c = first; c < end; c += bits == 4 ? 2 : 1, q += QUANTIZED_WIDTH) {
            if (rows == 1 && bits < 32)
                for (int line = 0; line < QUANTIZED_WIDTH; line += LINE_BYTES) KUIPER_PREFETCH(q + 2048 + line);
            kuiper_vec b[QUANTIZED_VECTORS], odd[QUANTIZED_VECTORS];
            if (rows <= 2) { /* few numbers, many weights: the numbers stay in registers */
                KUIPER_EACH (v, vectors) {
                    if (bits == 32) b[v] = kuiper_load(work->floats + (c * vectors + v) * LANES);
                    if (bits == 8) b[v] = kuiper_of_bytes(q + v * LANES);
                    if (bits == 4) kuiper_of_halves(q + v * LANES, &b[v], &odd[v]);
                    KUIPER_EACH (i, rows) s[i][v] = kuiper_fma(kuiper_splat(in[i][c]), b[v], s[i][v]);
                    if (bits == 4)
                        KUIPER_EACH (i, rows) s[i][v] = kuiper_fma(kuiper_splat(in[i][c + 1]), odd[v], s[i][v]);
                }
                continue;
            }
            KUIPER_EACH (v, vectors) {
                if (bits == 32) b[v] = kuiper_load(work->floats + (c * vectors + v) * LANES);
                if (bits == 8) b[v] = kuiper_of_bytes(q + v * LANES);
                if (bits == 4) kuiper_of_halves(q + v * LANES, &b[v], &odd[v]);
            }
            KUIPER_EACH (i, rows)
                KUIPER_EACH (v, vectors) s[i][v] = kuiper_fma(kuiper_splat(in[i][c]), b[v], s[i][v]);
            if (bits == 4)
                KUIPER_EACH (i, rows)
                    KUIPER_EACH (v, vectors) s[i][v] = kuiper_fma(kuiper_splat(in[i][c + 1]), odd[v], s[i][v]);
        }
        KUIPER_EACH (v, vectors) {
            const kuiper_vec scale = kuiper_load(work->scales + group * QUANTIZED_WIDTH + column + v * LANES);
            KUIPER_EACH (i, rows) {
                float *sum = out[i] + column + v * LANES;
                kuiper_store(sum, kuiper_fma(s[i][v], scale, kuiper_load(sum)));
            }
        }
    }
}

/* Many rows share the conversion: the weights of QUANTIZED_BLOCK vectors become floats once, in ``floats``. */
static void kuiper_quantized_to_floats(int bits, int first_vector, const kuiper_quantized_work *work, float *floats) {
    const unsigned char *q = work->weights + first_vector * LANES;
    for (Py_ssize_t c = 0; c < work->groups * work->depth; c += 8 / bits, q += QUANTIZED_WIDTH)
        for (int v = 0; v < QUANTIZED_BLOCK; v++) {
            float *f = floats + (c * QUANTIZED_BLOCK + v) * LANES;
            kuiper_vec even, odd;
            if (bits == 8) {
                kuiper_store(f, kuiper_of_bytes(q + v * LANES));
            } else {
                kuiper_of_halves(q + v * LANES, &even, &odd);
                kuiper_store(f, even);
                kuiper_store(f + QUANTIZED_BLOCK * LANES, odd);
            }
        }
}
#define KUIPER_FLOATS_CASE(R)                                                                                                  \
    case R: kuiper_quantized_of(R, QUANTIZED_BLOCK, 32, first_vector, work, x, out); break;
KUIPER_TILE void kuiper_quantized_floats(int rows, int first_vector, const kuiper_quantized_work *work, const float *const *x,
                                         float *const *out) {
    switch (rows) {
        KUIPER_FLOATS_CASE(1)
        KUIPER_FLOATS_CASE(2)
        KUIPER_FLOATS_CASE(3)
        KUIPER_FLOATS_CASE(4)
        KUIPER_FLOATS_CASE(5)
        KUIPER_FLOATS_CASE(6)
    }
}

/* clang-format off */
#define KUIPER_QUANTIZED_CASE(R, V, B) \
    case R: for (int v = 0; v < QUANTIZED_VECTORS; v += V) kuiper_quantized_of(R, V, B, v, work, x, out); break;
#define KUIPER_QUANTIZED(B) \
    KUIPER_TILE void kuiper_quantized_##B(int rows, const kuiper_quantized_work *work, const float *const *x, float *const *out) { \
        switch (rows) { \
            KUIPER_QUANTIZED_CASE(1, 8, B) \
            KUIPER_QUANTIZED_CASE(2, 4, B) \
            KUIPER_QUANTIZED_CASE(3, QUANTIZED_BLOCK, B) \
            KUIPER_QUANTIZED_CASE(4, QUANTIZED_BLOCK, B) \
            KUIPER_QUANTIZED_CASE(5, QUANTIZED_BLOCK, B) \
            KUIPER_QUANTIZED_CASE(6, QUANTIZED_BLOCK, B) \
        } \
    }
/* clang-format on */
KUIPER_QUANTIZED(8)
KUIPER_QUANTIZED(4)

#endif
