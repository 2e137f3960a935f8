"""What the kernels of this level were compiled for. It lies at each level, as they do.

LANES are the floats of a vector, REGISTERS those of the CPU that hold vectors. VNNI is the instruction by which kernels
multiply bytes where the CPU has it, by the name that Linux gives it, or nothing.
"""

cdef extern from *:
    """
    #if defined(__GNUC__) && !defined(KUIPER_NO_VECTORS)
      #if defined(__AVX512F__)
        enum { KUIPER_LANES_OF_BUILD = 16 };
      #elif defined(__AVX__)
        enum { KUIPER_LANES_OF_BUILD = 8 };
      #else
        enum { KUIPER_LANES_OF_BUILD = 4 };
      #endif
      #if defined(__AVX512BW__)
        #define KUIPER_VNNI_OF_BUILD "avx512_vnni"
      #elif !defined(__AVX512F__) && defined(__AVX2__) && defined(__F16C__) && (defined(__clang__) || __GNUC__ >= 11)
        #define KUIPER_VNNI_OF_BUILD "avx_vnni"
      #else
        #define KUIPER_VNNI_OF_BUILD ""
      #endif
    #else
      enum { KUIPER_LANES_OF_BUILD = 1 };
      #define KUIPER_VNNI_OF_BUILD ""
    #endif
    #if defined(__AVX512F__) || defined(__aarch64__)
    enum { KUIPER_REGISTERS_OF_BUILD = 32 };
    #else
    enum { KUIPER_REGISTERS_OF_BUILD = 16 };
    #endif
    """
    const int KUIPER_LANES_OF_BUILD
    const int KUIPER_REGISTERS_OF_BUILD
    const char* KUIPER_VNNI_OF_BUILD

LANES = KUIPER_LANES_OF_BUILD
REGISTERS = KUIPER_REGISTERS_OF_BUILD
VNNI = KUIPER_VNNI_OF_BUILD.decode()
