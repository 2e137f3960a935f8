/* See split_int8_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_SPLIT_INT8_TILE_H
#define KUIPER_ENGINE_SPLIT_INT8_TILE_H

#include "kuiper/engine/tile.h"

#include <string.h>
enum {
    SPLIT_VECTORS = REGISTERS == 32 ? 4 : 2,
    SPLIT_WIDTH = SPLIT_VECTORS * LANES,
    SPLIT_ROWS = 2,
    SLICES = 3,
    SPLIT_HEAD = 2
};

typedef struct {
    Py_ssize_t groups, fours; /* how many groups of how many times four inputs */
    const unsigned char *weights;
    const void *scales; /* [groups][WIDTH]: float32 of whole rows, float16 of groups */
    const float *bias;  /* [WIDTH] */
    int in_groups;
} kuiper_split_int8_work;

/* float16: exponent and fraction where float32 has them, times what its exponents are larger by. */
static float kuiper_of_half(unsigned short half) {
    const int is_finite = (half & 0x7c00) != 0x7c00;
    const int bits = (half & 0x7fff) << 13 | (is_finite ? 0 : 0x7f800000);
    float number;
    memcpy(&number, &bits, 4);
    if (is_finite) number *= 5.192296858534828e33f;
    return half & 0x8000 ? -number : number;
}

/* The instruction came after the levels that kuiper is built for: only these functions have it, and anyone who calls
   them has asked the CPU. */
#if defined(KUIPER_AVX512_DOTS)
#define KUIPER_WITH_DOTS __attribute__((target("avx512vnni")))
typedef __m512i kuiper_bytes;
#define KUIPER_BYTES(p) _mm512_loadu_si512(p)
#define KUIPER_WORDS(x) _mm512_set1_epi32(x)
#define KUIPER_DOTS(sum, bytes, word) __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(bytes), "m"(word))
#define KUIPER_LOWER(b) _mm512_and_si512(b, _mm512_set1_epi8(15))
#define KUIPER_UPPER(b) _mm512_and_si512(_mm512_srli_epi16(b, 4), _mm512_set1_epi8(15))
#define KUIPER_JOINED(a, b, c) _mm512_add_epi32(_mm512_add_epi32(a, _mm512_slli_epi32(b, 8)), _mm512_slli_epi32(c, 16))
#define KUIPER_FLOATS(words) _mm512_cvtepi32_ps(words)
#define KUIPER_HALF_FLOATS(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p)))
#elif defined(KUIPER_AVX2_DOTS)
#define KUIPER_WITH_DOTS __attribute__((target("avxvnni")))
typedef __m256i kuiper_bytes;
#define KUIPER_BYTES(p) _mm256_loadu_si256((const __m256i *)(p))
#define KUIPER_WORDS(x) _mm256_set1_epi32(x)
#define KUIPER_DOTS(sum, bytes, word)                                                                                          \
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(bytes), "x"(_mm256_set1_epi32(word)))
#define KUIPER_LOWER(b) _mm256_and_si256(b, _mm256_set1_epi8(15))
#define KUIPER_UPPER(b) _mm256_and_si256(_mm256_srli_epi16(b, 4), _mm256_set1_epi8(15))
#define KUIPER_JOINED(a, b, c) _mm256_add_epi32(_mm256_add_epi32(a, _mm256_slli_epi32(b, 8)), _mm256_slli_epi32(c, 16))
#define KUIPER_FLOATS(words) _mm256_cvtepi32_ps(words)
#define KUIPER_HALF_FLOATS(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p)))
#else
#define KUIPER_WITH_DOTS
typedef struct {
    int lane[LANES];
} kuiper_bytes;
#define KUIPER_EACH_LANE for (int i = 0; i < LANES; i++)
static kuiper_bytes KUIPER_BYTES(const unsigned char *p) {
    kuiper_bytes b;
    memcpy(&b, p, sizeof b);
    return b;
}
static kuiper_bytes KUIPER_WORDS(int x) {
    kuiper_bytes b;
    KUIPER_EACH_LANE
        b.lane[i] = x;
    return b;
}
#define KUIPER_DOTS(sum, bytes, word) kuiper_dots(&(sum), (const unsigned char *)&(bytes), (const signed char *)&(word))
static void kuiper_dots(kuiper_bytes *sum, const unsigned char *bytes, const signed char *word) {
    for (int i = 0; i < 4 * LANES; i++) sum->lane[i / 4] += bytes[i] * word[i % 4];
}
static kuiper_bytes KUIPER_LOWER(kuiper_bytes b) {
    KUIPER_EACH_LANE
        b.lane[i] &= 0x0f0f0f0f;
    return b;
}
static kuiper_bytes KUIPER_UPPER(kuiper_bytes b) {
    KUIPER_EACH_LANE
        b.lane[i] = b.lane[i] >> 4 & 0x0f0f0f0f;
    return b;
}
static kuiper_bytes KUIPER_JOINED(kuiper_bytes a, kuiper_bytes b, kuiper_bytes c) {
    KUIPER_EACH_LANE
        a.lane[i] += 256 * b.lane[i] + 65536 * c.lane[i];
    return a;
}
static kuiper_vec KUIPER_FLOATS(kuiper_bytes words) {
    float lanes[LANES];
    KUIPER_EACH_LANE
        lanes[i] = (float)words.lane[i];
    return kuiper_load(lanes);
}
static kuiper_vec KUIPER_HALF_FLOATS(const unsigned short *p) {
    float lanes[LANES];
    KUIPER_EACH_LANE
        lanes[i] = kuiper_of_half(p[i]);
    return kuiper_load(lanes);
}
#endif

