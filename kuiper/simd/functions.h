/* Functions of a whole vector; see functions.pxd, which explains the formulas. Bounds are relative errors. */
#ifndef KUIPER_SIMD_FUNCTIONS_H
#define KUIPER_SIMD_FUNCTIONS_H

#include "kuiper/simd/scalar.h"
#include "kuiper/simd/vector.h"

/* What is added to a float of less than 2**22 to round it to an integer, which then stands in the lowest bits. */
#define KUIPER_TO_BITS 12582912.0f

/* p x + c: one step of Horner's rule. */
KUIPER_INLINE kuiper_vec kuiper_horner(kuiper_vec p, kuiper_vec x, float c) { return kuiper_fma(p, x, kuiper_splat(c)); }

KUIPER_INLINE kuiper_vec kuiper_clamped(kuiper_vec x, float low, float high) {
    return kuiper_at_most(kuiper_at_least(x, kuiper_splat(low)), kuiper_splat(high));
}

/* The power of two whose exponent, with 127 added, is in the lowest bits of x: 0 for 0, infinity for 255. */
KUIPER_INLINE kuiper_vec kuiper_power_in_low_bits(kuiper_vec x) {
    return KUIPER_OF_BITS((kuiper_unsigned)KUIPER_BITS(x) << 23);
}

/* 2**(m / 8 - 127), m in the lowest bits of x: the bits of 2**(j / 8), j = m mod 8, less those that m adds and those of 1. */
KUIPER_INLINE kuiper_vec kuiper_power(kuiper_vec x) {
    static const int roots[8] = {0, -289342, -509968, -655657, -719629, -694486, -572163, -343865};
    const kuiper_unsigned root = (kuiper_unsigned)KUIPER_BITS(kuiper_lookup((const float *)roots, x));
    return KUIPER_OF_BITS(root + ((kuiper_unsigned)KUIPER_BITS(x) << 20));
}

/* r = x - m ln 2 / parts. The first part of ln 2 is so short that m times it is exact, with FMA or without. */
KUIPER_INLINE kuiper_vec kuiper_reduced(kuiper_vec x, kuiper_vec m, float parts) {
    const kuiper_vec high = kuiper_splat(0.693359375f / parts), low = kuiper_splat(-2.12194440054690583e-4f / parts);
    return kuiper_fnma(m, low, kuiper_fnma(m, high, x));
}

/* m with x = m ln 2 / parts + r, r as above, as an integer in the lowest bits, to which ``shift`` is added. */
KUIPER_INLINE kuiper_vec kuiper_multiple(kuiper_vec x, float parts, float shift) {
    return kuiper_fma(x, kuiper_splat(1.4426950408889634f * parts), kuiper_splat(shift));
}

/* e**x 2**exponent, where it is at least 2**-126 and a float can hold it; on from there it falls to 0 at 2**-127. */
KUIPER_INLINE kuiper_vec kuiper_exp_times_power(kuiper_vec x, float exponent) {
    const float shift = KUIPER_TO_BITS + (127 + exponent) * 8;
    const kuiper_vec m = kuiper_multiple(x, 8, shift), r = kuiper_reduced(x, m - shift, 8), factor = kuiper_power(m);
    const kuiper_vec p = kuiper_horner(kuiper_splat(0.16666978991337242f), r, 0.500064523366961f);
    return kuiper_fma(kuiper_fma(p, r * r, r), factor, factor); /* e**r - 1 within 1e-7 of e**r */
}

/* e**x for x <= 88, within 2e-7; from 2**-126 on it falls to 0 at 2**-127. */
KUIPER_INLINE kuiper_vec kuiper_exp_up_to(kuiper_vec x) {
    return kuiper_exp_times_power(kuiper_at_least(x, kuiper_splat(-88.029692f)), 0);
}

/* e**x within 2e-7; from 2**-125 on it falls to 0 at 2**-126. Infinity where a float cannot hold it: it is computed at half its
   size. */
KUIPER_INLINE kuiper_vec kuiper_exp(kuiper_vec x) {
    const kuiper_vec half = kuiper_exp_times_power(kuiper_clamped(x, -87.336545f, 89), -1);
    return half + half;
}

/* e**x - 1 within 5e-7, also near 0: 2**n (e**r - 1) + (2**n - 1), computed at half its size. */
KUIPER_INLINE kuiper_vec kuiper_expm1(kuiper_vec x) {
    const float shift = KUIPER_TO_BITS + 126;
    const kuiper_vec bounded = kuiper_clamped(x, -30, 89), m = kuiper_multiple(bounded, 1, shift);
    const kuiper_vec r = kuiper_reduced(bounded, m - shift, 1), factor = kuiper_power_in_low_bits(m);
    kuiper_vec p = kuiper_splat(1.3882510064447081e-3f);
    p = kuiper_horner(p, r, 8.366580337728885e-3f);
    p = kuiper_horner(p, r, 4.1667201780197914e-2f);
    p = kuiper_horner(p, r, 1.6666543178022064e-1f);
    p = kuiper_horner(p, r, 4.999999814406782e-1f);
    p = kuiper_fma(p * r, r, r); /* e**r - 1 for |r| <= ln 2 / 2, within 1e-7 */
    return 2.0f * kuiper_fma(factor, p, factor - 0.5f);
}

