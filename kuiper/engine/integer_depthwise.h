/* See integer_depthwise.pxd, which explains it. */
#ifndef KUIPER_ENGINE_INTEGER_DEPTHWISE_H
#define KUIPER_ENGINE_INTEGER_DEPTHWISE_H

#include "kuiper/engine/integer_tile.h"

/* Instructions weave within lanes of 128 bits: KUIPER_WOVEN lanes of two vectors of int16, half as many of their bytes. */
#if defined(KUIPER_AVX512)
enum { KUIPER_WOVEN = 4 };
typedef __m512i kuiper_shorts;
typedef __m256i kuiper_bytes;
#define KUIPER_WEAVE_SHORTS(way, a, b) _mm512_unpack##way##_epi16(a, b)
#define KUIPER_WEAVE_BYTES(way, width, a, b) _mm256_unpack##way##_epi##width(a, b)
#define KUIPER_PAIRS(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
KUIPER_INLINE void kuiper_unweave_pairs(const kuiper_shorts *s, kuiper_ints *out) {
    const __m512i first = _mm512_set_epi32(23, 22, 21, 20, 7, 6, 5, 4, 19, 18, 17, 16, 3, 2, 1, 0);
    out[0] = (kuiper_ints)_mm512_permutex2var_epi32(s[0], first, s[1]);
    out[1] = (kuiper_ints)_mm512_permutex2var_epi32(s[0], _mm512_add_epi32(_mm512_set1_epi32(LANES / 2), first), s[1]);
}
KUIPER_INLINE void kuiper_unweave_fours(const kuiper_bytes *s, kuiper_ints *out) {
    const __m512i a = _mm512_inserti64x4(_mm512_castsi256_si512(s[0]), s[1], 1);
    const __m512i b = _mm512_inserti64x4(_mm512_castsi256_si512(s[2]), s[3], 1);
    out[0] = (kuiper_ints)_mm512_shuffle_i32x4(a, b, 0x88);
    out[1] = (kuiper_ints)_mm512_shuffle_i32x4(a, b, 0xdd);
}
#elif defined(KUIPER_AVX2)
enum { KUIPER_WOVEN = 2 };
typedef __m256i kuiper_shorts;
typedef __m128i kuiper_bytes;
#define KUIPER_WEAVE_SHORTS(way, a, b) _mm256_unpack##way##_epi16(a, b)
#define KUIPER_WEAVE_BYTES(way, width, a, b) _mm_unpack##way##_epi##width(a, b)
#define KUIPER_PAIRS(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
KUIPER_INLINE void kuiper_unweave_pairs(const kuiper_shorts *s, kuiper_ints *out) {
    out[0] = (kuiper_ints)_mm256_permute2x128_si256(s[0], s[1], 0x20);
    out[1] = (kuiper_ints)_mm256_permute2x128_si256(s[0], s[1], 0x31);
}
KUIPER_INLINE void kuiper_unweave_fours(const kuiper_bytes *s, kuiper_ints *out) {
    KUIPER_EACH (v, 2) out[v] = (kuiper_ints)_mm256_inserti128_si256(_mm256_castsi128_si256(s[2 * v]), s[2 * v + 1], 1);
}
#else
enum { KUIPER_WOVEN = 1 };
#endif

/* sum += four products in each word of as many bytes as a vector of outputs has words, twice. */
#if defined(KUIPER_AVX512_DOTS)
KUIPER_INLINE kuiper_bytes kuiper_byte_products(kuiper_bytes sum, kuiper_bytes weights, kuiper_bytes x) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(weights));
    return sum;
}
#elif defined(KUIPER_AVX2_DOTS)
KUIPER_INLINE kuiper_bytes kuiper_byte_products(kuiper_bytes sum, kuiper_bytes weights, kuiper_bytes x) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(weights));
    return sum;
}
#endif

