/* See integer_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_INTEGER_TILE_H
#define KUIPER_ENGINE_INTEGER_TILE_H

#include "kuiper/engine/byte_rounding.h"

/* The most rows of a tile, whose panel has up to two vectors of outputs: the sums, the weights, a word of a row and a product
   stay in registers. */
enum { INTEGER_ROWS = REGISTERS == 32 ? 12 : 6 };

typedef struct {
    Py_ssize_t taps, words;       /* how many positions, and how many words of four bytes under each */
    const Py_ssize_t *offset;     /* [taps]: bytes from a row's beginning */
    const unsigned char *weights; /* [taps][words][vectors * LANES] words */
    const int *start;             /* [vectors * LANES]: what the sums begin with */
} kuiper_integer_work;

/* What sums become where they are still in registers: floats, times a factor, plus a shift, kept within low and high. */
typedef struct {
    const float *factor, *shift; /* [vectors * LANES] */
    float low, high;
    const int *lacking;  /* [vectors * LANES], NULL: nothing */
    const int *row_sums; /* [rows], where something lacks */
    float *lows, *highs; /* [LANES], the range of what there was so far; NULL: nobody asks */
    float *const *out;   /* [rows], with room for whole vectors */
} kuiper_integer_finish;

/* sum += the products of a word of a row, two int16, with LANES words of weights. */
#if defined(KUIPER_AVX512)
KUIPER_INLINE kuiper_ints kuiper_pair_dots(kuiper_ints sum, kuiper_ints weights, int word) {
    return (kuiper_ints)_mm512_add_epi32((__m512i)sum, _mm512_madd_epi16((__m512i)weights, _mm512_set1_epi32(word)));
}
#elif defined(KUIPER_AVX2)
KUIPER_INLINE kuiper_ints kuiper_pair_dots(kuiper_ints sum, kuiper_ints weights, int word) {
    return (kuiper_ints)_mm256_add_epi32((__m256i)sum, _mm256_madd_epi16((__m256i)weights, _mm256_set1_epi32(word)));
}
#else
KUIPER_INLINE kuiper_ints kuiper_pair_dots(kuiper_ints sum, kuiper_ints weights, int word) {
    const kuiper_ints even = (kuiper_ints)((kuiper_unsigned)weights << 16) >> 16, odd = weights >> 16;
    short pair[2];
    memcpy(pair, &word, 4);
    return (kuiper_ints)((kuiper_unsigned)sum + (kuiper_unsigned)(even * pair[0]) + (kuiper_unsigned)(odd * pair[1]));
}
#endif

/* The same of four bytes: those of the row have no sign. The instruction came after the levels that kuiper is built for: only
   these functions have it, and anyone who calls them has asked the CPU. */
#if defined(KUIPER_AVX512_DOTS)
#define KUIPER_WITH_FOURS __attribute__((target("avx512vnni")))
KUIPER_INLINE kuiper_ints kuiper_four_dots(kuiper_ints sum, kuiper_ints weights, int word) {
    __m512i result = (__m512i)sum;
    __asm__("vpdpbusd %2, %1, %0" : "+v"(result) : "v"(_mm512_set1_epi32(word)), "v"((__m512i)weights));
    return (kuiper_ints)result;
}
#elif defined(KUIPER_AVX2_DOTS)
#define KUIPER_WITH_FOURS __attribute__((target("avxvnni")))
KUIPER_INLINE kuiper_ints kuiper_four_dots(kuiper_ints sum, kuiper_ints weights, int word) {
    __m256i result = (__m256i)sum;
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(result) : "x"(_mm256_set1_epi32(word)), "x"((__m256i)weights));
    return (kuiper_ints)result;
}
#else
#define KUIPER_WITH_FOURS
KUIPER_INLINE kuiper_ints kuiper_four_dots(kuiper_ints sum, kuiper_ints weights, int word) {
    unsigned char x[4];
    signed char w[4 * LANES];
    int lanes[LANES];
    memcpy(x, &word, 4);
    memcpy(w, &weights, sizeof w);
    memcpy(lanes, &sum, sizeof lanes);
    for (int i = 0; i < 4 * LANES; i++) lanes[i / 4] = (int)((unsigned)lanes[i / 4] + (unsigned)(x[i % 4] * w[i]));
    memcpy(&sum, lanes, sizeof lanes);
    return sum;
}
#endif