/* factor * over / under = e**x, within 2e-7 + 3e-9 |x|, for x from -88.029692, where the factor is 0, to 88.722839, where it is
   infinity. */
KUIPER_INLINE void kuiper_exp_as_fraction(kuiper_vec x, kuiper_vec *factor, kuiper_vec *over, kuiper_vec *under) {
    const float shift = KUIPER_TO_BITS + 127 * 8;
    const kuiper_vec m = kuiper_multiple(x, 8, shift), r = kuiper_reduced(x, m - shift, 8);
    const kuiper_vec g = kuiper_horner(kuiper_splat(0.16666015037808213f), r * r, 2.0000000030573686f);
    *factor = kuiper_power(m);
    *over = g + r;
    *under = g - r;
}

/* 1 / d = 1 / (1 + e**-x), within 3e-7 + 3e-9 |x|; infinite below 2**-128. The factor multiplies e**r as a whole, since e**r -
   1 may be negative where the factor is infinite. */
KUIPER_INLINE kuiper_vec kuiper_logistic_denominator(kuiper_vec x) {
    const float shift = KUIPER_TO_BITS + 127 * 8;
    const kuiper_vec minus_x = -kuiper_clamped(x, -88.722839f, 88.029692f);
    const kuiper_vec m = kuiper_multiple(minus_x, 8, shift), r = kuiper_reduced(minus_x, m - shift, 8);
    kuiper_vec p = kuiper_horner(kuiper_splat(0.16666978991337242f), r, 0.500064523366961f);
    p = kuiper_horner(p, r, 1);
    p = kuiper_horner(p, r, 1);
    return kuiper_fma(p, kuiper_power(m), kuiper_splat(1));
}

/* 1 / (1 + e**-x) within 3e-7 + 3e-9 |x|; 0 below 2**-128. */
KUIPER_INLINE kuiper_vec kuiper_sigmoid(kuiper_vec x) { return kuiper_splat(1) / kuiper_logistic_denominator(x); }

/* The hyperbolic tangent within 4e-7; from |x| = 9.02 on it is 1 or -1.

   With x = m ln 2 / 2 + r and g = r coth r, e**2x is 2**m (g + r) / (g - r), and tanh x = (r - h) / (g - h) with
   h = (1 - 2**m) (g + r) / 2, which is 0 near 0; r - 0 is -0.0 for -0.0. Rounding could lead below -1, but not above 1, as
   r < g. */
KUIPER_INLINE kuiper_vec kuiper_tanh(kuiper_vec x) {
    const float shift = KUIPER_TO_BITS + 126;
    const kuiper_vec bounded = kuiper_clamped(x, -9.02f, 9.02f), m = kuiper_multiple(bounded, 2, shift);
    const kuiper_vec r = kuiper_fnma(m - shift, kuiper_splat(0.34657359027997264f), bounded), square = r * r;
    kuiper_vec g = kuiper_horner(kuiper_splat(-0.022127340596323965f), square, 0.3333322684544483f);
    g = kuiper_horner(g, square, 1.0000000017647859f);
    const kuiper_vec h = (0.5f - kuiper_power_in_low_bits(m)) * (g + r);
    return kuiper_at_least((r - h) / (g - h), kuiper_splat(-1));
}

/* The error function within 5e-7. */
KUIPER_INLINE kuiper_vec kuiper_erf(kuiper_vec x) {
    const kuiper_vec bounded = kuiper_clamped(x, -KUIPER_ERF_END, KUIPER_ERF_END), square = bounded * bounded;
    const kuiper_vec p = KUIPER_ERF_P(kuiper_splat, kuiper_horner, square);
    const kuiper_vec q = KUIPER_ERF_Q(kuiper_splat, kuiper_horner, square);
    return kuiper_clamped((bounded * p) / q, -1, 1);
}

/* ln(1 + e**x) = max(x, 0) + ln(1 + u) with u = e**-|x| <= 1, within 5e-7.

   ln(1 + u) = 2 artanh(s) with s = u / (2 + u) <= 1/3, so s**2 <= 1/9: five terms are good for 5e-9. */
