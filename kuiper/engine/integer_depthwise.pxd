"""Products of bytes where each output has a channel of its own: the numbers under several taps are woven into words.

    pairs    a, b             int16        -> a0 b0 a1 b1 ...
    fours    a, b, c, d       uint8        -> a0 b0 c0 d0 a1 b1 c1 d1 ...

INTEGER_WIDTH channels are a panel. Instructions weave within lanes of 128 bits, so words stand in another order than channels,
four of a lane in each vector: weights are packed in that order (integer_packing.py), and sums are put in order again. Weights of
fours may lack a number for each output, as in integer_tile.pxd: the same words times ones are what is under each output.
"""

from kuiper.engine.integer_tile cimport IntegerFinish, IntegerWork

cdef extern from "kuiper/engine/integer_depthwise.h":
    # how many lanes of two vectors weave numbers; 1: they stay in order
    enum:
        WOVEN "KUIPER_WOVEN"

    # as integer_tile does, the first ``vectors`` of a panel. pairs: an even number of taps, weights [taps / 2][INTEGER_WIDTH][2] of int16; fours: a multiple of
    # four, of which ``words`` are under an output, and weights [taps / 4][INTEGER_WIDTH][4] of int8
    void integer_depthwise "kuiper_integer_depthwise"(
        int rows, int vectors, bint fours, const IntegerWork* work, const unsigned char** x, int* out,
        const IntegerFinish* finish
    ) noexcept nogil
