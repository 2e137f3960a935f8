"""The activation family: one loop for each function, over numbers that lie one after the other in memory.

A function of one number does not care about axes: the wrapper hands over any dense array as one long row. The row is
cut into blocks, which threads share out; within a block the compiler turns the loop into vector code:

    x   [ 4096 numbers | 4096 | 4096 | ... | the rest ]
          thread 0       0      1            1            each: y[i] = f(x[i]) for 16 numbers at once

A block is always the same stretch of the row, however many threads there are: the answer is the same to the last bit.
The formulas are those of the table in ``kuiper/simd/activations.h``.
"""

from cython.parallel cimport prange

from kuiper.simd.activations cimport END, FIRST_OTHER, map_numbers, rows

cdef enum:
    BLOCK = 4096

CODES = {rows[i].name.decode(): rows[i].code for i in range(END)}
COSTS = {rows[i].name.decode(): rows[i].cost for i in range(END)}
FUSED = tuple(name for name, code in CODES.items() if code < FIRST_OTHER)


def apply(str name, const float[::1] x, float[::1] y, float a, float b, int num_threads):
    """y[i] = f(x[i]; a, b), with the function of this name; x (IN), y (OUT)."""
    cdef int code = CODES[name]
    cdef Py_ssize_t count = x.shape[0], blocks = (count + BLOCK - 1) // BLOCK
    cdef Py_ssize_t block, start
    for block in prange(blocks, nogil=True, schedule="static", num_threads=num_threads):
        start = block * BLOCK
        map_numbers(code, &x[start], &y[start], min(<Py_ssize_t> BLOCK, count - start), a, b)
