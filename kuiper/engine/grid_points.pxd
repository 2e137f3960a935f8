"""A block of the points of a grid, LANES at a time: where they lie on an image, which pixels count there, and how much.

What is done with them is in kernels/grid_sample.pyx.
"""

from kuiper.simd.vector cimport vec

cdef extern from "kuiper/engine/grid_points.h":
    enum:
        SAMPLES
        PAD_ZEROS
        PAD_BORDER
        PAD_REFLECTION

    ctypedef struct Axis "kuiper_axis":
        float scale, shift, low, span, highest
        int padding, size

    void places "kuiper_places"(const float* grid, int points, const Axis* axis, float* x) noexcept nogil
    void taps "kuiper_taps"(
        const float* x, const float* y, int points, const Axis* columns, const Axis* rows, int* indices, float* weights
    ) noexcept nogil
    void nearest "kuiper_nearest"(
        const float* x, const float* y, int points, const Axis* columns, const Axis* rows, int* indices
    ) noexcept nogil
    void find_offsets "kuiper_offsets"(
        const int* indices, int points, Py_ssize_t pixel, Py_ssize_t zeros, Py_ssize_t* offsets
    ) noexcept nogil
    void sum_quads "kuiper_sum_quads"(
        const float* source, const Py_ssize_t* offsets, const float* weights, int taps, int points, float* out
    ) noexcept nogil
    void by_planes "kuiper_by_planes"(
        const float* sums, int points, Py_ssize_t channels, float* out, Py_ssize_t plane
    ) noexcept nogil
