"""The tile of products with weights in 8 or 4 bits: as tile.pxd, but weights become floats on their way into registers.

    panel: [depth][WIDTH] bytes          8 bits: a weight each
           [depth / 2][WIDTH] bytes      4 bits: the weights of two neighbouring inputs, the even one in the lower half

Rows share the conversion: one row is limited by the memory that the weights come from, many rows by arithmetic. More than two
tiles of rows take weights that have become floats once, a block of vectors at a time, in memory that the caches hold. The sums
of a group of inputs are multiplied by the group's scales and added to what the output has so far; a scale for whole rows
makes one group.
"""

from kuiper.simd.vector cimport vec

cdef extern from "kuiper/engine/quantized_tile.h":
    enum:
        QUANTIZED_VECTORS
        QUANTIZED_ROWS
        QUANTIZED_WIDTH
        QUANTIZED_BLOCK  # vectors that many rows take at a time

    ctypedef struct QuantizedWork "kuiper_quantized_work":
        Py_ssize_t groups, depth
        const unsigned char* weights
        const float* scales
        const float* bias
        const float* floats

    # out[row] (QUANTIZED_WIDTH floats) = bias + x[row] (groups * depth floats) times the panel
    void tile_8 "kuiper_quantized_8"(int rows, const QuantizedWork* work, const float** x, float** out) noexcept nogil
    void tile_4 "kuiper_quantized_4"(int rows, const QuantizedWork* work, const float** x, float** out) noexcept nogil

    # the weights of QUANTIZED_BLOCK vectors as floats, (groups * depth, QUANTIZED_BLOCK * LANES)
    void to_floats "kuiper_quantized_to_floats"(
        int bits, int first_vector, const QuantizedWork* work, float* floats
    ) noexcept nogil
    # the same as tile_8 and tile_4 for these vectors, whose weights are ``work.floats``
    void tile_floats "kuiper_quantized_floats"(
        int rows, int first_vector, const QuantizedWork* work, const float** x, float** out
    ) noexcept nogil

    # the halves of LANES bytes, as floats
    void of_halves "kuiper_of_halves"(const unsigned char* p, vec* even, vec* odd) noexcept nogil
