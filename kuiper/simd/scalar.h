/* Functions of one float, without a call and without a branch, so that a loop over them becomes vector code; see scalar.pxd. */
#ifndef KUIPER_SIMD_SCALAR_H
#define KUIPER_SIMD_SCALAR_H

#include <math.h>
#include <string.h>

#include "kuiper/simd/vector.h"

/* p x + c: one step of Horner's rule. */
KUIPER_INLINE float kuiper_horner_of_one(float p, float x, float c) { return kuiper_fma_of_one(p, x, c); }

/* 2**n for -127 < n < 128, by its bits: sign 0, exponent n + 127, fraction 0. */
KUIPER_INLINE float kuiper_power_of_two(int n) {
    const unsigned int bits = (unsigned int)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof(float));
    return power;
}

/* x within low..high; NaN stays NaN. */
KUIPER_INLINE float kuiper_clamped_of_one(float x, float low, float high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* The n nearest to x / ln 2, and r = x - n ln 2. NaN gives some n, and NaN in r.

   Adding 1.5 * 2**23 leaves a float no room for a fraction: the sum is rounded, and its low bits are n.
   ln 2 is subtracted in two parts, the first so short that n times it is exact. */
KUIPER_INLINE int kuiper_reduce_of_one(float x, float *r) {
    const float shift = 12582912, ln2_high = -0.693359375f, ln2_low = 2.12194440054690583e-4f;
    const float shifted = kuiper_horner_of_one(x, 1.4426950408889634f, shift), n = shifted - shift;
    unsigned int bits;
    *r = kuiper_horner_of_one(n, ln2_low, kuiper_horner_of_one(n, ln2_high, x));
    memcpy(&bits, &shifted, sizeof(float));
    return (int)(bits - 0x4B400000u);
}

/* (exp(r) - 1 - r) / r**2 for |r| <= ln 2 / 2: nearly Taylor's series, 1 / 2! + r / 3! + ... + r**4 / 6!. */
KUIPER_INLINE float kuiper_from_second_term(float r) {
    float p = 1.3882510064447081e-3f;
    p = kuiper_horner_of_one(p, r, 8.366580337728885e-3f);
    p = kuiper_horner_of_one(p, r, 4.1667201780197914e-2f);
    p = kuiper_horner_of_one(p, r, 1.6666543178022064e-1f);
    return kuiper_horner_of_one(p, r, 4.999999814406782e-1f);
}

/* exp(r) for |r| <= ln 2 / 2. */
KUIPER_INLINE float kuiper_exp_near_zero(float r) {
    return kuiper_horner_of_one(kuiper_horner_of_one(kuiper_from_second_term(r), r, 1), r, 1);
}

/* exp(r) - 1 for |r| <= ln 2 / 2, exact also where that is nearly 0. */
KUIPER_INLINE float kuiper_expm1_near_zero(float r) { return kuiper_horner_of_one(kuiper_from_second_term(r) * r, r, r); }

/* e**x. The power of two comes in two halves, so that 2**-149 is reached, and 2**128 becomes inf. */
KUIPER_INLINE float kuiper_exp_of_one(float x) {
    float r;
    const int n = kuiper_reduce_of_one(kuiper_clamped_of_one(x, -110, 100), &r), half = n >> 1;
    return kuiper_exp_near_zero(r) * kuiper_power_of_two(half) * kuiper_power_of_two(n - half);
}

/* e**x - 1, exact also where e**x is nearly 1: 2**n (e**r - 1) + (2**n - 1), computed at half its size. */
KUIPER_INLINE float kuiper_expm1_of_one(float x) {
    float r;
    const float power = kuiper_power_of_two(kuiper_reduce_of_one(kuiper_clamped_of_one(x, -30, 89), &r) - 1);
    return 2 * kuiper_horner_of_one(power, kuiper_expm1_near_zero(r), power - 0.5f);
}

/* 1 / (1 + e**-x).

   Beyond the bounds the answer is 1, or 0 as e**89 is inf: so the power of two needs no halves, which ``exp`` has for the
   smallest numbers. NaN stays NaN. */
KUIPER_INLINE float kuiper_sigmoid_of_one(float x) {
    float r;
    const int n = kuiper_reduce_of_one(-kuiper_clamped_of_one(x, -89, 87), &r);
    return 1 / kuiper_horner_of_one(kuiper_exp_near_zero(r), kuiper_power_of_two(n), 1);
}

/* The hyperbolic tangent, -t / (2 + t) with t = e**(-2 |x|) - 1, and the sign of x. */
KUIPER_INLINE float kuiper_tanh_of_one(float x) {
    const float t = kuiper_expm1_of_one(-2 * fabsf(x));
    return copysignf(t / (2 + t), x);
}

/* ln(1 + u) for 0 <= u <= 1: 2 artanh(s) with s = u / (2 + u) <= 1/3, so s**2 <= 1/9 and eight terms do. */
KUIPER_INLINE float kuiper_log1p_unit(float u) {
    const float s = u / (2 + u), square = s * s;
    float p = (float)(2.0 / 15);
    p = kuiper_horner_of_one(p, square, (float)(2.0 / 13));
    p = kuiper_horner_of_one(p, square, (float)(2.0 / 11));
    p = kuiper_horner_of_one(p, square, (float)(2.0 / 9));
    p = kuiper_horner_of_one(p, square, (float)(2.0 / 7));
    p = kuiper_horner_of_one(p, square, (float)(2.0 / 5));
    p = kuiper_horner_of_one(p, square, (float)(2.0 / 3));
    return kuiper_horner_of_one(p * square, s, 2 * s);
}

/* ln(1 + e**x) = max(x, 0) + ln(1 + e**-|x|). */
KUIPER_INLINE float kuiper_softplus_of_one(float x) {
    return (x < 0 ? 0 : x) + kuiper_log1p_unit(kuiper_exp_of_one(-fabsf(x)));
}

/* The error function is x P(x**2) / Q(x**2) up to |x| = KUIPER_ERF_END, where a float cannot tell it from 1. ``number`` makes
   a float or a vector of the first coefficient, ``horner`` adds the others.

   The coefficients were fitted for this file (least squares at 4000 Chebyshev nodes, reweighted until the largest relative
   error was smallest: 2e-8). All are positive: nothing cancels. */
#define KUIPER_ERF_END 3.925f
#define KUIPER_ERF_P(number, horner, x)                                                                                        \
    horner(horner(horner(horner(horner(number(2.04616572e-6f), x, 2.84831276e-4f), x, 3.77191019e-3f), x, 5.27673043e-2f), x,  \
                  1.90578530e-1f),                                                                                             \
           x, 1.12837915f)
#define KUIPER_ERF_Q(number, horner, x)                                                                                        \
    horner(horner(horner(horner(horner(number(3.80485841e-5f), x, 1.16370725e-3f), x, 1.49819049e-2f), x, 1.14176448e-1f), x,  \
                  5.02228558e-1f),                                                                                             \
           x, 1)

/* The error function. */
KUIPER_INLINE float kuiper_erf_of_one(float x) {
    const float bounded = kuiper_clamped_of_one(x, -KUIPER_ERF_END, KUIPER_ERF_END), square = bounded * bounded;
    const float p = KUIPER_ERF_P((float), kuiper_horner_of_one, square),
                q = KUIPER_ERF_Q((float), kuiper_horner_of_one, square);
    return kuiper_clamped_of_one(bounded * p / q, -1, 1);
}

#endif
