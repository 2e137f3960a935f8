"""One vector register of floats as a type: the alphabet in which the fast kernels are written.

``vec`` holds LANES floats. Arithmetic on it is arithmetic on all lanes at once, so a kernel reads as if it were written for
one number:

    cdef vec a = load(x), b = load(y)        # LANES floats from memory each
    store(out, fma(a, b, splat(1)))          # a * b + 1, rounded once; written: LANES results

gcc and clang lower the type to whatever the machine has: 16 lanes with AVX-512, 8 with AVX, 4 with SSE and NEON. A plain loop
over floats often compiles to the same, but only if the optimiser sees through it; the type leaves it no choice. For compilers
without vector types ``vec`` is one float and LANES is 1: the same source, correct and slow. KUIPER_NO_VECTORS asks any compiler
for that, so that it can be tested anywhere.

``a * b + c`` rounds twice, on every machine; ``fma(a, b, c)`` once, where the build has the instruction (``FUSES``).

To Cython ``vec`` is a float. That is enough for it to write correct C, with two things to keep in mind: constants must be
``vec`` or ``float`` variables, as a literal 2.0 is a double in C and does not mix with vectors, and a comparison gives no
number: use ``larger``, ``smaller``, ``below``.

Source: GCC manual, "Using Vector Instructions through Built-in Functions".
"""

cdef extern from "kuiper/simd/vector.h":
    ctypedef float vec "kuiper_vec"
    enum:
        LANES
        FUSES "KUIPER_FUSES"
        REGISTERS
    const char* VNNI "KUIPER_VNNI"  # what the CPU must have to multiply bytes, by Linux's name; or nothing

    # memory need not be aligned
    vec load "kuiper_load"(const float* p) noexcept nogil
    void store "kuiper_store"(float* p, vec x) noexcept nogil
    vec splat "kuiper_splat"(float x) noexcept nogil
    # the first ``count`` lanes from memory (all of which may be read), ``rest`` in the others
    vec with_rest "kuiper_with_rest"(const float* x, Py_ssize_t count, float rest) noexcept nogil
    # ask for the cache line at p, which will be read, or written to
    void prefetch "KUIPER_PREFETCH"(const void* p) noexcept nogil
    void prefetch_to_write "KUIPER_PREFETCH_TO_WRITE"(const float* p) noexcept nogil
    # a * b + c, c - a * b, and a * b + c of single numbers
    vec fma "kuiper_fma"(vec a, vec b, vec c) noexcept nogil
    vec fnma "kuiper_fnma"(vec a, vec b, vec c) noexcept nogil
    float fma_of_one "kuiper_fma_of_one"(float a, float b, float c) noexcept nogil
    # LANES signed integers of 8 bits
    vec of_bytes "kuiper_of_bytes"(const void* p) noexcept nogil
    # x, but ``low`` where x < low; NaN stays NaN
    vec at_least "kuiper_at_least"(vec x, vec low) noexcept nogil
    vec at_most "kuiper_at_most"(vec x, vec high) noexcept nogil
    # NaN where either is NaN
    vec larger "kuiper_larger"(vec x, vec y) noexcept nogil
    vec smaller "kuiper_smaller"(vec x, vec y) noexcept nogil
    # ``then`` where x < limit, else ``otherwise`` (also where x is NaN)
    vec below "kuiper_below"(vec x, vec limit, vec then, vec otherwise) noexcept nogil
    # |x|
    vec magnitude "kuiper_magnitude"(vec x) noexcept nogil
