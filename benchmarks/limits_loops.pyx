"""Loops that do nothing but push the machine to a limit: multiply-adds from registers, reads from memory, and copies.

A multiply-add takes about four cycles, and a core starts two of them in each: at least eight must be under way that do not
wait for each other. So the first loop keeps CHAINS vectors of sums, as many as there are registers for, each of which
waits only for itself. It is to the FMA units what a long empty motorway is to a car: no real kernel goes faster.

Vector types of gcc and clang are as wide as the registers; other compilers get arrays, which they may vectorise.
"""

from cython.parallel cimport prange

cdef extern from *:
    """
    #if defined(__AVX512F__)
    enum { LANES = 16, CHAINS = 24 };
    #elif defined(__AVX__)
    enum { LANES = 8, CHAINS = 12 };
    #elif defined(__ARM_NEON)
    enum { LANES = 4, CHAINS = 24 };
    #else
    enum { LANES = 4, CHAINS = 12 };
    #endif

    #if defined(__GNUC__)
    typedef float limit_vec __attribute__((vector_size(4 * LANES), aligned(4)));
    #define LIMIT_UNROLL _Pragma("GCC unroll 24")

    static float limit_multiply_adds(Py_ssize_t steps, float factor, float term) {
        limit_vec sums[CHAINS];
        for (int i = 0; i < CHAINS; i++)
            sums[i] = (limit_vec){0} + (float)i; /* of chains that start alike the compiler would keep one */
        for (Py_ssize_t step = 0; step < steps; step++)
            LIMIT_UNROLL
            for (int i = 0; i < CHAINS; i++)
                sums[i] = sums[i] * factor + term;
        for (int i = 1; i < CHAINS; i++)
            sums[0] += sums[i];
        return sums[0][0];
    }

    static float limit_read(const float *data, Py_ssize_t length, Py_ssize_t passes) {
        limit_vec sums[8] = {{0}};
        for (Py_ssize_t pass = 0; pass < passes; pass++)
            for (Py_ssize_t p = 0; p + 8 * LANES <= length; p += 8 * LANES)
                LIMIT_UNROLL
                for (int i = 0; i < 8; i++)
                    sums[i] += *(const limit_vec *)(data + p + i * LANES);
        for (int i = 1; i < 8; i++)
            sums[0] += sums[i];
        return sums[0][0];
    }

    static void limit_copy(float *data, Py_ssize_t length, Py_ssize_t passes) {
        float *target = data + length / 2;
        for (Py_ssize_t pass = 0; pass < passes; pass++)
            for (Py_ssize_t p = 0; p + 4 * LANES <= length / 2; p += 4 * LANES)
                LIMIT_UNROLL
                for (int i = 0; i < 4; i++)
                    *(limit_vec *)(target + p + i * LANES) = *(const limit_vec *)(data + p + i * LANES) + 1.0f;
    }
    #else
    static float limit_multiply_adds(Py_ssize_t steps, float factor, float term) {
        float sums[CHAINS * LANES], total = 0;
        for (int i = 0; i < CHAINS * LANES; i++)
            sums[i] = (float)i;
        for (Py_ssize_t step = 0; step < steps; step++)
            for (int i = 0; i < CHAINS * LANES; i++)
                sums[i] = sums[i] * factor + term;
        for (int i = 0; i < CHAINS * LANES; i++)
            total += sums[i];
        return total;
    }

    static float limit_read(const float *data, Py_ssize_t length, Py_ssize_t passes) {
        float sums[8 * LANES] = {0}, total = 0;
        for (Py_ssize_t pass = 0; pass < passes; pass++)
            for (Py_ssize_t p = 0; p + 8 * LANES <= length; p += 8 * LANES)
                for (int i = 0; i < 8 * LANES; i++)
                    sums[i] += data[p + i];
        for (int i = 0; i < 8 * LANES; i++)
            total += sums[i];
        return total;
    }

    static void limit_copy(float *data, Py_ssize_t length, Py_ssize_t passes) {
        float *target = data + length / 2;
        for (Py_ssize_t pass = 0; pass < passes; pass++)
            for (Py_ssize_t p = 0; p < length / 2; p++)
                target[p] = data[p] + 1.0f;
    }
    #endif
    """
    enum:
        LANES
        CHAINS
    float limit_multiply_adds(Py_ssize_t steps, float factor, float term) noexcept nogil
    float limit_read(const float *data, Py_ssize_t length, Py_ssize_t passes) noexcept nogil
    void limit_copy(float *data, Py_ssize_t length, Py_ssize_t passes) noexcept nogil

FLOPS_PER_STEP = 2 * LANES * CHAINS


def multiply_adds(Py_ssize_t steps, float[::1] results, float factor, float term):
    """``steps`` times FLOPS_PER_STEP operations in each of ``results.size`` threads; with factor 0.5 sums stay small."""
    cdef Py_ssize_t thread
    cdef int num_threads = <int>results.shape[0]
    for thread in prange(num_threads, nogil=True, num_threads=num_threads, schedule="static"):
        results[thread] = limit_multiply_adds(steps, factor, term)


def read(const float[:, ::1] data, Py_ssize_t passes, float[::1] results):
    """Read each row of ``data`` (threads, length) ``passes`` times, a thread to a row."""
    cdef Py_ssize_t thread
    cdef int num_threads = <int>data.shape[0]
    for thread in prange(num_threads, nogil=True, num_threads=num_threads, schedule="static"):
        results[thread] = limit_read(&data[thread, 0], data.shape[1], passes)


def copy(float[:, ::1] data, Py_ssize_t passes):
    """Write the first half of each row of ``data`` (threads, length) plus one to its second, ``passes`` times."""
    cdef Py_ssize_t thread
    cdef int num_threads = <int>data.shape[0]
    for thread in prange(num_threads, nogil=True, num_threads=num_threads, schedule="static"):
        limit_copy(&data[thread, 0], data.shape[1], passes)
