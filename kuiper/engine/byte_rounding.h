/* See byte_rounding.pxd, which explains it. */
#ifndef KUIPER_ENGINE_BYTE_ROUNDING_H
#define KUIPER_ENGINE_BYTE_ROUNDING_H

#include "kuiper/simd/functions.h"
#include "kuiper/simd/vector.h"

#include <string.h>

/* Sums of bytes come two vectors at a time. */
enum { INTEGER_VECTORS = 2, INTEGER_WIDTH = INTEGER_VECTORS * LANES };

/* How floats become bytes. ``low`` and ``high`` are what a byte can hold, without its zero point: 255 apart. */
typedef struct {
    float scale, inverse; /* NaN in the place of 1 / scale if products with it may be far from the quotients */
    float low, high;
    int zero;
} kuiper_byte_scale;

static inline kuiper_byte_scale kuiper_byte_scale_of(float scale, float low, float high, int zero) {
    const int is_usual = scale > 0x1p-100f && scale < 0x1p100f;
    const kuiper_byte_scale to = {scale, is_usual ? 1 / scale : NAN, low, high, zero};
    return to;
}

KUIPER_INLINE kuiper_ints kuiper_load_words(const void *p) {
    kuiper_ints words;
    memcpy(&words, p, sizeof words);
    return words;
}

KUIPER_INLINE kuiper_vec kuiper_of_integers(kuiper_ints x) {
#if defined(KUIPER_VECTORS)
    return __builtin_convertvector(x, kuiper_vec);
#else
    return (kuiper_vec)x;
#endif
}

/* INTEGER_WIDTH numbers to bytes: to the nearest integer, of two the even one; ``low`` and ``high`` are what the byte can
   hold, without the zero point. NaN is ``low``. */
#if defined(KUIPER_AVX512)
KUIPER_INLINE void kuiper_to_bytes(const kuiper_vec *numbers, float low, float high, int zero, unsigned char *out) {
    KUIPER_EACH (v, INTEGER_VECTORS) {
        const __m512 kept = _mm512_min_ps(_mm512_max_ps((__m512)numbers[v], _mm512_set1_ps(low)), _mm512_set1_ps(high));
        const __m512i whole = _mm512_add_epi32(_mm512_cvtps_epi32(kept), _mm512_set1_epi32(zero));
        _mm_storeu_si128((__m128i *)(out + v * LANES), _mm512_cvtepi32_epi8(whole));
    }
}
#elif defined(KUIPER_AVX2)
KUIPER_INLINE void kuiper_to_bytes(const kuiper_vec *numbers, float low, float high, int zero, unsigned char *out) {
    __m256i whole[INTEGER_VECTORS];
    KUIPER_EACH (v, INTEGER_VECTORS)
        whole[v] =
            _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps((__m256)numbers[v], _mm256_set1_ps(low)), _mm256_set1_ps(high)));
    __m256i shorts = _mm256_permute4x64_epi64(_mm256_packs_epi32(whole[0], whole[1]), 0xd8);
    shorts = _mm256_and_si256(_mm256_add_epi16(shorts, _mm256_set1_epi16((short)zero)), _mm256_set1_epi16(255));
    _mm_storeu_si128((__m128i *)out, _mm_packus_epi16(_mm256_castsi256_si128(shorts), _mm256_extracti128_si256(shorts, 1)));
}
#else
KUIPER_INLINE void kuiper_to_bytes(const kuiper_vec *numbers, float low, float high, int zero, unsigned char *out) {
    float lanes[INTEGER_WIDTH];
    memcpy(lanes, numbers, sizeof lanes);
    for (int i = 0; i < INTEGER_WIDTH; i++) {
        float number = lanes[i];
        int bits;
        number = number > low ? number : low;
        number = (number < high ? number : high) + 12582912.0f; /* beside 1.5 * 2**23 a float has no fraction */
        memcpy(&bits, &number, 4);
        out[i] = (unsigned char)(bits - 0x4b400000 + zero);
    }
}
#endif

/* Integers next to floats, the larger one of two, and four vectors of integers as bytes: kept within 0 and 255 once ``by`` is
   added, a lane of 128 bits of each vector behind the other. */
