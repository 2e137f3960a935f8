"""Functions of a whole vector: exponential, sigmoid, tanh, erf and their kin, and the sum and the largest of its lanes.

The formulas of kuiper/layers/kernels/vector_math.pxd, rewritten for what limits a loop over vectors: the multiply-adds,
of which a core starts two in a cycle. Bounds are relative errors. NaN gives NaN, and infinities their limits.

**e**x** is 2**(m / E) e**r with m whole, r = x - m ln 2 / E, |r| <= ln 2 / (2 E). To add 1.5 * 2**23 rounds a float to a whole
number, which then stands in its lowest bits. E is ENTRIES, so a lookup by these bits gives 2**(j / E), j = m mod E. The bits
above are those of an exponent: shifted to their place and added, they make it 2**(m / E). With 127 E added to m beforehand,
nothing else is to be done; m = 128 E gives infinity, and m = -127 E gives 0. The more entries, the smaller r, and the fewer
terms a polynomial of r needs:

    E = 32   8   1           e**r - 1 has    2   3   5 terms           g, below, has    1   2   3 terms

**Where e**x is divided anyway** (Mish; with E = 32 and 1 sigmoid and SiLU), e**r needs no polynomial of its own. Since
r coth(r / 2) is even,

    e**r = (g + r) / (g - r),   g = r coth(r / 2) = 2 + r**2 / 6 - r**4 / 360 + ...

and 1 / (1 + e**-x) = (g - r) / ((g - r) + 2**(m / E) (g + r)), where x = -(m ln 2 / E + r), is one division.

Polynomials and fractions were fitted for this file: least squares at thousands of Chebyshev nodes, reweighted until the
largest error was smallest.

Source: W. Cody, W. Waite, Software Manual for the Elementary Functions, 1980, chapter 6 (the reduction, and the fraction).
"""

from libc.math cimport INFINITY, NAN

from kuiper.engine.vector cimport ENTRIES, at_least, at_most, below, magnitude, power_in_low_bits, splat, vec