/* One weight without its scale, and one scale: for rows that cannot be split. */
static float kuiper_number_at(const kuiper_split_int8_work *work, int bits, Py_ssize_t k, Py_ssize_t column) {
    const Py_ssize_t of_word = bits == 8 ? 4 : 8;
    const unsigned char byte = work->weights[(k / of_word * SPLIT_WIDTH + column) * 4 + k % 4];
    return bits == 8 ? (float)(byte - 128) : (float)((k % 8 < 4 ? byte & 15 : byte >> 4) - 8);
}
static float kuiper_scale_at(const kuiper_split_int8_work *work, Py_ssize_t group, Py_ssize_t column) {
    const Py_ssize_t at = group * SPLIT_WIDTH + column;
    if (!work->in_groups) return ((const float *)work->scales)[at];
    return kuiper_of_half(((const unsigned short *)work->scales)[at]);
}

/* A row split into slices; see above. Plain loops, which the compiler turns into vectors. */
static void kuiper_split(const float *x, Py_ssize_t depth, Py_ssize_t groups, Py_ssize_t fours, int *out) {
    const Py_ssize_t padded = 4 * groups * fours;
    signed char *slices = (signed char *)(out + SPLIT_HEAD + SLICES * groups);
    int largest = 0; /* as bits: they have the order of the numbers, with infinity and NaN at the end */
    for (Py_ssize_t k = 0; k < depth; k++) {
        int bits;
        memcpy(&bits, x + k, 4);
        bits &= 0x7fffffff;
        largest = bits > largest ? bits : largest;
    }
    const int exponent = largest >> 23, regular = largest == 0 || (exponent >= 27 && exponent < 227);
    const int unit = regular && largest ? (exponent - 21) << 23 : 0;
    const int inverse = regular && largest ? (275 - exponent) << 23 : 0;
    float scale;
    memcpy(&scale, &inverse, 4);
    out[0] = unit;
    out[1] = regular;
    for (Py_ssize_t k = 0; k < depth; k++) {
        const float whole = x[k] * scale + 12582912.0f; /* 1.5 * 2**23: the integer is in its lowest bits */
        int bits;
        memcpy(&bits, &whole, 4);
        bits -= 0x4b400000;
        slices[k] = (signed char)bits;
        bits = (bits - (signed char)bits) >> 8;
        slices[padded + k] = (signed char)bits;
        slices[2 * padded + k] = (signed char)((bits - (signed char)bits) >> 8);
    }
    for (Py_ssize_t k = depth; k < padded; k++) slices[k] = slices[padded + k] = slices[2 * padded + k] = 0;
    for (int d = 0; d < SLICES; d++)
        for (Py_ssize_t group = 0; group < groups; group++) {
            const signed char *slice = slices + d * padded + 4 * fours * group;
            int sum = 0;
            for (Py_ssize_t k = 0; k < 4 * fours; k++) sum += slice[k];
            out[SPLIT_HEAD + SLICES * group + d] = sum;
        }
}

/* How many bytes ahead weights are asked for, and groups ahead their scales: both lie in memory one behind the other,
   from panel to panel. In 8 bits the sums take half of the time that memory does, and the CPU's own prefetchers do the
   rest. In 4 bits they take nearly as long as memory, so that nothing may be waited for, and prefetchers stop at pages
   of 4 KiB: two pages ahead a thread reads 30 GB/s, one KiB ahead 23 (Zen 4). */
enum { BYTES_AHEAD = 512, HALVES_AHEAD = 8192, SCALES_AHEAD = 8 };

/* What three sums of products with slices come to. That of 32 products of 23 and 4 bits has 31. */
KUIPER_WITH_DOTS KUIPER_INLINE kuiper_vec kuiper_joined(const int bits, kuiper_bytes s0, kuiper_bytes s1, kuiper_bytes s2) {
    if (bits == 4) return KUIPER_FLOATS(KUIPER_JOINED(s0, s1, s2));
    const kuiper_vec base = kuiper_splat(256);
    return kuiper_fma(kuiper_fma(KUIPER_FLOATS(s2), base, KUIPER_FLOATS(s1)), base, KUIPER_FLOATS(s0));
}