KUIPER_INLINE kuiper_vec kuiper_softplus(kuiper_vec x) {
    const kuiper_vec u = kuiper_exp_up_to(-kuiper_magnitude(x)), s = u / (u + 2.0f), square = s * s;
    kuiper_vec p = kuiper_splat(0.2801196113466452f);
    p = kuiper_horner(p, square, 0.2800181087464082f);
    p = kuiper_horner(p, square, 0.4002152686697708f);
    p = kuiper_horner(p, square, 0.6666641629281572f);
    return kuiper_at_least(x, kuiper_splat(0)) + kuiper_fma(p * square, s, 2.0f * s);
}

/* m and n with x = 2**n m, m in sqrt(1/2) .. sqrt(2), for normal x > 0. To subtract the bits of sqrt(1/2) before the exponent
   is cut off puts the border between two n there. */
KUIPER_INLINE kuiper_vec kuiper_split_exponent(kuiper_vec x, kuiper_vec *n) {
    const kuiper_ints bits = KUIPER_BITS(x) - 0x3f3504f3;
#if defined(KUIPER_VECTORS)
    *n = __builtin_convertvector(bits >> 23, kuiper_vec);
#else
    *n = (float)(bits >> 23);
#endif
    return KUIPER_OF_BITS((bits & 0x7fffff) + 0x3f3504f3);
}

/* The natural logarithm within 5e-7: x = 2**n m, ln m = 2 artanh(s) with s = (m - 1) / (m + 1).

   |s| < 0.172, so that four terms are good for 1e-9. Numbers below 2**-126, whose exponent is not in its bits, are scaled up
   first. */
KUIPER_INLINE kuiper_vec kuiper_log(kuiper_vec x) {
    const kuiper_vec smallest = kuiper_splat(1.1754944e-38f), zero = kuiper_splat(0);
    kuiper_vec n;
    const kuiper_vec m = kuiper_split_exponent(kuiper_below(x, smallest, x * 16777216.0f, x), &n);
    n = n - kuiper_below(x, smallest, kuiper_splat(24), zero);
    const kuiper_vec s = (m - 1.0f) / (m + 1.0f), square = s * s;
    kuiper_vec p = kuiper_splat(0.2987093384419145f);
    p = kuiper_horner(p, square, 0.39977574157417284f);
    p = kuiper_horner(p, square, 0.6666677608416552f);
    p = kuiper_fma(n, kuiper_splat(-2.12194440054690583e-4f), kuiper_fma(p * square, s, 2.0f * s));
    p = kuiper_fma(n, kuiper_splat(0.693359375f), p);
    p = kuiper_below(x, kuiper_splat(INFINITY), p, x);
    p = kuiper_below(x, kuiper_splat(1.4e-45f), kuiper_splat(-INFINITY), p);
    return kuiper_below(x, zero, kuiper_splat(NAN), p);
}

/* x Phi(x) within 6e-7 of itself, and 3e-7 times the larger of 1 and |x| up to 6. The table has a column for each piece; it is
   made by tests/simd/normal_pieces.py. */
KUIPER_INLINE kuiper_vec kuiper_gelu(kuiper_vec x) {
    static const float pieces[6][8] = {
        {-0.0026901553f, 0.00019822818f, 0.0016146045f, -7.895755e-06f, -0.00029069546f, -6.8393165e-05f, -5.9112094e-06f,
         0.0f},
        {0.00021678988f, 0.0084549235f, 0.0016139896f, -0.002303316f, -0.0009955312f, -0.00014628995f, -9.588696e-06f, 0.0f},
        {0.032312673f, 0.009069202f, -0.013780827f, -0.009137502f, -0.0020515614f, -0.00020690303f, -1.01429705e-05f, 0.0f},
        {7.1199147e-06f, -0.07103519f, -0.05630386f, -0.018049065f, -0.00277102f, -0.00021461112f, -8.570076e-06f, 0.0f},
        {-0.3134544f, -0.23020776f, -0.09119166f, -0.019483851f, -0.0022453673f, -0.0001395857f, -4.682385e-06f, 0.0f},
        {-0.0f, 0.28398222f, 0.44195852f, 0.490792f, 0.49916345f, 0.49995726f, 0.49999878f, 0.5f}};
    const kuiper_vec y = kuiper_magnitude(x), of_one = kuiper_splat(1.2727273f);
    const kuiper_vec bounded = kuiper_at_most(y, kuiper_splat(7 / 1.2727273f));
    const kuiper_vec k = kuiper_fma(bounded, of_one, kuiper_splat(KUIPER_TO_BITS));
    const kuiper_vec t = kuiper_fnma(bounded, of_one, k - KUIPER_TO_BITS);
    kuiper_vec p = kuiper_lookup(pieces[0], k);
    KUIPER_EACH (i, 5) p = kuiper_fma(p, t, kuiper_lookup(pieces[i + 1], k));
    return kuiper_fma(y, p, x * 0.5f);
}

#endif