cdef extern from *:
    """
    /* Halves against each other, again and again. As a loop over lanes in memory it would stay one: the compiler does not
       see that these are three or four operations on registers. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    #define KUIPER_UPPER_HALF(x) _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1))
    #define KUIPER_EIGHT(x, COMBINE) COMBINE(_mm512_castps512_ps256(x), KUIPER_UPPER_HALF(x))
    #else
    #define KUIPER_EIGHT(x, COMBINE) (x)
    #endif
    #if defined(KUIPER_VECTORS) && defined(__AVX__)
    #define KUIPER_HALVES(NAME, EIGHTS, FOURS, ONES) \\
        KUIPER_INLINE float NAME(kuiper_vec x) { \\
            const __m256 y = KUIPER_EIGHT(x, EIGHTS); \\
            const __m128 z = FOURS(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1)); \\
            return ONES(ONES(z[0], z[2]), ONES(z[1], z[3])); \\
        }
    #elif defined(KUIPER_VECTORS)
    #define KUIPER_HALVES(NAME, EIGHTS, FOURS, ONES) \\
        KUIPER_INLINE float NAME(kuiper_vec x) { return ONES(ONES(x[0], x[2]), ONES(x[1], x[3])); }
    #else
    #define KUIPER_HALVES(NAME, EIGHTS, FOURS, ONES) KUIPER_INLINE float NAME(kuiper_vec x) { return x; }
    #endif
    KUIPER_INLINE float kuiper_sum_of_two(float a, float b) { return a + b; }
    KUIPER_INLINE float kuiper_larger_of_two(float a, float b) { return a < b ? b : a; }
    KUIPER_HALVES(kuiper_sum_of_lanes, _mm256_add_ps, _mm_add_ps, kuiper_sum_of_two)
    KUIPER_HALVES(kuiper_largest_lane, _mm256_max_ps, _mm_max_ps, kuiper_larger_of_two)
    KUIPER_INLINE kuiper_vec kuiper_with_rest(const float *x, int count, float rest) {
        float lanes[LANES];
        for (int i = 0; i < LANES; i++) lanes[i] = i;
        return kuiper_below(kuiper_load(lanes), kuiper_splat(count), kuiper_load(x), kuiper_splat(rest));
    }
    KUIPER_INLINE kuiper_vec kuiper_last_lanes(kuiper_vec x, int count, float rest) {
        float lanes[LANES];
        for (int i = 0; i < LANES; i++) lanes[i] = i;
        return kuiper_below(kuiper_load(lanes), kuiper_splat(LANES - count), kuiper_splat(rest), x);
    }
    /* x - m ln 2 / entries. ln 2 as one float, of which a fused multiply-add rounds no product, is wrong by 2e-9; it is
       asked for by name, since compilers fuse only where they optimise. Elsewhere ln 2 comes in two parts, the first so
       short that m times it is exact. */
    KUIPER_INLINE kuiper_vec kuiper_rest(kuiper_vec x, kuiper_vec m) {
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
        return _mm512_fnmadd_ps(m, kuiper_splat(0.693147182f / KUIPER_ENTRIES), x);
    #elif defined(KUIPER_VECTORS) && defined(__FMA__)
        return _mm256_fnmadd_ps(m, kuiper_splat(0.693147182f / KUIPER_ENTRIES), x);
    #else
        return (x - m * (0.693359375f / KUIPER_ENTRIES)) + m * (2.12194440e-4f / KUIPER_ENTRIES);
    #endif
    }
    /* 2**(m / entries - 127), m in the lowest bits: the bits of 2**(j / entries), less those that m adds and those of 1. */
    #if KUIPER_ENTRIES == 32
    enum { KUIPER_EXPONENT_SHIFT = 18 };
    static const int kuiper_roots[32] = {
        0, -78457, -152893, -223217, -289342, -351174, -408621, -461584, -509968, -553670, -592590, -626621, -655657,
        -679589, -698305, -711690, -719629, -722001, -718684, -709555, -694486, -673346, -646004, -612322, -572163,
        -525384, -471841, -411385, -343865, -269126, -187011, -97357
    };
    #elif KUIPER_ENTRIES == 8
    enum { KUIPER_EXPONENT_SHIFT = 20 };
    static const int kuiper_roots[8] = {
        0, -289342, -509968, -655657, -719629, -694486, -572163, -343865
    };
    #endif
    KUIPER_INLINE kuiper_vec kuiper_power(kuiper_vec m) {
    #if KUIPER_ENTRIES == 1
        return kuiper_power_in_low_bits(m);
    #else
        const kuiper_unsigned root = (kuiper_unsigned)kuiper_lookup((const float *)kuiper_roots, m);
        return KUIPER_OF_BITS(root + ((kuiper_unsigned)KUIPER_BITS(m) << KUIPER_EXPONENT_SHIFT));
    #endif
    }
    /* m and n with x = 2**n m, m in sqrt(1/2) .. sqrt(2), for normal x > 0. To subtract the bits of sqrt(1/2) before the
       exponent is cut off puts the border between two n there. */
    KUIPER_INLINE kuiper_vec kuiper_split(kuiper_vec x, kuiper_vec *n) {
        const kuiper_ints bits = KUIPER_BITS(x) - 0x3f3504f3;
    #if defined(KUIPER_VECTORS)
        *n = __builtin_convertvector(bits >> 23, kuiper_vec);
    #else
        *n = (float)(bits >> 23);
    #endif
        return KUIPER_OF_BITS((bits & 0x7fffff) + 0x3f3504f3);
    }
    """
    float sum_of_lanes "kuiper_sum_of_lanes"(vec x) noexcept nogil
    # the first ``count`` lanes from memory (all of which may be read), ``rest`` in the others
    vec with_rest "kuiper_with_rest"(const float* x, int count, float rest) noexcept nogil
    # the last ``count`` lanes of x, ``rest`` in the others
    vec last_lanes "kuiper_last_lanes"(vec x, int count, float rest) noexcept nogil
    # NaN may be passed over
    float largest_lane "kuiper_largest_lane"(vec x) noexcept nogil
    vec rest "kuiper_rest"(vec x, vec m) noexcept nogil
    # 2**(m / ENTRIES), where m with 127 ENTRIES added is in the lowest bits: 0 for 0, infinity for 255 ENTRIES
    vec power "kuiper_power"(vec m) noexcept nogil
    vec split_exponent "kuiper_split"(vec x, vec* n) noexcept nogil


