"""Normalisation by the statistics of the input itself: layer norm, group norm (and so instance norm), RMS norm.

    y = (x - mean) / sqrt(variance + eps) * weight + bias       variance = mean of (x - mean)**2, over N, not N - 1

What they differ in is which numbers share a mean and which share a weight:

    layer_norm  (rows, size)   a row shares the mean          weight and bias for each place in the row
    group_norm  (n, c, inner)  c / groups channels share it   weight and bias for each channel
    rms_norm    (rows, size)   no mean: y = x / sqrt(mean of x**2 + eps) * weight

    x:  [ channel 0 | channel 1 | channel 2 | channel 3 ]     groups = 2
         '------ mean 0 ------'  '------ mean 1 ------'

Two passes, the mean first: mean(x**2) - mean(x)**2 in one pass subtracts two large, nearly equal numbers when x is far
from 0. ``row_sums.pxd`` adds in double.

Source: Ba, Kiros and Hinton, Layer Normalization, 2016; Wu and He, Group Normalization, 2018, equations 1 to 7; Zhang
and Sennrich, Root Mean Square Layer Normalization, 2019, equation 4.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt

from kuiper.layers.kernels.row_sums cimport sum_of, sum_of_squares
from kuiper.simd.vector cimport fma_of_one


def layer_norm(
    const float[:, ::1] x, const float[::1] weight, const float[::1] bias, double eps, float[:, ::1] y, int num_threads
):
    """x (IN), y (OUT) (rows, size); weight, bias (size)."""
    cdef Py_ssize_t rows = x.shape[0], size = x.shape[1], row
    for row in prange(rows, nogil=True, schedule="static", num_threads=num_threads):
        layer_norm_row(&x[row, 0], &weight[0], &bias[0], eps, &y[row, 0], size)


cdef void layer_norm_row(
    const float* x, const float* weight, const float* bias, double eps, float* y, Py_ssize_t size
) noexcept nogil:
    cdef double mean = sum_of(x, size) / size
    cdef double inverse = 1 / sqrt(sum_of_squares(x, mean, size) / size + eps)
    cdef Py_ssize_t i
    for i in range(size):
        y[i] = fma_of_one(<float> ((x[i] - mean) * inverse), weight[i], bias[i])


def rms_norm(const float[:, ::1] x, const float[::1] weight, double eps, float[:, ::1] y, int num_threads):
    """x (IN), y (OUT) (rows, size); weight (size)."""
    cdef Py_ssize_t rows = x.shape[0], size = x.shape[1], row
    for row in prange(rows, nogil=True, schedule="static", num_threads=num_threads):
        rms_norm_row(&x[row, 0], &weight[0], eps, &y[row, 0], size)


cdef void rms_norm_row(const float* x, const float* weight, double eps, float* y, Py_ssize_t size) noexcept nogil:
    cdef float inverse = <float> (1 / sqrt(sum_of_squares(x, 0, size) / size + eps))
    cdef Py_ssize_t i
    for i in range(size):
        y[i] = x[i] * inverse * weight[i]


def group_norm(
    const float[:, :, ::1] x,
    Py_ssize_t groups,
    const float[::1] weight,
    const float[::1] bias,
    double eps,
    float[:, :, ::1] y,
    int num_threads,
):
    """x (IN), y (OUT) (n, c, inner) with c a multiple of ``groups``; weight, bias (c)."""
    cdef Py_ssize_t n = x.shape[0], members = x.shape[1] // groups, inner = x.shape[2], task, first
    for task in prange(n * groups, nogil=True, schedule="static", num_threads=num_threads):
        first = task % groups * members
        group_norm_one(
            &x[task // groups, first, 0],
            &weight[first],
            &bias[first],
            eps,
            &y[task // groups, first, 0],
            members,
            inner,
        )


cdef void group_norm_one(
    const float* x, const float* weight, const float* bias, double eps, float* y, Py_ssize_t members, Py_ssize_t inner
) noexcept nogil:
    cdef Py_ssize_t count = members * inner, channel, i
    cdef double mean = sum_of(x, count) / count
    cdef double inverse = 1 / sqrt(sum_of_squares(x, mean, count) / count + eps)
    cdef float w, b
    for channel in range(members):
        w, b = weight[channel], bias[channel]
        for i in range(channel * inner, (channel + 1) * inner):
            y[i] = fma_of_one(<float> ((x[i] - mean) * inverse), w, b)
