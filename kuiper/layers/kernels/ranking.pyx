"""topk, max and argmax along the last axis, a row at a time: see ranking.pxd."""

from cython.parallel cimport prange


def top_of_rows(
    const float[:, ::1] x, bint largest, float[:, ::1] values, long long[:, ::1] indices, int num_threads
):
    """x (n, count) (IN); values and indices (n, k) with 0 < k <= count (OUT)."""
    cdef Py_ssize_t row, i, k = indices.shape[1]
    for row in prange(x.shape[0], nogil=True, schedule="static", num_threads=num_threads):
        top(&x[row, 0], x.shape[1], k, largest, &indices[row, 0])
        for i in range(k):
            values[row, i] = x[row, indices[row, i]]


def extremes_of_rows(const float[:, ::1] x, bint largest, long long[::1] indices, int num_threads):
    """x (n, count) with count > 0 (IN); indices (n) (OUT)."""
    cdef Py_ssize_t row
    for row in prange(x.shape[0], nogil=True, schedule="static", num_threads=num_threads):
        indices[row] = extreme(&x[row, 0], x.shape[1], largest)
