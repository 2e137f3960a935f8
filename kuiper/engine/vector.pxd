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
    /* Before a loop whose bounds are constants where it is expanded: copies instead of turns, so that arrays of sums
       become registers. clang passes over gcc's pragma without a word, and the sums would stay in memory. */
    #if defined(__clang__)
      #define KUIPER_UNROLL _Pragma("clang loop unroll(full)")
    #elif defined(__GNUC__)
      #define KUIPER_UNROLL _Pragma("GCC unroll 24")
    #else
      #define KUIPER_UNROLL
    #endif
    #if defined(__GNUC__) && !defined(KUIPER_NO_VECTORS)
      #define KUIPER_VECTORS
      #if defined(__AVX__)
        #include <immintrin.h>
      #elif defined(__ARM_NEON)
        #include <arm_neon.h>
        #include <string.h>
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
      typedef unsigned kuiper_unsigned __attribute__((vector_size(4 * LANES)));
      #define KUIPER_INLINE static inline __attribute__((always_inline, unused))
      #define KUIPER_CHOOSE(m, a, b) ((kuiper_vec)(((m) & (kuiper_ints)(a)) | (~(m) & (kuiper_ints)(b))))
      #define KUIPER_PREFETCH(p) __builtin_prefetch(p, 0, 2)
      #define KUIPER_PREFETCH_TO_WRITE(p) __builtin_prefetch(p, 1, 3)
      KUIPER_INLINE kuiper_vec kuiper_splat(float x) { return x - (kuiper_vec){0}; }
      #define KUIPER_BITS(x) ((kuiper_ints)(x))
      #define KUIPER_OF_BITS(bits) ((kuiper_vec)(bits))
    #else
      enum { LANES = 1 };
      typedef float kuiper_vec;
      typedef float kuiper_anywhere;
      #define KUIPER_INLINE static __inline
      #define KUIPER_CHOOSE(m, a, b) ((m) ? (a) : (b))
      #define KUIPER_PREFETCH(p) ((void)(p))
      #define KUIPER_PREFETCH_TO_WRITE(p) ((void)(p))
      KUIPER_INLINE kuiper_vec kuiper_splat(float x) { return x; }
      typedef int kuiper_ints;
      typedef unsigned kuiper_unsigned;
      typedef union { float number; int bits; } kuiper_both;
      #define KUIPER_BITS(x) (((kuiper_both){.number = (x)}).bits)
      #define KUIPER_OF_BITS(b) (((kuiper_both){.bits = (b)}).number)
    #endif
    KUIPER_INLINE kuiper_vec kuiper_magnitude(kuiper_vec x) { return KUIPER_OF_BITS(KUIPER_BITS(x) & 0x7fffffff); }
    KUIPER_INLINE kuiper_vec kuiper_power_in_low_bits(kuiper_vec x) {
        return KUIPER_OF_BITS((kuiper_unsigned)KUIPER_BITS(x) << 23);
    }
    KUIPER_INLINE kuiper_vec kuiper_load(const float *p) { return *(const kuiper_anywhere *)p; }
    KUIPER_INLINE void kuiper_store(float *p, kuiper_vec x) { *(kuiper_anywhere *)p = x; }
    /* a * b + c, rounded once where the build has an instruction for it. Compilers fuse a product and a sum as they please:
       gcc does it for one CPU that it tunes for and not for the next, and in one copy of a loop and not in the other. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return _mm512_fmadd_ps(a, b, c); }
    #elif defined(KUIPER_VECTORS) && defined(__FMA__)
    KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return _mm256_fmadd_ps(a, b, c); }
    #elif defined(KUIPER_VECTORS) && defined(__aarch64__)
    KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return vfmaq_f32(c, a, b); }
    #elif !defined(KUIPER_VECTORS) && defined(__FP_FAST_FMAF)
    KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return fmaf(a, b, c); }
    #else
    KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return a * b + c; }
    #endif
    /* NaN where either is NaN, as torch has it; a choice alone would pass one over. The instruction for the maximum passes
       over x if it is NaN. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    #define KUIPER_UNLESS_NAN(x, y) _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x)
    KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) {
        return KUIPER_UNLESS_NAN(x, _mm512_max_ps(x, y));
    }
    KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) {
        return KUIPER_UNLESS_NAN(x, _mm512_min_ps(x, y));
    }
    #elif defined(KUIPER_VECTORS) && defined(__AVX__)
    #define KUIPER_UNLESS_NAN(x, y) _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q))
    KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) {
        return KUIPER_UNLESS_NAN(x, _mm256_max_ps(x, y));
    }
    KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) {
        return KUIPER_UNLESS_NAN(x, _mm256_min_ps(x, y));
    }
    #elif defined(KUIPER_VECTORS) && defined(__ARM_NEON)
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
    /* LANES whole numbers of 8 bits, signed, as floats. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    #define KUIPER_WIDE(p) _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(p)))
    KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return _mm512_cvtepi32_ps(KUIPER_WIDE(p)); }
    #elif defined(KUIPER_VECTORS) && defined(__AVX2__)
    #define KUIPER_WIDE(p) _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(p)))
    KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return _mm256_cvtepi32_ps(KUIPER_WIDE(p)); }
    #elif defined(KUIPER_VECTORS) && defined(__ARM_NEON)
    KUIPER_INLINE int32x4_t kuiper_wide(const void *p) {
        int bytes;
        memcpy(&bytes, p, 4);
        return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(bytes)))));
    }
    #define KUIPER_WIDE(p) kuiper_wide(p)
    KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return (kuiper_vec)vcvtq_f32_s32(KUIPER_WIDE(p)); }
    #else
    KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) {
        float lanes[LANES];
        for (int i = 0; i < LANES; i++) lanes[i] = (float)((const signed char *)p)[i];
        return kuiper_load(lanes);
    }
    #endif
    /* As many numbers as can be looked up in two registers, or in one; one where that would take memory. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    #define KUIPER_ENTRIES 32
    KUIPER_INLINE kuiper_vec kuiper_lookup(const float *table, kuiper_vec x) {
        return _mm512_permutex2var_ps(kuiper_load(table), (__m512i)x, kuiper_load(table + 16));
    }
    #elif defined(KUIPER_VECTORS) && defined(__AVX2__)
    #define KUIPER_ENTRIES 8
    KUIPER_INLINE kuiper_vec kuiper_lookup(const float *table, kuiper_vec x) {
        return _mm256_permutevar8x32_ps(kuiper_load(table), (__m256i)x);
    }
    #else
    #define KUIPER_ENTRIES 1
    KUIPER_INLINE kuiper_vec kuiper_lookup(const float *table, kuiper_vec x) { (void)x; return kuiper_splat(table[0]); }
    #endif
    /* The compiler does not see that these choices are one instruction, which answers x if x is NaN. */
    #if defined(KUIPER_VECTORS) && defined(__AVX512F__)
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return _mm512_max_ps(low, x); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return _mm512_min_ps(high, x); }
    #elif defined(KUIPER_VECTORS) && defined(__AVX__)
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return _mm256_max_ps(low, x); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return _mm256_min_ps(high, x); }
    #elif defined(KUIPER_VECTORS) && defined(__ARM_NEON)
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return vmaxq_f32(x, low); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return vminq_f32(x, high); }
    #else
    KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return KUIPER_CHOOSE(x < low, low, x); }
    KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return KUIPER_CHOOSE(x > high, high, x); }
    #endif
    #endif
    """
    ctypedef float vec "kuiper_vec"
    enum:
        LANES
        ENTRIES "KUIPER_ENTRIES"

    # memory need not be aligned
    vec load "kuiper_load"(const float* p) noexcept nogil
    void store "kuiper_store"(float* p, vec x) noexcept nogil
    vec splat "kuiper_splat"(float x) noexcept nogil
    # ask for the cache line at p, which will be written to
    void prefetch_to_write "KUIPER_PREFETCH_TO_WRITE"(const float* p) noexcept nogil
    # LANES whole numbers of 8 bits, signed
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
    # in each lane the number of a table of ENTRIES whose index is in the lowest bits of x; higher bits do not matter
    vec lookup "kuiper_lookup"(const float* table, vec x) noexcept nogil
    # the power of two whose exponent, with 127 added, is in the lowest bits of x: 0 for 0, infinity for 255
    vec power_in_low_bits "kuiper_power_in_low_bits"(vec x) noexcept nogil
