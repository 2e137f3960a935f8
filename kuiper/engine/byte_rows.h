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

/* Pixels of up to four planes, ``plane`` bytes apart, side by side as bytes without a sign; three bytes behind them may be
   written. */
KUIPER_INLINE void kuiper_weave_some(const int channels, const unsigned char *x, Py_ssize_t plane, Py_ssize_t step,
                                     unsigned flip, Py_ssize_t count, unsigned char *out) {
    for (Py_ssize_t i = 0; i < count; i++, x += step, out += channels) {
        unsigned word = 0;
        KUIPER_EACH (c, channels) word |= (unsigned)x[c * plane] << 8 * c;
        word ^= flip;
        memcpy(out, &word, 4);
    }
}
static void kuiper_weave_planes(const unsigned char *x, Py_ssize_t channels, Py_ssize_t plane, Py_ssize_t step, int is_signed,
                                Py_ssize_t count, unsigned char *out) {
    const unsigned flip = is_signed ? 0x80808080u : 0;
    if (channels == 2)
        kuiper_weave_some(2, x, plane, step, flip, count, out);
    else if (channels == 3)
        kuiper_weave_some(3, x, plane, step, flip, count, out);
    else
        kuiper_weave_some(4, x, plane, step, flip, count, out);
}

/* What each of ``count`` runs of bytes adds up to, which lie one behind the other; four bytes behind them may be read. */
static void kuiper_sums_of_bytes(const unsigned char *x, Py_ssize_t bytes, Py_ssize_t count, int *out) {
    if (bytes <= 4) { /* words, of which more may be read than there is */
        const unsigned there = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
        for (Py_ssize_t i = 0; i < count; i++, x += bytes) {
            unsigned word;
            memcpy(&word, x, 4);
            word &= there;
            word = (word & 0xff00ff) + (word >> 8 & 0xff00ff);
            out[i] = (int)((word & 0xffff) + (word >> 16));
        }
        return;
    }
    for (Py_ssize_t i = 0; i < count; i++, x += bytes) {
        Py_ssize_t k = 0;
        int total = 0;
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
