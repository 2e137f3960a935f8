/* See byte_lookup.pxd, which explains it. */
#ifndef KUIPER_ENGINE_BYTE_LOOKUP_H
#define KUIPER_ENGINE_BYTE_LOOKUP_H

#include "kuiper/simd/vector.h"

/* The rows of a table that a bit of the byte's upper half chooses between, halved four times: KUIPER_ROW looks one row up,
   KUIPER_OTHER the next one where bit 4 is set, KUIPER_EITHER takes the second where a higher bit is set. */
#define KUIPER_TWO_ROWS(k) KUIPER_OTHER(KUIPER_ROW(k), k + 1)
#define KUIPER_FOUR_ROWS(k) KUIPER_EITHER(5, KUIPER_TWO_ROWS(k), KUIPER_TWO_ROWS(k + 2))
#define KUIPER_EIGHT_ROWS(k) KUIPER_EITHER(6, KUIPER_FOUR_ROWS(k), KUIPER_FOUR_ROWS(k + 4))
#define KUIPER_ALL_ROWS KUIPER_EITHER(7, KUIPER_EIGHT_ROWS(0), KUIPER_EIGHT_ROWS(8))

static void kuiper_look_up(const unsigned char *table, const unsigned char *x, Py_ssize_t count, unsigned char *out) {
    Py_ssize_t i = 0;
#if defined(KUIPER_AVX512) && defined(__AVX512BW__)
    __m512i rows[16];
    KUIPER_EACH (k, 16) rows[k] = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
#define KUIPER_ROW(k) _mm512_shuffle_epi8(rows[k], low)
#define KUIPER_OTHER(one, k) _mm512_mask_shuffle_epi8(one, set[4], rows[k], low)
#define KUIPER_EITHER(bit, a, b) _mm512_mask_blend_epi8(set[bit], a, b)
    for (; i < count; i += 64) {
        const __mmask64 there = count - i < 64 ? ((__mmask64)1 << (count - i)) - 1 : ~(__mmask64)0;
        const __m512i number = _mm512_maskz_loadu_epi8(there, x + i), low = _mm512_and_si512(number, _mm512_set1_epi8(15));
        __mmask64 set[8];
        for (int bit = 4; bit < 8; bit++) set[bit] = _mm512_test_epi8_mask(number, _mm512_set1_epi8((char)(1 << bit)));
        _mm512_mask_storeu_epi8(out + i, there, KUIPER_ALL_ROWS);
    }
#elif defined(KUIPER_AVX2)
#define KUIPER_ROWS(k) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * (k))))
#define KUIPER_ROW(k) _mm256_shuffle_epi8(KUIPER_ROWS(k), low)
#define KUIPER_OTHER(one, k) KUIPER_EITHER(4, one, KUIPER_ROW(k))
#define KUIPER_EITHER(bit, a, b) _mm256_blendv_epi8(a, b, set[bit])
    for (; i + 32 <= count; i += 32) {
        const __m256i number = _mm256_loadu_si256((const __m256i *)(x + i)),
                      low = _mm256_and_si256(number, _mm256_set1_epi8(15));
        __m256i set[8]; /* a choice looks at the highest bit of a byte */
        for (int bit = 4; bit < 8; bit++) set[bit] = _mm256_slli_epi16(number, 7 - bit);
        _mm256_storeu_si256((__m256i *)(out + i), KUIPER_ALL_ROWS);
    }
#endif
    for (; i < count; i++) out[i] = table[x[i]];
}

#endif