/* The sums of a tile as floats. */
KUIPER_INLINE void kuiper_finish_sums(const int rows, const int vectors, kuiper_ints s[][INTEGER_VECTORS],
                                      const kuiper_integer_finish *finish) {
    const float low = finish->low, high = finish->high;
    kuiper_vec least = kuiper_splat(0), greatest = least;
    if (finish->lows) {
        least = kuiper_load(finish->lows);
        greatest = kuiper_load(finish->highs);
    }
    KUIPER_EACH (v, vectors) {
        const kuiper_vec factor = kuiper_load(finish->factor + v * LANES), shift = kuiper_load(finish->shift + v * LANES);
        if (finish->lacking) {
            const kuiper_unsigned less = (kuiper_unsigned)kuiper_load_words(finish->lacking + v * LANES);
            KUIPER_EACH (i, rows) s[i][v] = (kuiper_ints)((kuiper_unsigned)s[i][v] + less * (unsigned)finish->row_sums[i]);
        }
        KUIPER_EACH (i, rows) {
            const kuiper_vec x = kuiper_of_integers(s[i][v]) * factor;
            const kuiper_vec y = x + shift; /* two roundings, as the two operators of the file have */
            const kuiper_vec kept = kuiper_clamped(y, low, high);
            kuiper_store(finish->out[i] + v * LANES, kept);
            if (finish->lows) {
                least = kuiper_at_most(kept, least); /* it may lose a NaN: the greatest keeps it, and one is enough */
                greatest = kuiper_larger(kept, greatest);
            }
        }
    }
    if (finish->lows) {
        kuiper_store(finish->lows, least);
        kuiper_store(finish->highs, greatest);
    }
}

/* ``out`` has INTEGER_WIDTH sums for each row, unless they are finished. */
KUIPER_INLINE void kuiper_integers_of(const int rows, const int vectors, const int fours, const kuiper_integer_work *work,
                                      const unsigned char *const *x, int *out, const kuiper_integer_finish *finish) {
    kuiper_ints s[INTEGER_ROWS][INTEGER_VECTORS];
    const unsigned char *w = work->weights;
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) s[i][v] = kuiper_load_words(work->start + v * LANES);
    for (Py_ssize_t tap = 0; tap < work->taps; tap++) {
        const unsigned char *row[INTEGER_ROWS];
        KUIPER_EACH (i, rows) row[i] = x[i] + work->offset[tap];
        for (Py_ssize_t at = 0; at < 4 * work->words; at += 4, w += 4 * vectors * LANES) {
            kuiper_ints b[INTEGER_VECTORS];
            KUIPER_EACH (v, vectors) b[v] = kuiper_load_words(w + 4 * v * LANES);
            KUIPER_EACH (i, rows) {
                int word;
                memcpy(&word, row[i] + at, 4);
                KUIPER_EACH (v, vectors)
                    s[i][v] = fours ? kuiper_four_dots(s[i][v], b[v], word) : kuiper_pair_dots(s[i][v], b[v], word);
            }
        }
    }
    if (finish) {
        kuiper_finish_sums(rows, vectors, s, finish);
        return;
    }
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, vectors) memcpy(out + i * INTEGER_WIDTH + v * LANES, &s[i][v], sizeof s[i][v]);
}

/* clang-format off */
#define KUIPER_INTEGER_CASE(R, V, F) \
    case R: if (R <= INTEGER_ROWS) kuiper_integers_of(R, V, F, work, x, out, finish); break;
#define KUIPER_INTEGER_TILE(NAME, PREFIX, V, F) \
    PREFIX static void kuiper_##NAME##_##V(int rows, const kuiper_integer_work *work, const unsigned char *const *x, int *out, \
                                          const kuiper_integer_finish *finish) { \
        switch (rows) { \
            KUIPER_INTEGER_CASE(1, V, F) KUIPER_INTEGER_CASE(2, V, F) KUIPER_INTEGER_CASE(3, V, F) \
            KUIPER_INTEGER_CASE(4, V, F) KUIPER_INTEGER_CASE(5, V, F) KUIPER_INTEGER_CASE(6, V, F) \
            KUIPER_INTEGER_CASE(7, V, F) KUIPER_INTEGER_CASE(8, V, F) KUIPER_INTEGER_CASE(9, V, F) \
            KUIPER_INTEGER_CASE(10, V, F) KUIPER_INTEGER_CASE(11, V, F) KUIPER_INTEGER_CASE(12, V, F) \
        } \
    }
KUIPER_INTEGER_TILE(pairs, , 1, 0)
KUIPER_INTEGER_TILE(pairs, , 2, 0)
KUIPER_INTEGER_TILE(fours, KUIPER_WITH_FOURS, 1, 1)
KUIPER_INTEGER_TILE(fours, KUIPER_WITH_FOURS, 2, 1)
/* clang-format on */

static inline void kuiper_integer_tile(int rows, int vectors, int fours, const kuiper_integer_work *work,
                                       const unsigned char *const *x, int *out, const kuiper_integer_finish *finish) {
    if (fours)
        (vectors == 1 ? kuiper_fours_1 : kuiper_fours_2)(rows, work, x, out, finish);
    else
        (vectors == 1 ? kuiper_pairs_1 : kuiper_pairs_2)(rows, work, x, out, finish);
}

/* What the weights lack, times what a row adds up to, onto the sums of a tile. */
static void kuiper_add_lacking(int rows, int vectors, const int *lacking, const int *row_sums, int *sums) {
    for (int i = 0; i < rows; i++, sums += INTEGER_WIDTH)
        for (int v = 0; v < vectors; v++) {
            const kuiper_unsigned less = (kuiper_unsigned)kuiper_load_words(lacking + v * LANES);
            const kuiper_ints sum = kuiper_load_words(sums + v * LANES);
            const kuiper_ints total = (kuiper_ints)((kuiper_unsigned)sum + less * (unsigned)row_sums[i]);
            memcpy(sums + v * LANES, &total, sizeof total);
        }
}

