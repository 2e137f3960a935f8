"""The tile of products of bytes with exact sums of 32 bits: some rows times a panel of weights.

    sum[i, o] = start[o] + sum over k of x[i, k] * w[k, o]

Rows and weights are read in words of four bytes, in one of two ways:

    pairs    two int16, from which zero points are taken off beforehand. One instruction (vpmaddwd) multiplies two numbers of a
             row with two weights of each output and adds both products up, exactly: twice the multiply-adds of floats
    fours    four bytes: uint8 of a row, int8 of the weights; one instruction (VNNI) does four multiply-adds in each lane. A row
             keeps its zero point, so the sums begin with -zero * (sum of the weights). An int8 becomes a uint8 by adding 128,
             and so does its zero point. Weights of another range than int8 has, but no wider, are packed less a number for
             each output, which is multiplied with what a row adds up to

    panel: [taps][words][vectors * LANES] words; the numbers under a tap are filled up to whole words by weights of zero, so
    that it does not matter what a row has behind its end

The sums are right modulo 2**32, as int32 sums of the readable layers are.

Source: Intel, "Lower Numerical Precision Deep Learning Inference and Training", 2018.
"""

cdef extern from "kuiper/engine/integer_tile.h":
    enum:
        INTEGER_ROWS  # the most of a tile

    ctypedef struct IntegerWork "kuiper_integer_work":
        Py_ssize_t taps, words
        const Py_ssize_t* offset
        const unsigned char* weights
        const int* start
        const int* lacking
        const int* row_sums

    ctypedef struct IntegerFinish "kuiper_integer_finish":
        const float* factor
        const float* shift
        float low, high
        float* lows
        float* highs
        float** out

    # out[row] (INTEGER_WIDTH ints) = x[row] times the panel; or, if ``finish`` is not NULL, floats where it says: the sums times
    # a factor, plus a shift, kept within low and high, and the range so far widened by them. Where weights lack something, that
    # times what a row adds up to belongs to the sums
    void integer_tile "kuiper_integer_tile"(
        int rows, int vectors, bint fours, const IntegerWork* work, const unsigned char** x, int* out,
        const IntegerFinish* finish
    ) noexcept nogil
