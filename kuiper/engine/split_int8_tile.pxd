"""The tile of products with weights in 8 or 4 bits where the CPU adds up products of bytes: no weight becomes a float.

A row is written as integers of 23 bits times one power of two, its unit, and each integer as three slices of
base 256, from -128 to 127:

    x[k] = unit * (d0[k] + 256 * d1[k] + 65536 * d2[k])        rounded where x[k] is small beside the row's largest number
    sum of x[k] * q[k] = unit * (S0 + 256 * S1 + 65536 * S2)   where Sj = sum of dj[k] * q[k], in integers

So the sums are exact, in any order, and all that is rounded is x, about as finely as float32 rounds the row's largest
number. One instruction (VNNI) multiplies four bytes in each lane and adds them up: three of them, one for each slice, do
what took four conversions of each kind and four multiply-adds. It wants one factor without a sign: weights are stored with
128 (in 4 bits with 8) added, and sums begin with as much less.

    panel: [depth / 4][WIDTH][4] bytes           8 bits: the weights of an output for four neighbouring inputs
           [depth / 8][WIDTH][4] bytes           4 bits: likewise for eight, the first four in the lower halves

    a row split, in words of 4 bytes:  [unit][regular?][sums of slices: groups x 3][d0: depth / 4][d1 ...][d2 ...]

A row with NaN, infinity or numbers beyond 2**+-100 is not regular: its slices say nothing.

Builds for CPUs that cannot have the instruction have the same functions as plain loops; the planner leaves them to the
tests.

Source: Intel, "Intel Deep Learning Boost", 2019 (the instruction); K. Ozaki et al., "Error-free transformations of matrix
multiplication by using fast routines of matrix multiplication and its applications", Numerical Algorithms 2012 (the slices).
"""

cdef extern from "kuiper/engine/split_int8_tile.h":
    enum:
        SPLIT_ROWS
        SPLIT_WIDTH
        SPLIT_HEAD
        SLICES

    ctypedef struct SplitInt8Work "kuiper_split_int8_work":
        Py_ssize_t groups, fours
        const unsigned char* weights
        const void* scales
        const float* bias
        bint in_groups

    # weight k of an output of the panel, without its scale; that scale
    float number_at "kuiper_number_at"(const SplitInt8Work* work, int bits, Py_ssize_t k, Py_ssize_t column) noexcept nogil
    float scale_at "kuiper_scale_at"(const SplitInt8Work* work, Py_ssize_t group, Py_ssize_t column) noexcept nogil

    # a row x (depth floats) in slices, as the head of this file has them
    void split "kuiper_split"(
        const float* x, Py_ssize_t depth, Py_ssize_t groups, Py_ssize_t fours, int* out
    ) noexcept nogil

    # out[row] (SPLIT_WIDTH floats) = bias + x[row], split, times the panel
    void split_int8_8 "kuiper_split_int8_8"(int rows, const SplitInt8Work* work, const int** x, float** out) noexcept nogil
    void split_int8_8_in_groups "kuiper_split_int8_8_in_groups"(
        int rows, const SplitInt8Work* work, const int** x, float** out
    ) noexcept nogil
    void split_int8_4 "kuiper_split_int8_4"(int rows, const SplitInt8Work* work, const int** x, float** out) noexcept nogil