/* A channel of its own for each output, whose numbers under two taps at a time are woven into pairs: KUIPER_WOVEN lanes of 128
   bits each weave eight channels, four into the first vector and four into the second. ``x`` has int16; taps are even. */
#if defined(KUIPER_AVX512)
enum { KUIPER_WOVEN = 4 };
typedef __m512i kuiper_shorts;
#define KUIPER_WEAVE_LOW(a, b) _mm512_unpacklo_epi16(a, b)
#define KUIPER_WEAVE_HIGH(a, b) _mm512_unpackhi_epi16(a, b)
#define KUIPER_PAIRS(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#define KUIPER_UNWOVEN(low, high, first)                                                                                       \
    _mm512_permutex2var_epi32(                                                                                                 \
        low,                                                                                                                   \
        _mm512_add_epi32(_mm512_set1_epi32(first), _mm512_set_epi32(23, 22, 21, 20, 7, 6, 5, 4, 19, 18, 17, 16, 3, 2, 1, 0)),  \
        high)
#elif defined(KUIPER_AVX2)
enum { KUIPER_WOVEN = 2 };
typedef __m256i kuiper_shorts;
#define KUIPER_WEAVE_LOW(a, b) _mm256_unpacklo_epi16(a, b)
#define KUIPER_WEAVE_HIGH(a, b) _mm256_unpackhi_epi16(a, b)
#define KUIPER_PAIRS(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define KUIPER_UNWOVEN(low, high, first) _mm256_permute2x128_si256(low, high, (first) ? 0x31 : 0x20)
#else
enum { KUIPER_WOVEN = 1 };
#endif
static void kuiper_integer_depthwise(int rows, const kuiper_integer_work *work, const unsigned char *const *x, int *out) {
    for (int i = 0; i < rows; i++, out += INTEGER_WIDTH) {
        const unsigned char *w = work->weights;
#if defined(KUIPER_PAIRS)
        kuiper_shorts low = {0}, high = {0};
        for (Py_ssize_t tap = 0; tap < work->taps; tap += 2, w += 2 * sizeof(kuiper_shorts)) {
            kuiper_shorts a, b, first, second;
            memcpy(&a, x[i] + work->offset[tap], sizeof a);
            memcpy(&b, x[i] + work->offset[tap + 1], sizeof b);
            memcpy(&first, w, sizeof first);
            memcpy(&second, w + sizeof first, sizeof second);
            low = KUIPER_PAIRS(low, KUIPER_WEAVE_LOW(a, b), first);
            high = KUIPER_PAIRS(high, KUIPER_WEAVE_HIGH(a, b), second);
        }
        const kuiper_ints some = (kuiper_ints)KUIPER_UNWOVEN(low, high, 0) + kuiper_load_words(work->start);
        const kuiper_ints others = (kuiper_ints)KUIPER_UNWOVEN(low, high, LANES / 2) + kuiper_load_words(work->start + LANES);
        memcpy(out, &some, sizeof some);
        memcpy(out + LANES, &others, sizeof others);
#else
        memcpy(out, work->start, 4 * INTEGER_WIDTH);
        for (Py_ssize_t tap = 0; tap < work->taps; tap += 2, w += 4 * INTEGER_WIDTH)
            for (int c = 0; c < 2 * INTEGER_WIDTH; c++) {
                short number, weight;
                memcpy(&number, x[i] + work->offset[tap + c % 2] + c / 2 * 2, 2);
                memcpy(&weight, w + 2 * c, 2);
                out[c / 2] += number * weight;
            }
#endif
    }
}

/* The sums of a tile, INTEGER_WIDTH for each row, as floats: times a factor, plus a shift, kept within low and high. A row of
   ``out`` has room for this many whole vectors; it may be the row of sums. */
KUIPER_INLINE void kuiper_dequantise_vectors(int rows, const int vectors, const int *sums, const float *factor,
                                             const float *shift, float low, float high, float *const *out) {
    kuiper_vec f[INTEGER_VECTORS], s[INTEGER_VECTORS];
    KUIPER_EACH (v, vectors) {
        f[v] = kuiper_load(factor + v * LANES);
        s[v] = kuiper_load(shift + v * LANES);
    }
    for (int i = 0; i < rows; i++)
        KUIPER_EACH (v, vectors) {
            const kuiper_vec x = kuiper_of_integers(kuiper_load_words(sums + i * INTEGER_WIDTH + v * LANES)) * f[v];
            const kuiper_vec y = x + s[v]; /* two roundings, as the two operators of the file have */
            kuiper_store(out[i] + v * LANES, kuiper_clamped(y, low, high));
        }
}
static void kuiper_dequantise_tile(int rows, int vectors, const int *sums, const float *factor, const float *shift, float low,
                                   float high, float *const *out) {
    if (vectors == 1)
        kuiper_dequantise_vectors(rows, 1, sums, factor, shift, low, high, out);
    else
        kuiper_dequantise_vectors(rows, INTEGER_VECTORS, sums, factor, shift, low, high, out);
}

#endif
