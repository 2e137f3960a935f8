"""The activations, from their table in activations.h, of which also their codes are made."""

from kuiper.simd.vector cimport LANES

cdef extern from "kuiper/simd/activations.h":
    enum:
        NONE "KUIPER_NO_ACTIVATION"
        CLIP "KUIPER_ACTIVATION_clip"
        FIRST_OTHER "KUIPER_FIRST_OTHER_ACTIVATION"
        END "KUIPER_ACTIVATIONS_END"
    ctypedef struct Row "kuiper_activation":
        const char* name
        int code, cost
    const Row rows "kuiper_activations"[1]  # END of them
    # to[i] = f(from[i]) for this many numbers
    void map_numbers "kuiper_map_numbers"(
        int code, const float* x, float* y, Py_ssize_t count, float a, float b) noexcept nogil
    # the same by vectors; ``step`` is LANES, or 0 where one vector stands for all
    void map_fused "kuiper_map_fused"(
        int code, const float* x, Py_ssize_t step, float* out, Py_ssize_t vectors, float a, float b) noexcept nogil
    void map_other "kuiper_map_other"(
        int code, const float* x, Py_ssize_t step, float* out, Py_ssize_t vectors, float a, float b) noexcept nogil


cdef inline void activate(float* x, Py_ssize_t count, int activation, float a, float b) noexcept nogil:
    """Apply one in place to ``count`` numbers, whole vectors of them."""
    map_fused(activation, x, LANES, x, count // LANES, a, b)