#if defined(KUIPER_AVX512)
#define KUIPER_RECIPROCALS
KUIPER_INLINE kuiper_ints kuiper_nearest(kuiper_vec x) { return (kuiper_ints)_mm512_cvtps_epi32((__m512)x); }
KUIPER_INLINE kuiper_ints kuiper_larger_integer(kuiper_ints a, kuiper_ints b) {
    return (kuiper_ints)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
KUIPER_INLINE int kuiper_any_above(kuiper_ints x, int limit) {
    return _mm512_cmpgt_epi32_mask((__m512i)x, _mm512_set1_epi32(limit)) != 0;
}
KUIPER_INLINE kuiper_ints kuiper_packed(kuiper_ints a, kuiper_ints b, kuiper_ints c, kuiper_ints d, int by) {
    const __m512i more = _mm512_set1_epi16((short)by);
    const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32((__m512i)a, (__m512i)b), more);
    const __m512i second = _mm512_adds_epi16(_mm512_packs_epi32((__m512i)c, (__m512i)d), more);
    return (kuiper_ints)_mm512_packus_epi16(first, second);
}
KUIPER_INLINE kuiper_ints kuiper_in_order(kuiper_ints packed) {
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return (kuiper_ints)_mm512_permutexvar_epi32(order, (__m512i)packed);
}
#elif defined(KUIPER_AVX2)
#define KUIPER_RECIPROCALS
KUIPER_INLINE kuiper_ints kuiper_nearest(kuiper_vec x) { return (kuiper_ints)_mm256_cvtps_epi32((__m256)x); }
KUIPER_INLINE kuiper_ints kuiper_larger_integer(kuiper_ints a, kuiper_ints b) {
    return (kuiper_ints)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
KUIPER_INLINE int kuiper_any_above(kuiper_ints x, int limit) {
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32((__m256i)x, _mm256_set1_epi32(limit))) != 0;
}
KUIPER_INLINE kuiper_ints kuiper_packed(kuiper_ints a, kuiper_ints b, kuiper_ints c, kuiper_ints d, int by) {
    const __m256i more = _mm256_set1_epi16((short)by);
    const __m256i first = _mm256_adds_epi16(_mm256_packs_epi32((__m256i)a, (__m256i)b), more);
    const __m256i second = _mm256_adds_epi16(_mm256_packs_epi32((__m256i)c, (__m256i)d), more);
    return (kuiper_ints)_mm256_packus_epi16(first, second);
}
KUIPER_INLINE kuiper_ints kuiper_in_order(kuiper_ints packed) {
    return (kuiper_ints)_mm256_permutevar8x32_epi32((__m256i)packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
#endif

#if defined(KUIPER_RECIPROCALS)
/* The integers next to floats over a scale, by a product with 1 / scale; false if that cannot tell them. Product and quotient
   differ by less than 3 * 2**-24 of their size, and so, up to 256, by less than 2**-14. Unless one is that near to the middle
   of two integers, both round to the same; beyond 256 both are more than a byte can hold. NaN is above the limit, too. */
KUIPER_INLINE int kuiper_nearest_steps(const kuiper_vec *x, float inverse, kuiper_ints *n) {
    kuiper_ints furthest = {0};
    KUIPER_EACH (v, 4) {
        const kuiper_vec steps = x[v] * kuiper_splat(inverse);
        n[v] = kuiper_nearest(steps);
        const kuiper_vec away = kuiper_magnitude(steps - kuiper_of_integers(n[v]));
        furthest = kuiper_larger_integer(furthest, KUIPER_BITS(away));
    }
    return !kuiper_any_above(furthest, 0x3efffc00); /* 0.5 - 2**-14 */
}

#endif

/* Four vectors of floats to bytes. */
KUIPER_INLINE void kuiper_quantise_vectors(const kuiper_vec *x, const kuiper_byte_scale *to, unsigned char *out) {
#if defined(KUIPER_RECIPROCALS)
    kuiper_ints n[4];
    if (kuiper_nearest_steps(x, to->inverse, n)) {
        const unsigned flip = to->low + (float)to->zero < 0 ? 0x80808080u : 0; /* int8 has 128 less than uint8 */
        const kuiper_ints packed = kuiper_packed(n[0], n[1], n[2], n[3], (int)-to->low);
        const kuiper_unsigned bytes = (kuiper_unsigned)kuiper_in_order(packed) ^ flip;
        memcpy(out, &bytes, 4 * LANES);
        return;
    }
#endif
    KUIPER_EACH (pair, 4 / INTEGER_VECTORS) {
        kuiper_vec steps[INTEGER_VECTORS];
        KUIPER_EACH (k, INTEGER_VECTORS) steps[k] = x[pair * INTEGER_VECTORS + k] / kuiper_splat(to->scale);
        kuiper_to_bytes(steps, to->low, to->high, to->zero, out + pair * INTEGER_WIDTH);
    }
}

/* The same of a row. */
static void kuiper_quantise(const float *x, Py_ssize_t count, const kuiper_byte_scale *to, unsigned char *out) {
    enum { MANY = 4 * LANES };
    kuiper_vec some[4];
    for (Py_ssize_t i = 0; i + MANY <= count; i += MANY) {
        KUIPER_EACH (v, 4) some[v] = kuiper_load(x + i + v * LANES);
        kuiper_quantise_vectors(some, to, out + i);
    }
    if (count % MANY && count > MANY) { /* the last ones, with some that are done already: twice gives the same */
        KUIPER_EACH (v, 4) some[v] = kuiper_load(x + count - MANY + v * LANES);
        kuiper_quantise_vectors(some, to, out + count - MANY);
    } else if (count % MANY) {
        float last[MANY] = {0};
        unsigned char bytes[MANY];
        memcpy(last, x, 4 * (size_t)count);
        KUIPER_EACH (v, 4) some[v] = kuiper_load(last + v * LANES);
        kuiper_quantise_vectors(some, to, bytes);
        memcpy(out, bytes, (size_t)count);
    }
}

/* Rows of floats, ``row`` apart, to bytes, one row behind the other. A row of less than four vectors is written with what lies
   behind it: the rows after it write over that. */
static void kuiper_quantise_rows(const float *x, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t columns,
                                 const kuiper_byte_scale *to, unsigned char *out) {
    kuiper_vec some[4];
    for (; rows > 0; rows--, x += row, out += columns)
        if (columns < 4 * LANES && row >= columns && rows * columns >= 4 * LANES) {
            KUIPER_EACH (v, 4) some[v] = kuiper_load(x + v * LANES);
            kuiper_quantise_vectors(some, to, out);
        } else
            kuiper_quantise(x, columns, to, out);
}

/* Sums to bytes, times a scale. Sums and scales are read, and ``out`` written, INTEGER_WIDTH at a time. */
KUIPER_INLINE void kuiper_requantise_width(const int *sums, const float *scale, float low, float high, int zero,
                                           unsigned char *out) {
    kuiper_vec steps[INTEGER_VECTORS];
    KUIPER_EACH (v, INTEGER_VECTORS)
        steps[v] = kuiper_of_integers(kuiper_load_words(sums + v * LANES)) * kuiper_load(scale + v * LANES);
    kuiper_to_bytes(steps, low, high, zero, out);
}
static inline void kuiper_requantise(const int *sums, const float *scale, Py_ssize_t count, float low, float high, int zero,
                                     unsigned char *out) {
    for (; count > 0; count -= INTEGER_WIDTH, sums += INTEGER_WIDTH, scale += INTEGER_WIDTH, out += INTEGER_WIDTH) {
        unsigned char some[INTEGER_WIDTH];
        kuiper_requantise_width(sums, scale, low, high, zero, count < INTEGER_WIDTH ? some : out);
        if (count < INTEGER_WIDTH) memcpy(out, some, (size_t)count);
    }
}

/* The sums of a tile, INTEGER_WIDTH for each row, of which ``count`` are outputs. */
static void kuiper_requantise_tile(int rows, const int *sums, const float *scale, Py_ssize_t count, float low, float high,
                                   int zero, unsigned char *const *out) {
    if (count == INTEGER_WIDTH)
        for (int i = 0; i < rows; i++) kuiper_requantise_width(sums + i * INTEGER_WIDTH, scale, low, high, zero, out[i]);
    else
        for (int i = 0; i < rows; i++) {
            unsigned char some[INTEGER_WIDTH];
            kuiper_requantise_width(sums + i * INTEGER_WIDTH, scale, low, high, zero, some);
            if (count == LANES)
                memcpy(out[i], some, LANES);
            else
                memcpy(out[i], some, (size_t)count);
        }
}

#endif
