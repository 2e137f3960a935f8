"""Functions with a weight for each channel, on (n, c, inner): batch normalisation and PReLU.

    scale_shift:  y[n, c, i] = scale[c] x[n, c, i] + shift[c]
    prelu:        y[n, c, i] = x[n, c, i]  where that is > 0,  else slope[c] x[n, c, i]

An image has inner = h w neighbours under one weight; a batch of feature vectors has inner = 1, and the weights change
from number to number. So there are two loops, and each runs over neighbours:

    inner > 1:  for each (n, c): over i, one weight         inner == 1:  for each n: over c, weights beside the numbers
"""

from cython.parallel cimport prange

from kuiper.simd.vector cimport fma_of_one


def scale_shift(
    const float[:, :, ::1] x, const float[::1] scale, const float[::1] shift, float[:, :, ::1] y, int num_threads
):
    """Batch normalisation at inference: x (IN), y (OUT) (n, c, inner)."""
    cdef Py_ssize_t n = x.shape[0], c = x.shape[1], inner = x.shape[2], task
    if inner == 1:
        for task in prange(n, nogil=True, schedule="static", num_threads=num_threads):
            scale_shift_vector(&x[task, 0, 0], &scale[0], &shift[0], &y[task, 0, 0], c)
    else:
        for task in prange(n * c, nogil=True, schedule="static", num_threads=num_threads):
            scale_shift_plane(
                &x[task // c, task % c, 0], scale[task % c], shift[task % c], &y[task // c, task % c, 0], inner
            )


def prelu(const float[:, :, ::1] x, const float[::1] slope, float[:, :, ::1] y, int num_threads):
    """x (IN), y (OUT) (n, c, inner); slope (c)."""
    cdef Py_ssize_t n = x.shape[0], c = x.shape[1], inner = x.shape[2], task
    if inner == 1:
        for task in prange(n, nogil=True, schedule="static", num_threads=num_threads):
            prelu_vector(&x[task, 0, 0], &slope[0], &y[task, 0, 0], c)
    else:
        for task in prange(n * c, nogil=True, schedule="static", num_threads=num_threads):
            prelu_plane(&x[task // c, task % c, 0], slope[task % c], &y[task // c, task % c, 0], inner)


cdef void scale_shift_vector(
    const float* x, const float* scale, const float* shift, float* y, Py_ssize_t count
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = fma_of_one(scale[i], x[i], shift[i])


cdef void scale_shift_plane(const float* x, float scale, float shift, float* y, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = fma_of_one(scale, x[i], shift)


cdef void prelu_vector(const float* x, const float* slope, float* y, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = x[i] if x[i] > 0 else slope[i] * x[i]


cdef void prelu_plane(const float* x, float slope, float* y, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        y[i] = x[i] if x[i] > 0 else slope * x[i]
