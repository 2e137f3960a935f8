"""What softmax and the normalisations do with a whole vector: an exponential, the sum and the largest of its lanes."""

from kuiper.engine.vector cimport below, power_of_two, splat, vec

cdef extern from *:
    """
    /* Halves against each other, again and again: LANES is a constant, so this becomes shuffles and operations. */
    #define KUIPER_HALVES(NAME, COMBINE) \\
        KUIPER_INLINE float NAME(kuiper_vec x) { \\
            float lanes[LANES]; \\
            kuiper_store(lanes, x); \\
            for (int half = LANES / 2; half > 0; half /= 2) \\
                for (int i = 0; i < half; i++) { \\
                    const float a = lanes[i], b = lanes[i + half]; \\
                    lanes[i] = COMBINE; \\
                } \\
            return lanes[0]; \\
        }
    KUIPER_HALVES(kuiper_sum_of_lanes, a + b)
    KUIPER_HALVES(kuiper_largest_lane, a < b ? b : a)
    KUIPER_INLINE kuiper_vec kuiper_with_rest(const float *x, int count, float rest) {
        float lanes[LANES];
        for (int i = 0; i < LANES; i++) lanes[i] = i;
        return kuiper_below(kuiper_load(lanes), kuiper_splat(count), kuiper_load(x), kuiper_splat(rest));
    }
    """
    float sum_of_lanes "kuiper_sum_of_lanes"(vec x) noexcept nogil
    # the first ``count`` lanes from memory (all of which may be read), ``rest`` in the others
    vec with_rest "kuiper_with_rest"(const float* x, int count, float rest) noexcept nogil
    # NaN may be passed over
    float largest_lane "kuiper_largest_lane"(vec x) noexcept nogil


cdef inline vec exp_of_negative(vec x) noexcept nogil:
    """e**x for x <= 0, within 1e-7, and 0 below the smallest normal number; NaN for NaN.

    As in kuiper/layers/kernels/vector_math.pxd: x = n ln 2 + r, and 2**n times a polynomial in r.
    """
    cdef float log2_e = 1.4426950408889634, ln2_high = -0.693359375, ln2_low = 2.12194440054690583e-4
    cdef float shift = 12582912, one = 1, lowest = -87.3
    cdef float c2 = 1.0 / 2, c3 = 1.0 / 6, c4 = 1.0 / 24, c5 = 1.0 / 120, c6 = 1.0 / 720, c7 = 1.0 / 5040
    cdef vec n = (x * log2_e + shift) - shift
    cdef vec r = (x + n * ln2_high) + n * ln2_low
    cdef vec p = ((((c7 * r + c6) * r + c5) * r + c4) * r + c3) * r + c2
    return below(x, splat(lowest), splat(0), ((p * r) * r + r + one) * power_of_two(n))
