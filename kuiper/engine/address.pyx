"""Where an array lies: what a program is told of each array from outside, in every call.

NumPy's own answers, ``__array_interface__`` and ``ctypes``, make a dictionary or an object for it. For a small network
that is more work than some of its steps.
"""

from cpython.buffer cimport PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer


def address(array):
    """Where the first element of an array lies in memory."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_STRIDES)
    cdef size_t start = <size_t> view.buf
    PyBuffer_Release(&view)
    return start