cdef inline vec horner(vec p, vec x, float c) noexcept nogil:
    """p x + c: one step of Horner's rule."""
    return p * x + c


cdef inline vec clamped(vec x, float low, float high) noexcept nogil:
    """x within low..high; NaN stays NaN."""
    return at_most(at_least(x, splat(low)), splat(high))


cdef inline vec reduced(vec x, float parts, float shift, vec* shifted) noexcept nogil:
    """r = x - m ln 2 / parts; m stands in the lowest bits of ``shifted``, with what ``shift`` adds to 1.5 * 2**23."""
    cdef float log2_e = 1.4426950408889634, ln2_high = -0.693359375, ln2_low = 2.12194440054690583e-4
    cdef vec m
    shifted[0] = x * (log2_e * parts) + shift
    m = shifted[0] - shift
    return (x + m * (ln2_high / parts)) + m * (ln2_low / parts)


cdef inline vec expm1_of_rest(vec r) noexcept nogil:
    """e**r - 1 for |r| <= ln 2 / (2 ENTRIES), within 1e-7 of e**r."""
    cdef float a1 = 1.000014657847251, a2 = 0.5000011324964305
    cdef float b2 = 0.500064523366961, b3 = 0.16666978991337242
    cdef float c2 = 0.4999923176205255, c3 = 0.1666711445204204, c4 = 0.04189011625260527, c5 = 0.008312526969095142
    cdef vec square = r * r
    if ENTRIES == 32:
        return (a2 * r + a1) * r
    if ENTRIES == 8:
        return (b3 * r + b2) * square + r
    return ((c5 * r + c4) * square + (c3 * r + c2)) * square + r


cdef inline vec exp_times_power(vec x, float exponent) noexcept nogil:
    """e**x 2**exponent, where it is at least 2**-126 and a float can hold it; on from there it falls to 0 at 2**-127."""
    cdef float to_bits = 12582912 + (127 + exponent) * ENTRIES
    cdef vec m
    cdef vec r = reduced(x, ENTRIES, to_bits, &m)
    cdef vec factor = power(m)
    return expm1_of_rest(r) * factor + factor


cdef inline vec exp_up_to(vec x) noexcept nogil:
    """e**x for x <= 88, within 2e-7; from 2**-126 on it falls to 0 at 2**-127."""
    return exp_times_power(at_least(x, splat(-88.029692)), 0)


cdef inline vec exp(vec x) noexcept nogil:
    """e**x within 2e-7; from 2**-125 on it falls to 0 at 2**-126. Infinity where a float cannot hold it: it is computed at half
    its size."""
    cdef vec half = exp_times_power(clamped(x, -87.336545, 89), -1)
    return half + half


cdef inline vec expm1_near_zero(vec r) noexcept nogil:
    """e**r - 1 for |r| <= ln 2 / 2, within 1e-7."""
    cdef vec p = splat(1.3882510064447081e-3)
    p = horner(p, r, 8.366580337728885e-3)
    p = horner(p, r, 4.1667201780197914e-2)
    p = horner(p, r, 1.6666543178022064e-1)
    p = horner(p, r, 4.999999814406782e-1)
    return (p * r) * r + r


cdef inline vec expm1(vec x) noexcept nogil:
    """e**x - 1 within 5e-7, also near 0: 2**n (e**r - 1) + (2**n - 1), computed at half its size."""
    cdef float half = 0.5, two = 2, to_bits = 12582912 + 126
    cdef vec shifted
    cdef vec r = reduced(clamped(x, -30, 89), 1, to_bits, &shifted)
    cdef vec factor = power_in_low_bits(shifted)
    return two * (factor * expm1_near_zero(r) + (factor - half))


