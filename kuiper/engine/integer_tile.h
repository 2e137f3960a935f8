/* See integer_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_INTEGER_TILE_H
#define KUIPER_ENGINE_INTEGER_TILE_H

#include "kuiper/engine/integer_finish.h"

/* The most rows of a tile, whose panel has up to two vectors of outputs: the sums, the weights, a word of a row and a product
   stay in registers. */
enum { INTEGER_ROWS = REGISTERS == 32 ? 12 : 6 };

typedef struct {
    Py_ssize_t taps, words;       /* how many positions, and how many words of four bytes under each */
    const Py_ssize_t *offset;     /* [taps]: bytes from a row's beginning */
    const unsigned char *weights; /* [taps][words][vectors * LANES] words */
    const int *start;             /* [vectors * LANES]: what the sums begin with */
    const int *lacking;           /* [vectors * LANES]: what is taken off the weights of each output; NULL: nothing */
    const int *row_sums;          /* [rows]: what a row adds up to, where something lacks */
} kuiper_integer_work;

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
    if (work->lacking)
        KUIPER_EACH (v, vectors) {
            const kuiper_unsigned less = (kuiper_unsigned)kuiper_load_words(work->lacking + v * LANES);
            KUIPER_EACH (i, rows) s[i][v] = (kuiper_ints)((kuiper_unsigned)s[i][v] + less * (unsigned)work->row_sums[i]);
        }
    kuiper_hand_over(rows, vectors, 0, s, out, finish);
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

#endif
