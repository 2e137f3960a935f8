"""The innermost block of the depthwise convolution: some pixels of a row, some vectors of channels; see depthwise.pyx.

Number of pixels, kernel width and stride are constants wherever ``kuiper_depthwise_of`` is expanded, so that its loops unroll
and its sums are registers.

A group of several channels takes a turn for each of its inputs: a permutation brings input d of each group to all of the
group's lanes, and from there on it is a depthwise convolution.

    groups of 4    x         a0 a1 a2 a3 b0 b1 b2 b3     first_lane    0 0 0 0 4 4 4 4
                   d = 1     a1 a1 a1 a1 b1 b1 b1 b1     first_lane + 1
"""

from kuiper.simd.vector cimport vec

cdef extern from "kuiper/engine/kernels/depthwise_block.h":
    enum:
        MAX_PIXELS

    ctypedef struct Row "kuiper_depthwise_row":
        Py_ssize_t vectors, rows, width, stride, dilation, first, last
        Py_ssize_t in_row, in_pixel, out_pixel, residual_pixel, channels, own
        const int* first_lane
        bint clips, clamps
        float low, high

    # Fill some vectors of channels of ``pixels`` neighbours in a row; ``source`` is under the first tap of the first.
    ctypedef void (*Block "kuiper_depthwise_block")(
        int pixels, const Row* row, const float* source, const float* weights, const float* bias, const float* residual,
        float* out
    ) noexcept nogil
    Block block_for "kuiper_depthwise_for"(
        Py_ssize_t width, Py_ssize_t stride, Py_ssize_t dilation, Py_ssize_t own
    ) noexcept nogil