cdef inline vec r_coth_of_half(vec r) noexcept nogil:
    """r coth(r / 2) for |r| <= ln 2 / (2 ENTRIES), so that (g + r) / (g - r) is e**r within 3e-8."""
    cdef float a0 = 2.0000146621525774, b0 = 2.0000000030573686, b1 = 0.16666015037808213
    cdef float c0 = 2.0000000125004083, c1 = 0.16666583479768599, c2 = -0.002763920983904291
    cdef vec square = r * r
    if ENTRIES == 32:
        return splat(a0)
    if ENTRIES == 8:
        return b1 * square + b0
    return (c2 * square + c1) * square + c0


cdef inline void exp_as_fraction(vec x, vec* factor, vec* over, vec* under) noexcept nogil:
    """factor * over / under = e**x, within 2e-7 + 3e-9 |x|, for x from -88.029692, where the factor is 0, to 88.722839, where
    it is infinity."""
    cdef float log2_e = 1.4426950408889634, to_bits = 12582912 + 127 * ENTRIES
    cdef vec m = x * (log2_e * ENTRIES) + to_bits
    cdef vec r = rest(x, m - to_bits)
    cdef vec g = r_coth_of_half(r)
    factor[0] = power(m)
    over[0] = g + r
    under[0] = g - r


cdef inline void logistic_fraction(vec x, vec* over, vec* under) noexcept nogil:
    """over / under = 1 / (1 + e**-x), within 3e-7 + 3e-9 |x|; 0 below 2**-128.

    With a lookup of 8, ``over`` is 1, and e**r a polynomial of third degree: one operation less than the fraction of
    exponentials, and the x of SiLU can be divided instead of multiplied. It multiplies the factor as a whole, since e**r - 1
    may be negative where the factor is infinite. With 32 the fraction has fewer multiply-adds, and without lookups the
    polynomial would have five terms.
    """
    cdef float log2_e = 1.4426950408889634, to_bits = 12582912 + 127 * ENTRIES, one = 1
    cdef float b2 = 0.500064523366961, b3 = 0.16666978991337242
    cdef vec minus_x = -clamped(x, -88.722839, 88.029692)
    cdef vec factor, m, r
    if ENTRIES != 8:
        exp_as_fraction(minus_x, &factor, under, over)
        under[0] = factor * under[0] + over[0]
        return
    m = minus_x * (log2_e * ENTRIES) + to_bits
    r = rest(minus_x, m - to_bits)
    over[0] = splat(1)
    under[0] = (((b3 * r + b2) * r + one) * r + one) * power(m) + one


cdef inline vec sigmoid(vec x) noexcept nogil:
    """1 / (1 + e**-x) within 3e-7 + 3e-9 |x|; 0 below 2**-128."""
    cdef vec over, under
    logistic_fraction(x, &over, &under)
    return over / under


cdef inline vec tanh(vec x) noexcept nogil:
    """The hyperbolic tangent within 4e-7; from |x| = 9.02 on it is 1 or -1.

    With x = m ln 2 / 2 + r and g = r coth r, e**2x is 2**m (g + r) / (g - r), and tanh x = (r - h) / (g - h) with
    h = (1 - 2**m) (g + r) / 2, which is 0 near 0; r - 0 is -0.0 for -0.0. Rounding could lead below -1, but not above 1,
    as r < g.
    """
    cdef float two_log2_e = 2.8853900817779268, half_ln2 = 0.34657359027997264, to_bits = 12582912 + 126, half = 0.5
    cdef float c0 = 1.0000000017647859, c1 = 0.3333322684544483, c2 = -0.022127340596323965
    cdef vec bounded = clamped(x, -9.02, 9.02)
    cdef vec shifted = bounded * two_log2_e + to_bits
    cdef vec r = bounded - (shifted - to_bits) * half_ln2
    cdef vec square = r * r
    cdef vec g = (c2 * square + c1) * square + c0
    cdef vec h = (half - power_in_low_bits(shifted)) * (g + r)
    return at_least((r - h) / (g - h), splat(-1))


