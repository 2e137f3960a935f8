"""One array, offered through the buffer protocol.

A tensor is a set of numbers (shape, strides, type) that explain one piece of memory. The buffer protocol hands exactly
these over to other code, without a copy:

    memoryview(tensor)   -- asks -->   Exporter   -- redirects -->   the ndarray that owns the memory
    np.asarray(tensor)                               (format, shape, strides, address)

A class written in Python can answer such a request only from Python 3.12 on (``__buffer__``, PEP 688). A Cython class can
in every version, because ``__getbuffer__`` fills the slot of the C structure. So this one method is compiled, and the rest
of Tensor is Python. "Redirect" means that the consumer then holds on to the ndarray itself, not to the tensor.

Source: Python/C API reference, "Buffer Object Structures", ``bf_getbuffer``.
"""

from cpython.buffer cimport PyObject_GetBuffer
from cpython.ref cimport Py_DECREF


cdef class Exporter:
    """An object whose memory is that of ``array``: readable and writable as the array is."""

    cdef readonly object array

    def __init__(self, array):
        self.array = array

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyObject_GetBuffer(self.array, view, flags)
        Py_DECREF(None)  # Cython had put a None into view.obj, where the array's own reference stands now
