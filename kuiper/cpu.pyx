"""What this machine's CPU can do, asked at run time.

This module alone is compiled without -march, so that it loads on any CPU and can say what is missing on it.
The names are those of gcc's ``__builtin_cpu_supports``, which takes nothing but string literals: hence the table in C.
"""

cdef extern from *:
    """
    #if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    #define KUIPER_FEATURE(i, name) if (__builtin_cpu_supports(name)) bits |= 1 << i
    static int kuiper_cpu_bits(void) {
        int bits = 0;
        __builtin_cpu_init();
        KUIPER_FEATURE(0, "sse4.2");
        KUIPER_FEATURE(1, "avx");
        KUIPER_FEATURE(2, "avx2");
        KUIPER_FEATURE(3, "fma");
        KUIPER_FEATURE(4, "bmi2");
        KUIPER_FEATURE(5, "avx512f");
        KUIPER_FEATURE(6, "avx512bw");
        KUIPER_FEATURE(7, "avx512dq");
        KUIPER_FEATURE(8, "avx512vl");
        return bits;
    }
    #else
    static int kuiper_cpu_bits(void) { return -1; }
    #endif
    """
    int kuiper_cpu_bits() nogil

# In the order of the table above.
NAMES = ("sse4.2", "avx", "avx2", "fma", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl")


def features():
    """The vector extensions of this CPU, or None where they cannot be asked for (not x86, or not gcc or clang)."""
    bits = kuiper_cpu_bits()
    if bits < 0:
        return None
    return frozenset(name for i, name in enumerate(NAMES) if bits >> i & 1)