KUIPER_WITH_DOTS KUIPER_INLINE void kuiper_split_int8_of(const int rows, const int bits, const int in_groups,
                                                         const kuiper_split_int8_work *work, const int *const *x,
                                                         float *const *out) {
    const Py_ssize_t plane = work->groups * work->fours;
    const unsigned char *q = work->weights;
    const int *slice[SPLIT_ROWS];
    for (int v = 0; v < SPLIT_VECTORS; v++) { /* what is read at the end, and would be waited for */
        KUIPER_PREFETCH(work->bias + v * LANES);
        if (!in_groups) KUIPER_PREFETCH((const float *)work->scales + v * LANES);
    }
    for (int i = 0; i < rows; i++) {
        slice[i] = x[i] + SPLIT_HEAD + SLICES * work->groups;
        for (int v = 0; in_groups && v < SPLIT_VECTORS; v++) kuiper_store(out[i] + v * LANES, kuiper_splat(0));
    }
    for (Py_ssize_t group = 0; group < work->groups; group++) {
        const Py_ssize_t first = group * work->fours, end = first + work->fours;
        for (int v = 0; in_groups && v < SPLIT_VECTORS; v += 2) /* two vectors are a cache line, or less */
            KUIPER_PREFETCH((const short *)work->scales + (group + SCALES_AHEAD) * SPLIT_WIDTH + v * LANES);
        kuiper_bytes s[SPLIT_ROWS][SLICES][SPLIT_VECTORS];
        KUIPER_EACH (i, rows)
            KUIPER_EACH (d, SLICES)
                KUIPER_EACH (v, SPLIT_VECTORS)
                    s[i][d][v] = KUIPER_WORDS(x[i][SPLIT_HEAD + SLICES * group + d] * (bits == 8 ? -128 : -8));
        for (Py_ssize_t c = first; c < end; c += bits == 8 ? 1 : 2, q += 4 * SPLIT_WIDTH) {
            KUIPER_EACH (half, 8 / bits) {
                kuiper_bytes w[SPLIT_VECTORS];
                KUIPER_EACH (v, SPLIT_VECTORS) {
                    if (half == 0) KUIPER_PREFETCH(q + (bits == 8 ? BYTES_AHEAD : HALVES_AHEAD) + 4 * v * LANES);
                    w[v] = KUIPER_BYTES(q + 4 * v * LANES);
                    if (bits == 4) w[v] = half ? KUIPER_UPPER(w[v]) : KUIPER_LOWER(w[v]);
                }
                KUIPER_EACH (i, rows)
                    KUIPER_EACH (d, SLICES) {
                        KUIPER_EACH (v, SPLIT_VECTORS) KUIPER_DOTS(s[i][d][v], w[v], slice[i][d * plane + c + half]);
                    }
            }
        }
        KUIPER_EACH (v, SPLIT_VECTORS) {
            const Py_ssize_t at = group * SPLIT_WIDTH + v * LANES;
            const kuiper_vec scale = in_groups ? KUIPER_HALF_FLOATS((const unsigned short *)work->scales + at)
                                               : kuiper_load((const float *)work->scales + at);
            KUIPER_EACH (i, rows) {
                float *all = out[i] + v * LANES;
                const kuiper_vec sum = kuiper_joined(bits, s[i][0][v], s[i][1][v], s[i][2][v]), scaled = sum * scale;
                kuiper_store(all, in_groups ? kuiper_fma(sum, scale, kuiper_load(all)) : scaled);
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        float unit;
        memcpy(&unit, x[i], 4);
        for (int v = 0; v < SPLIT_VECTORS; v++) {
            const kuiper_vec sum = kuiper_load(out[i] + v * LANES), bias = kuiper_load(work->bias + v * LANES);
            kuiper_store(out[i] + v * LANES, kuiper_fma(sum, kuiper_splat(unit), bias));
        }
    }
}

#define KUIPER_SPLIT_INT8(NAME, B, IN_GROUPS)                                                                                  \
    KUIPER_WITH_DOTS KUIPER_TILE void kuiper_split_int8_##NAME(int rows, const kuiper_split_int8_work *work,                   \
                                                               const int *const *x, float *const *out) {                       \
        if (rows == 1)                                                                                                         \
            kuiper_split_int8_of(1, B, IN_GROUPS, work, x, out);                                                               \
        else                                                                                                                   \
            kuiper_split_int8_of(2, B, IN_GROUPS, work, x, out);                                                               \
    }
KUIPER_SPLIT_INT8(8, 8, 0)
KUIPER_SPLIT_INT8(8_in_groups, 8, 1)
KUIPER_SPLIT_INT8(4, 4, 1)

#endif
