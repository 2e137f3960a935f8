/* See gate_tile.pxd, which explains it. */
#ifndef KUIPER_ENGINE_GATE_TILE_H
#define KUIPER_ENGINE_GATE_TILE_H

#include "kuiper/engine/integer_tile.h"
#include "kuiper/simd/functions.h"

enum { GATES = 4, GATE_ROWS = REGISTERS == 32 ? 6 : 3 };

/* LANES pairs of bytes as LANES words of two int16. */
#if defined(KUIPER_AVX512)
KUIPER_INLINE kuiper_ints kuiper_widened_pairs(const signed char *p) {
    return (kuiper_ints)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p));
}
#elif defined(KUIPER_AVX2)
KUIPER_INLINE kuiper_ints kuiper_widened_pairs(const signed char *p) {
    return (kuiper_ints)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
}
#elif defined(KUIPER_NEON)
KUIPER_INLINE kuiper_ints kuiper_widened_pairs(const signed char *p) { return (kuiper_ints)vmovl_s8(vld1_s8(p)); }
#else
KUIPER_INLINE kuiper_ints kuiper_widened_pairs(const signed char *p) {
    short numbers[2 * LANES];
    kuiper_ints words;
    for (int i = 0; i < 2 * LANES; i++) numbers[i] = p[i];
    memcpy(&words, numbers, sizeof words);
    return words;
}
#endif

KUIPER_INLINE void kuiper_gates_of(const int rows, const int fours, Py_ssize_t words, const signed char *w,
                                   const unsigned char *const *x, int *out) {
    kuiper_ints s[GATE_ROWS][GATES];
    const int bytes = fours ? 4 * LANES : 2 * LANES; /* of a word of LANES outputs */
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, GATES) s[i][v] = (kuiper_ints){0};
    for (Py_ssize_t at = 0; at < 4 * words; at += 4, w += GATES * bytes) {
        int word[GATE_ROWS];
        KUIPER_EACH (i, rows) memcpy(&word[i], x[i] + at, 4);
        KUIPER_EACH (v, GATES) {
            const kuiper_ints b = fours ? kuiper_load_words(w + v * bytes) : kuiper_widened_pairs(w + v * bytes);
            KUIPER_EACH (i, rows)
                s[i][v] = fours ? kuiper_four_dots(s[i][v], b, word[i]) : kuiper_pair_dots(s[i][v], b, word[i]);
        }
    }
    KUIPER_EACH (i, rows)
        KUIPER_EACH (v, GATES) memcpy(out + (i * GATES + v) * LANES, &s[i][v], sizeof s[i][v]);
}

/* clang-format off */
#define KUIPER_GATE_CASE(R, F) case R: if (R <= GATE_ROWS) kuiper_gates_of(R, F, words, w, x, out); break;
#define KUIPER_GATE_TILE(NAME, PREFIX, F) \
    PREFIX static void kuiper_gate_##NAME(int rows, Py_ssize_t words, const signed char *w, const unsigned char *const *x, int *out) { \
        switch (rows) { \
            KUIPER_GATE_CASE(1, F) KUIPER_GATE_CASE(2, F) KUIPER_GATE_CASE(3, F) \
            KUIPER_GATE_CASE(4, F) KUIPER_GATE_CASE(5, F) KUIPER_GATE_CASE(6, F) \
        } \
    }
KUIPER_GATE_TILE(pairs, , 0)
KUIPER_GATE_TILE(fours, KUIPER_WITH_FOURS, 1)
/* clang-format on */

static inline void kuiper_gate_tile(int rows, int fours, Py_ssize_t words, const signed char *w, const unsigned char *const *x,
                                    int *out) {
    (fours ? kuiper_gate_fours : kuiper_gate_pairs)(rows, words, w, x, out);
}

/* The sums of LANES outputs as floats, once what zero points bring in is taken off: a times each sum of weights, b times each
   zero point of the weights. */
KUIPER_INLINE kuiper_vec kuiper_gate_numbers(const int *sums, int a, const int *weight_sums, int b, const int *zeros,
                                             const float *factor, float scale) {
    const kuiper_unsigned less =
        (kuiper_unsigned)kuiper_load_words(weight_sums) * (unsigned)a + (kuiper_unsigned)kuiper_load_words(zeros) * (unsigned)b;
    const kuiper_unsigned left = (kuiper_unsigned)kuiper_load_words(sums) - less;
    return kuiper_of_integers((kuiper_ints)left) * (kuiper_load(factor) * kuiper_splat(scale));
}

/* p x + c, rounded once on every machine: in double the product is exact, and so is the sum but once in half a billion. */
KUIPER_INLINE kuiper_vec kuiper_rounded_once(kuiper_vec p, kuiper_vec x, float c) {
#if KUIPER_FUSES
    return kuiper_horner(p, x, c);
#else
    float a[LANES], b[LANES];
    kuiper_store(a, p);
    kuiper_store(b, x);
    for (int i = 0; i < LANES; i++) a[i] = (float)((double)a[i] * (double)b[i] + (double)c);
    return kuiper_load(a);
#endif
}
KUIPER_INLINE kuiper_vec kuiper_polynomial(kuiper_vec x, const float *coefficients, const int count) {
    kuiper_vec p = kuiper_splat(coefficients[0]);
    KUIPER_EACH (i, count - 1) p = kuiper_rounded_once(p, x, coefficients[i + 1]);
    return p;
}
KUIPER_INLINE kuiper_vec kuiper_quotient_logistic(kuiper_vec x) {
    static const float upper[] = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f, 8.51377133304701e-03f,
                                  2.48287947061529e-01f};
    static const float lower[] = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                                  1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f};
    x = kuiper_clamped(x, -18, 18);
    const kuiper_vec p = kuiper_polynomial(x * x, upper, 5), q = kuiper_polynomial(x * x, lower, 6);
    return kuiper_clamped(p * x / q + kuiper_splat(0.5f), 0, 1);
}
KUIPER_INLINE kuiper_vec kuiper_quotient_tanh(kuiper_vec x) {
    static const float upper[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                                  1.48572235717979e-05f,  6.37261928875436e-04f, 4.89352455891786e-03f};
    static const float lower[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f};
    x = kuiper_clamped(x, -9, 9);
    const kuiper_vec p = kuiper_polynomial(x * x, upper, 7), q = kuiper_polynomial(x * x, lower, 4);
    return p * x / q;
}

#endif