/* INTEGER_WIDTH sums of a row from pairs of taps, which start at 0. */
KUIPER_INLINE void kuiper_depthwise_pairs_of(const kuiper_integer_work *work, const unsigned char *x, kuiper_ints *sums) {
    const unsigned char *w = work->weights;
#if defined(KUIPER_PAIRS)
    kuiper_shorts s[2] = {{0}, {0}};
    for (Py_ssize_t tap = 0; tap < work->taps; tap += 2, w += 2 * sizeof(kuiper_shorts)) {
        kuiper_shorts a, b, first, second;
        memcpy(&a, x + work->offset[tap], sizeof a);
        memcpy(&b, x + work->offset[tap + 1], sizeof b);
        memcpy(&first, w, sizeof first);
        memcpy(&second, w + sizeof first, sizeof second);
        s[0] = KUIPER_PAIRS(s[0], KUIPER_WEAVE_SHORTS(lo, a, b), first);
        s[1] = KUIPER_PAIRS(s[1], KUIPER_WEAVE_SHORTS(hi, a, b), second);
    }
    kuiper_unweave_pairs(s, sums);
#else
    int lanes[INTEGER_WIDTH] = {0};
    for (Py_ssize_t tap = 0; tap < work->taps; tap += 2, w += 4 * INTEGER_WIDTH)
        for (int c = 0; c < 2 * INTEGER_WIDTH; c++) {
            short number, weight;
            memcpy(&number, x + work->offset[tap + c % 2] + c / 2 * 2, 2);
            memcpy(&weight, w + 2 * c, 2);
            lanes[c / 2] += number * weight;
        }
    memcpy(sums, lanes, sizeof lanes);
#endif
}

/* The same of ``rows`` from fours of taps; and, if something ``lacks``, what is under each output, added up. */
KUIPER_INLINE void kuiper_depthwise_fours_of(const int rows, const int lacks, const kuiper_integer_work *work,
                                             const unsigned char *const *x, kuiper_ints sums[][INTEGER_VECTORS],
                                             kuiper_ints seen[][INTEGER_VECTORS]) {
    const unsigned char *w = work->weights;
#if defined(KUIPER_AVX512_DOTS) || defined(KUIPER_AVX2_DOTS)
    kuiper_bytes s[2][4], all[2][4];
    KUIPER_EACH (i, rows)
        KUIPER_EACH (k, 4) s[i][k] = all[i][k] = (kuiper_bytes){0};
    for (Py_ssize_t tap = 0; tap < work->taps; tap += 4, w += 4 * INTEGER_WIDTH) {
        const Py_ssize_t left = work->words - tap; /* taps beyond the last one fill a word: they are not under the output */
        const unsigned some = left < 4 ? 0x01010101u & ((1u << 8 * left) - 1) : 0x01010101u;
        kuiper_bytes ones, weights[4];
        kuiper_ints spread = (kuiper_ints){0} + (int)some;
        memcpy(&ones, &spread, sizeof ones);
        KUIPER_EACH (k, 4) memcpy(&weights[k], w + k * sizeof ones, sizeof ones);
        KUIPER_EACH (i, rows) {
            kuiper_bytes b[4];
            KUIPER_EACH (k, 4) memcpy(&b[k], x[i] + work->offset[tap + k], sizeof b[k]);
            const kuiper_bytes low = KUIPER_WEAVE_BYTES(lo, 8, b[0], b[1]), high = KUIPER_WEAVE_BYTES(hi, 8, b[0], b[1]);
            const kuiper_bytes low_2 = KUIPER_WEAVE_BYTES(lo, 8, b[2], b[3]), high_2 = KUIPER_WEAVE_BYTES(hi, 8, b[2], b[3]);
            const kuiper_bytes words[4] = {KUIPER_WEAVE_BYTES(lo, 16, low, low_2), KUIPER_WEAVE_BYTES(hi, 16, low, low_2),
                                           KUIPER_WEAVE_BYTES(lo, 16, high, high_2), KUIPER_WEAVE_BYTES(hi, 16, high, high_2)};
            KUIPER_EACH (k, 4) {
                s[i][k] = kuiper_byte_products(s[i][k], weights[k], words[k]);
                if (lacks) all[i][k] = kuiper_byte_products(all[i][k], ones, words[k]);
            }
        }
    }
    KUIPER_EACH (i, rows) {
        kuiper_unweave_fours(s[i], sums[i]);
        if (lacks) kuiper_unweave_fours(all[i], seen[i]);
    }
#else
    int lanes[INTEGER_WIDTH], all[INTEGER_WIDTH];
    KUIPER_EACH (i, rows) {
        for (int c = 0; c < INTEGER_WIDTH; c++) {
            lanes[c] = all[c] = 0;
            for (Py_ssize_t tap = 0; tap < work->words; tap++) {
                const int number = x[i][work->offset[tap] + c];
                lanes[c] += number * (signed char)w[(tap / 4 * INTEGER_WIDTH + c) * 4 + tap % 4];
                all[c] += number;
            }
        }
        memcpy(sums[i], lanes, sizeof lanes);
        if (lacks) memcpy(seen[i], all, sizeof all);
    }
#endif
}

