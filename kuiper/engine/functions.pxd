"""The functions of ``kernels/elementwise.pyx``: one loop for each, over a chunk that lies in the first-level cache.

    combine   out[i] = f(x[i], y[i])    in whole vectors; operands are rows of numbers, or one vector that stands for all
    multiply_add   out[i] = x[i] * y[i] + z[i]
    apply     out[i] = f(x[i])

``out`` may be an operand. The tables are functions.h and, of activations, kuiper/simd/activations.h.
"""

from kuiper.simd.vector cimport LANES, fma, load, store

cdef extern from "kuiper/engine/functions.h":
    enum:
        LOAD "KUIPER_FUNCTION_load"
        CONSTANT "KUIPER_FUNCTION_constant"
        MULTIPLY_ADD "KUIPER_FUNCTION_multiply_add"
        PAIRS_END "KUIPER_PAIRS_END"
        END "KUIPER_FUNCTIONS_END"
    ctypedef struct Row "kuiper_function":
        const char* name
        int code, arguments, cost, in_library
    const Row rows "kuiper_functions"[1]  # from LOAD to END
    void combine "kuiper_combine"(
        int code, const float* x, Py_ssize_t dx, const float* y, Py_ssize_t dy, float* out, Py_ssize_t vectors
    ) noexcept nogil
    void apply "kuiper_apply"(
        int code, const float* x, Py_ssize_t dx, float* out, Py_ssize_t vectors, float a, float b
    ) noexcept nogil


cdef inline void multiply_add(
    const float* x, Py_ssize_t dx, const float* y, Py_ssize_t dy, const float* z, Py_ssize_t dz, float* out,
    Py_ssize_t vectors,
) noexcept nogil:
    """out = x y + z, rounded once."""
    cdef Py_ssize_t i
    for i in range(vectors):
        store(out + i * LANES, fma(load(x + i * dx), load(y + i * dy), load(z + i * dz)))
