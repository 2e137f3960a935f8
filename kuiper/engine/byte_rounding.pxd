"""Floats and sums to bytes, and sums to floats, in vectors.

    bytes = round(x / scale) + zero        half to even, within what a byte holds; NaN is the least

Quotients are those of the division, to the last bit; but where a product with 1 / scale shows to which integer the quotient
rounds, there is no division: products take a fourth of its time.
"""

cdef extern from "kuiper/engine/byte_rounding.h":
    enum:
        INTEGER_VECTORS  # of sums
        INTEGER_WIDTH  # sums in so many vectors

    ctypedef struct ByteScale "kuiper_byte_scale":
        pass

    # low and high are what a byte can hold, without the zero point
    ByteScale byte_scale "kuiper_byte_scale_of"(float scale, float low, float high, int zero) noexcept nogil

    # floats to bytes
    void quantise "kuiper_quantise"(
        const float* x, Py_ssize_t count, const ByteScale* to, unsigned char* out
    ) noexcept nogil

    # rows of floats, ``row`` apart and at least as long, to bytes, one row behind the other
    void quantise_rows "kuiper_quantise_rows"(
        const float* x, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t columns, const ByteScale* to, unsigned char* out
    ) noexcept nogil

    # sums to bytes: times a scale, rounded to even, kept within low and high, and the zero point added; of sums and scales
    # INTEGER_WIDTH at a time are read
    void requantise "kuiper_requantise"(
        const int* sums, const float* scale, Py_ssize_t count, float low, float high, int zero, unsigned char* out
    ) noexcept nogil

    # the same for the rows of a tile
    void requantise_tile "kuiper_requantise_tile"(
        int rows, const int* sums, const float* scale, Py_ssize_t count, float low, float high, int zero,
        unsigned char** out
    ) noexcept nogil