/* Sums with what they begin with, and what they lack. */
KUIPER_INLINE void kuiper_depthwise_rows(const int rows, const int fours, const int lacks, int vectors, int first,
                                         const kuiper_integer_work *work, const unsigned char *const *x, int *out,
                                         const kuiper_integer_finish *finish) {
    kuiper_ints s[2][INTEGER_VECTORS], seen[2][INTEGER_VECTORS];
    if (fours)
        kuiper_depthwise_fours_of(rows, lacks, work, x + first, s, seen);
    else
        KUIPER_EACH (i, rows) kuiper_depthwise_pairs_of(work, x[first + i], s[i]);
    KUIPER_EACH (v, INTEGER_VECTORS) {
        const kuiper_unsigned start = (kuiper_unsigned)kuiper_load_words(work->start + v * LANES);
        KUIPER_EACH (i, rows) {
            kuiper_unsigned sum = start + (kuiper_unsigned)s[i][v];
            if (lacks) sum += (kuiper_unsigned)kuiper_load_words(work->lacking + v * LANES) * (kuiper_unsigned)seen[i][v];
            s[i][v] = (kuiper_ints)sum;
        }
    }
    if (vectors == 1)
        kuiper_hand_over(rows, 1, first, s, out, finish);
    else
        kuiper_hand_over(rows, INTEGER_VECTORS, first, s, out, finish);
}

/* clang-format off */
#define KUIPER_DEPTHWISE(NAME, PREFIX, F, L) \
    PREFIX static void kuiper_depthwise_##NAME(int rows, int vectors, const kuiper_integer_work *work, \
                                               const unsigned char *const *x, int *out, const kuiper_integer_finish *finish) { \
        int i = 0; \
        for (; i + 2 <= rows; i += 2) kuiper_depthwise_rows(2, F, L, vectors, i, work, x, out, finish); \
        if (i < rows) kuiper_depthwise_rows(1, F, L, vectors, i, work, x, out, finish); \
    }
KUIPER_DEPTHWISE(pairs, , 0, 0)
KUIPER_DEPTHWISE(fours, KUIPER_WITH_FOURS, 1, 0)
KUIPER_DEPTHWISE(lacking_fours, KUIPER_WITH_FOURS, 1, 1)
/* clang-format on */

static inline void kuiper_integer_depthwise(int rows, int vectors, int fours, const kuiper_integer_work *work,
                                            const unsigned char *const *x, int *out, const kuiper_integer_finish *finish) {
    if (!fours)
        kuiper_depthwise_pairs(rows, vectors, work, x, out, finish);
    else
        (work->lacking ? kuiper_depthwise_lacking_fours : kuiper_depthwise_fours)(rows, vectors, work, x, out, finish);
}

#endif
