/* See byte_rows.pxd, which explains it. */
#ifndef KUIPER_ENGINE_BYTE_ROWS_H
#define KUIPER_ENGINE_BYTE_ROWS_H

#include "kuiper/simd/vector.h"

#include <string.h>

/* A run of bytes as rows of the tile have them: int16 without the zero point, or bytes without a sign. */
static void kuiper_spread(const unsigned char *x, int is_signed, int zero, Py_ssize_t count, int fours, unsigned char *out) {
    const int flip = is_signed ? 128 : 0;
    if (fours) {
        for (Py_ssize_t i = 0; i < count; i++) out[i] = (unsigned char)(x[i] ^ flip);
        return;
    }
    const short less = (short)(zero + flip);
    for (Py_ssize_t i = 0; i < count; i++) {
        const short number = (short)((x[i] ^ flip) - less);
        memcpy(out + 2 * i, &number, 2);
    }
}

/* What each of ``count`` runs of bytes adds up to, which lie one behind the other. */
static void kuiper_sums_of_bytes(const unsigned char *x, Py_ssize_t bytes, Py_ssize_t count, int *out) {
    for (Py_ssize_t i = 0; i < count; i++, x += bytes) {
        Py_ssize_t k = 0;
        int total = 0;
        if (bytes < 16) {
            for (; k < bytes; k++) total += x[k];
            out[i] = total;
            continue;
        }
#if defined(KUIPER_AVX512)
        __m512i sums = _mm512_setzero_si512();
        for (; k < bytes; k += 64) {
            const __mmask64 there = bytes - k < 64 ? ((__mmask64)1 << (bytes - k)) - 1 : ~(__mmask64)0;
            const __m512i some = _mm512_maskz_loadu_epi8(there, x + k);
            sums = _mm512_add_epi64(sums, _mm512_sad_epu8(some, _mm512_setzero_si512()));
        }
        total = (int)_mm512_reduce_add_epi64(sums);
#elif defined(KUIPER_AVX2)
        __m256i sums = _mm256_setzero_si256();
        for (; k + 32 <= bytes; k += 32) {
            const __m256i some = _mm256_loadu_si256((const __m256i *)(x + k));
            sums = _mm256_add_epi64(sums, _mm256_sad_epu8(some, _mm256_setzero_si256()));
        }
        const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        total = _mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2);
#endif
        for (; k < bytes; k++) total += x[k];
        out[i] = total;
    }
}

#endif
