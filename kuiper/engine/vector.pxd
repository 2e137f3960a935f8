"""One vector register of floats as a type: the alphabet in which the fast kernels are written.

``vec`` holds LANES floats. Arithmetic on it is arithmetic on all lanes at once, so a kernel reads as if it were written for
one number:

    cdef vec a = load(x), b = load(y)        # LANES floats from memory each
    store(out, a * b + splat(1))             # multiply, add, write: three instructions, LANES results

gcc and clang lower the type to whatever the machine has: 16 lanes with AVX-512, 8 with AVX, 4 with SSE and NEON. A plain loop
over floats often compiles to the same, but only if the optimiser sees through it; the type leaves it no choice. For compilers
without vector types ``vec`` is one float and LANES is 1: the same source, correct and slow. KUIPER_NO_VECTORS asks any compiler
for that, so that it can be tested anywhere.

To Cython ``vec`` is a float. That is enough for it to write correct C, with two things to keep in mind: constants must be
``vec`` or ``float`` variables, as a literal 2.0 is a double in C and does not mix with vectors, and a comparison gives no
number: use ``larger``, ``smaller``, ``below``.

Source: GCC manual, "Using Vector Instructions through Built-in Functions".
"""

cdef extern from *:
    """
    #ifndef KUIPER_VECTOR
    #define KUIPER_VECTOR
    #include <math.h>
    #if defined(__GNUC__) && !defined(KUIPER_NO_VECTORS)
      #define KUIPER_VECTORS
      #if defined(__AVX__)
        #include <immintrin.h>
      #elif defined(__ARM_NEON)
        #include <arm_neon.h>
      #endif
      #if defined(__AVX512F__)
      enum { LANES = 16 };
      #elif defined(__AVX__)
      enum { LANES = 8 };
      #else
      enum { LANES = 4 };
      #endif
      typedef float kuiper_vec __attribute__((vector_size(4 * LANES), may_alias));
      typedef float kuiper_anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
      typedef int kuiper_ints __attribute__((vector_size(4 * LANES)));
      #define KUIPER_INLINE static inline __attribute__((always_inline, unused))
      #define KUIPER_CHOOSE(m, a, b) ((kuiper_vec)(((m) & (kuiper_ints)(a)) | (~(m) & (kuiper_ints)(b))))
      #define KUIPER_PREFETCH(p) __builtin_prefetch(p, 0, 2)
      KUIPER_INLINE kuiper_vec kuiper_splat(float x) { return x - (kuiper_vec){0}; }
      KUIPER_INLINE kuiper_vec kuiper_power_of_two(kuiper_vec n) {
          return (kuiper_vec)((__builtin_convertvector(n, kuiper_ints) + 127) << 23);
      }
    #else
      enum { LANES = 1 };
      typedef float kuiper_vec;
      typedef float kuiper_anywhere;
      #define KUIPER_INLINE static __inline
      #define KUIPER_CHOOSE(m, a, b) ((m) ? (a) : (b))
      #define KUIPER_PREFETCH(p) ((void)(p))
      KUIPER_INLINE kuiper_vec kuiper_splat(float x) { return x; }
      KUIPER_INLINE kuiper_vec kuiper_power_of_two(kuiper_vec n) { return ldexpf(1.0f, (int)n); }
    #endif
    /* In front of a loop of constant length over an array of vectors: unrolled, the array is registers. gcc's word for it
       is one that clang passes over in silence, which makes a tile five times slower. */
    #if defined(__clang__)
    #define KUIPER_UNROLL _Pragma("clang loop unroll(full)")
    #elif defined(__GNUC__)
    #define KUIPER_UNROLL _Pragma("GCC unroll 24")
    #else
    #define KUIPER_UNROLL
    #endif
    KUIPER_INLINE kuiper_vec kuiper_load(const float *p) { return *(const kuiper_anywhere *)p; }
    KUIPER_INLINE void kuiper_store(float *p, kuiper_vec x) { *(kuiper_anywhere *)p = x; }
    /* NaN where either is NaN, as torch has it; a choice alone would pass one over. */
    #if defined(KUIPER_VECTORS) && defined(__ARM_NEON)
    KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) { return vmaxq_f32(x, y); }
    KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) { return vminq_f32(x, y); }
    #else
    KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) {
        return KUIPER_CHOOSE((x > y) | (x != x), x, y);
    }
    KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) {
        return KUIPER_CHOOSE((x < y) | (x != x), x, y);
    }
    #endif
    KUIPER_INLINE kuiper_vec kuiper_below(kuiper_vec x, kuiper_vec limit, kuiper_vec then, kuiper_vec otherwise) {
        return KUIPER_CHOOSE(x < limit, then, otherwise);
    }
    /* The compiler does not see that these choices are one instruction, which answers x if x is NaN. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return _mm512_max_ps(low, x); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return _mm512_min_ps(high, x); }
    /* 14 bits from a table, and one step of Newton's method for the others: a division takes three times as long. */
    KUIPER_INLINE kuiper_vec kuiper_reciprocal(kuiper_vec x) {
        const kuiper_vec near = _mm512_rcp14_ps(x);
        return near * (kuiper_splat(2) - x * near);
    }
    #elif defined(KUIPER_VECTORS) && defined(__AVX__)
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return _mm256_max_ps(low, x); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return _mm256_min_ps(high, x); }
    KUIPER_INLINE kuiper_vec kuiper_reciprocal(kuiper_vec x) { return kuiper_splat(1) / x; }
    #elif defined(KUIPER_VECTORS) && defined(__ARM_NEON)
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return vmaxq_f32(x, low); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return vminq_f32(x, high); }
    KUIPER_INLINE kuiper_vec kuiper_reciprocal(kuiper_vec x) { return kuiper_splat(1) / x; }
    #else
    KUIPER_INLINE kuiper_vec kuiper_reciprocal(kuiper_vec x) { return kuiper_splat(1) / x; }
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return KUIPER_CHOOSE(x < low, low, x); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return KUIPER_CHOOSE(x > high, high, x); }
    #endif
    #endif
    """
    ctypedef float vec "kuiper_vec"
    enum:
        LANES

    # memory need not be aligned
    vec load "kuiper_load"(const float* p) noexcept nogil
    void store "kuiper_store"(float* p, vec x) noexcept nogil
    vec splat "kuiper_splat"(float x) noexcept nogil
    # x, but ``low`` where x < low; NaN stays NaN
    vec at_least "kuiper_at_least"(vec x, vec low) noexcept nogil
    vec at_most "kuiper_at_most"(vec x, vec high) noexcept nogil
    # NaN where either is NaN
    vec larger "kuiper_larger"(vec x, vec y) noexcept nogil
    vec smaller "kuiper_smaller"(vec x, vec y) noexcept nogil
    # ``then`` where x < limit, else ``otherwise`` (also where x is NaN)
    vec below "kuiper_below"(vec x, vec limit, vec then, vec otherwise) noexcept nogil
    # 1 / x within 2**-23, for normal numbers
    vec reciprocal "kuiper_reciprocal"(vec x) noexcept nogil
    # 2**n for whole numbers -127 < n < 128
    vec power_of_two "kuiper_power_of_two"(vec n) noexcept nogil
