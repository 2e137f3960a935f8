"""Products of bytes for the gates of an LSTM: a few rows times a panel of four vectors of int8 weights, i, o, f and g of the
same cells; and onnxruntime's functions of the cells, on vectors.

A step of a sequence reads each weight once and multiplies it with few rows, often one: what it costs is to fetch the weights,
so they stay bytes, and a CPU without instructions for products of bytes makes them int16 in registers. Rows are as in
integer_tile.pxd:

    pairs    rows of int16 without their zero point        panel: [words][GATES][LANES][2]
    fours    rows of uint8 with their zero point           panel: [words][GATES][LANES][4]

A weight of uint8 becomes int8 by taking off 128, and so does its zero point. What zero points add is taken off at the end:

    sum of (x - x_zero) (w - w_zero) = sum of x w  -  x_zero * (sum of w)  -  w_zero * (sum of x - x_zero)

The functions have the bits of kuiper/layers/onnxruntime_functions.py, which says why.
"""

from kuiper.simd.vector cimport vec

cdef extern from "kuiper/engine/gate_tile.h":
    enum:
        GATES
        GATE_ROWS  # the most of a tile

    # out[row] (GATES * LANES ints) = x[row] times the panel
    void gate_tile "kuiper_gate_tile"(
        int rows, bint fours, Py_ssize_t words, const signed char* weights, const unsigned char** x, int* out
    ) noexcept nogil

    # (sums - a * weight_sums - b * zeros) * (scale * factor)
    vec gate_numbers "kuiper_gate_numbers"(
        const int* sums, int a, const int* weight_sums, int b, const int* zeros, const float* factor, float scale
    ) noexcept nogil

    vec quotient_logistic "kuiper_quotient_logistic"(vec x) noexcept nogil
    vec quotient_tanh "kuiper_quotient_tanh"(vec x) noexcept nogil