cdef inline vec normal_distribution(vec x) noexcept nogil:
    """Phi(x) = (1 + erf(x / sqrt 2)) / 2 as 1/2 + x P(x**2) / Q(x**2), up to an absolute error of 3e-7.

    Up to |x| = 5.5, where the fraction reaches 1/2; beyond, it grows with x and is cut off.
    """
    cdef float half = 0.5, one = 1
    cdef vec square = at_most(x * x, splat(30.25))
    cdef vec p = splat(2.2749345518491282e-8), q = splat(1.197504161609686e-6)
    p = horner(p, square, 6.3521288211632054e-6)
    p = horner(p, square, 1.688267948338762e-4)
    p = horner(p, square, 4.677267279475927e-3)
    p = horner(p, square, 3.3852752298116684e-2)
    p = horner(p, square, 3.98942232131958e-1)
    q = horner(q, square, 7.364787597907707e-5)
    q = horner(q, square, 1.8844511359930038e-3)
    q = horner(q, square, 2.864593267440796e-2)
    q = horner(q, square, 2.515221834182739e-1)
    q = horner(q, square, one)
    return clamped((x * p) / q + half, 0, 1)


cdef inline vec erf(vec x) noexcept nogil:
    """The error function within 5e-7, as in kuiper/layers/kernels/vector_math.pxd."""
    cdef float one = 1
    cdef vec bounded = clamped(x, -3.925, 3.925)
    cdef vec square = bounded * bounded
    cdef vec p = splat(2.04616572e-6), q = splat(3.80485841e-5)
    p = horner(p, square, 2.84831276e-4)
    p = horner(p, square, 3.77191019e-3)
    p = horner(p, square, 5.27673043e-2)
    p = horner(p, square, 1.90578530e-1)
    p = horner(p, square, 1.12837915)
    q = horner(q, square, 1.16370725e-3)
    q = horner(q, square, 1.49819049e-2)
    q = horner(q, square, 1.14176448e-1)
    q = horner(q, square, 5.02228558e-1)
    q = horner(q, square, one)
    return clamped((bounded * p) / q, -1, 1)


cdef inline vec softplus(vec x) noexcept nogil:
    """ln(1 + e**x) = max(x, 0) + ln(1 + u) with u = e**-|x| <= 1, within 5e-7.

    ln(1 + u) = 2 artanh(s) with s = u / (2 + u) <= 1/3, so s**2 <= 1/9: five terms are good for 5e-9.
    """
    cdef float two = 2
    cdef vec u = exp_up_to(-magnitude(x))
    cdef vec s = u / (u + two)
    cdef vec square = s * s
    cdef vec p = splat(0.2801196113466452)
    p = horner(p, square, 0.2800181087464082)
    p = horner(p, square, 0.4002152686697708)
    p = horner(p, square, 0.6666641629281572)
    return at_least(x, splat(0)) + ((p * square) * s + two * s)


cdef inline vec log(vec x) noexcept nogil:
    """The natural logarithm within 5e-7: x = 2**n m, ln m = 2 artanh(s) with s = (m - 1) / (m + 1).

    |s| < 0.172, so that four terms are good for 1e-9. Numbers below 2**-126, whose exponent is not in its bits, are
    scaled up first.
    """
    cdef float ln2_high = 0.693359375, ln2_low = -2.12194440054690583e-4, one = 1, two = 2
    cdef vec smallest = splat(1.1754944e-38), zero = splat(0), n, s, square, p
    cdef vec m = split_exponent(below(x, smallest, x * splat(16777216), x), &n)
    n = n - below(x, smallest, splat(24), zero)
    s = (m - one) / (m + one)
    square = s * s
    p = splat(0.2987093384419145)
    p = horner(p, square, 0.39977574157417284)
    p = horner(p, square, 0.6666677608416552)
    p = n * ln2_high + (n * ln2_low + ((p * square) * s + two * s))
    p = below(x, splat(INFINITY), p, x)
    p = below(x, splat(1.4e-45), splat(-INFINITY), p)
    return below(x, zero, splat(NAN), p)
