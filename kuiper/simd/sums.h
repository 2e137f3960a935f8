/* Sixteen running sums, whatever LANES is; see sums.pxd. */
#ifndef KUIPER_SIMD_SUMS_H
#define KUIPER_SIMD_SUMS_H

#include "kuiper/simd/vector.h"

enum { KUIPER_PARTS = 16 / LANES };

typedef struct {
    kuiper_vec part[KUIPER_PARTS];
} kuiper_sums;

KUIPER_INLINE kuiper_sums kuiper_sums_of(float x) {
    kuiper_sums s;
    KUIPER_EACH (i, KUIPER_PARTS) s.part[i] = kuiper_splat(x);
    return s;
}

KUIPER_INLINE float kuiper_sum_of_two(float a, float b) { return a + b; }
KUIPER_INLINE float kuiper_larger_of_two(float a, float b) { return a < b ? b : a; }

/* Halves against each other: sixteen numbers become eight, four, two and one. Written out, as the compiler does not see that a
   loop over lanes in memory is a few operations on registers. */
#if defined(KUIPER_AVX512)
#define KUIPER_UPPER_HALF(x) _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1))
#define KUIPER_EIGHT(s, EIGHTS) EIGHTS(_mm512_castps512_ps256(s.part[0]), KUIPER_UPPER_HALF(s.part[0]))
#elif defined(KUIPER_AVX)
#define KUIPER_EIGHT(s, EIGHTS) EIGHTS(s.part[0], s.part[1])
#endif
#if defined(KUIPER_AVX512) || defined(KUIPER_AVX)
#define KUIPER_HALVES(NAME, EIGHTS, FOURS, ONES)                                                                               \
    KUIPER_INLINE float NAME(kuiper_sums s) {                                                                                  \
        const __m256 y = KUIPER_EIGHT(s, EIGHTS);                                                                              \
        const __m128 z = FOURS(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));                                        \
        return ONES(ONES(z[0], z[2]), ONES(z[1], z[3]));                                                                       \
    }
#else
#define KUIPER_HALVES(NAME, EIGHTS, FOURS, ONES)                                                                               \
    KUIPER_INLINE float NAME(kuiper_sums s) {                                                                                  \
        float x[16];                                                                                                           \
        memcpy(x, &s, sizeof x);                                                                                               \
        for (int half = 8; half > 0; half /= 2)                                                                                \
            for (int i = 0; i < half; i++) x[i] = ONES(x[i], x[i + half]);                                                     \
        return x[0];                                                                                                           \
    }
#endif
KUIPER_HALVES(kuiper_total, _mm256_add_ps, _mm_add_ps, kuiper_sum_of_two)
KUIPER_HALVES(kuiper_largest, _mm256_max_ps, _mm_max_ps, kuiper_larger_of_two)

#endif
