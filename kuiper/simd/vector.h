/* One vector register of floats as a type; see vector.pxd, which explains it. */
#ifndef KUIPER_SIMD_VECTOR_H
#define KUIPER_SIMD_VECTOR_H

#include <math.h>
#include <string.h>

/* KUIPER_EACH is a loop whose bound is a constant where it is expanded: copies instead of turns, so that arrays of sums become
   registers. clang ignores gcc's pragma without a warning, and the sums would stay in memory. */
#if defined(__clang__)
#define KUIPER_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define KUIPER_UNROLL _Pragma("GCC unroll 24")
#else
#define KUIPER_UNROLL
#endif
#define KUIPER_EACH(i, count) KUIPER_UNROLL for (int i = 0; i < (count); i++)

#if defined(__GNUC__) && !defined(KUIPER_NO_VECTORS)
#define KUIPER_VECTORS
#define KUIPER_INLINE static inline __attribute__((always_inline, unused))
#if defined(KUIPER_EMULATES_AVX512)
#include "tests/simd/emulated_avx512.h"
#elif defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__) && !defined(_IMMINTRIN_H_INCLUDED)
/* gcc: what immintrin.h has beyond these is for AVX-512, and takes a third of a second of each module's compilation. */
#define _IMMINTRIN_H_INCLUDED
#include <xmmintrin.h>
#include <emmintrin.h>
#include <pmmintrin.h>
#include <tmmintrin.h>
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#elif defined(__AVX__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif
#else
#define KUIPER_INLINE static __inline
#endif

/* The level of the build: which instructions the functions below may use. A build with -DKUIPER_LANES has vectors of that
   length and none of these instructions: it shows on any machine that the length changes no bit. A build with
   -DKUIPER_EMULATES_AVX512 has functions in place of those of AVX-512: it tests their code on CPUs that lack them. */
#if defined(KUIPER_LANES) || !defined(KUIPER_VECTORS)
#if !defined(KUIPER_VECTORS)
#undef KUIPER_LANES
#define KUIPER_LANES 1
#endif
#elif defined(__AVX512BW__) || defined(KUIPER_EMULATES_AVX512)
#define KUIPER_AVX512
#define KUIPER_LANES 16
#elif defined(__AVX__)
#define KUIPER_AVX
#define KUIPER_LANES 8
#if defined(__AVX2__)
#define KUIPER_AVX2
#endif
#else
#define KUIPER_LANES 4
#if defined(__ARM_NEON) && defined(__aarch64__)
#define KUIPER_NEON
#elif defined(__wasm_simd128__)
#define KUIPER_WASM
#endif
#endif
enum { LANES = KUIPER_LANES };

/* Vector registers of the build, and the instruction that adds up products of bytes, if a CPU of this level may have it. */
#if defined(KUIPER_AVX512) || defined(KUIPER_NEON)
enum { REGISTERS = 32 };
#else
enum { REGISTERS = 16 };
#endif
#if defined(KUIPER_AVX512) && defined(__AVX512BW__)
#define KUIPER_AVX512_DOTS
#define KUIPER_VNNI "avx512_vnni"
#elif defined(KUIPER_AVX2) && defined(__F16C__) && (defined(__clang__) || __GNUC__ >= 11)
#define KUIPER_AVX2_DOTS
#define KUIPER_VNNI "avx_vnni"
#else
#define KUIPER_VNNI ""
#endif

#if defined(KUIPER_VECTORS)
typedef float kuiper_vec __attribute__((vector_size(4 * LANES), may_alias));
typedef float kuiper_anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int kuiper_ints __attribute__((vector_size(4 * LANES)));
typedef unsigned kuiper_unsigned __attribute__((vector_size(4 * LANES)));
#define KUIPER_CHOOSE(m, a, b) ((kuiper_vec)(((m) & (kuiper_ints)(a)) | (~(m) & (kuiper_ints)(b))))
#define KUIPER_PREFETCH(p) __builtin_prefetch(p, 0, 2)
#define KUIPER_PREFETCH_TO_WRITE(p) __builtin_prefetch(p, 1, 3)
#define KUIPER_BITS(x) ((kuiper_ints)(x))
#define KUIPER_OF_BITS(bits) ((kuiper_vec)(bits))
KUIPER_INLINE kuiper_vec kuiper_splat(float x) { return x - (kuiper_vec){0}; }
#else
typedef float kuiper_vec;
typedef float kuiper_anywhere;
typedef int kuiper_ints;
typedef unsigned kuiper_unsigned;
typedef union {
    float number;
    int bits;
} kuiper_both;
#define KUIPER_CHOOSE(m, a, b) ((m) ? (a) : (b))
#define KUIPER_PREFETCH(p) ((void)(p))
#define KUIPER_PREFETCH_TO_WRITE(p) ((void)(p))
#define KUIPER_BITS(x) (((kuiper_both){.number = (x)}).bits)
#define KUIPER_OF_BITS(b) (((kuiper_both){.bits = (b)}).number)
KUIPER_INLINE kuiper_vec kuiper_splat(float x) { return x; }
#endif

KUIPER_INLINE kuiper_vec kuiper_load(const float *p) { return *(const kuiper_anywhere *)p; }
KUIPER_INLINE void kuiper_store(float *p, kuiper_vec x) { *(kuiper_anywhere *)p = x; }
KUIPER_INLINE kuiper_vec kuiper_magnitude(kuiper_vec x) { return KUIPER_OF_BITS(KUIPER_BITS(x) & 0x7fffffff); }

/* a * b + c and c - a * b, rounded once where the build has an instruction for it: a CPU with AVX2 also has FMA, but a build
   for "AVX alone" or for SSE has not. WebAssembly's relaxed instruction rounds once or twice, as the CPU likes, but always the
   same way: it is used for single numbers too, and not counted on to round once. */
#if defined(KUIPER_WASM_RELAXED)
#define KUIPER_FUSES 0
/* packaging/wasm/toolchain.py makes instructions of these calls. A compiler that knows of relaxed instructions (LLVM 22) takes
   f32x4.relaxed_max for `x > 0 ? x : 0`, too, which may lose a NaN and differs between CPUs: only the assembler knows of them.
 */
__attribute__((const, nothrow)) v128_t kuiper_relaxed_madd(v128_t a, v128_t b, v128_t c);
__attribute__((const, nothrow)) v128_t kuiper_relaxed_nmadd(v128_t a, v128_t b, v128_t c);
KUIPER_INLINE float kuiper_fma_of_one(float a, float b, float c) {
    const v128_t sum = kuiper_relaxed_madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c));
    return wasm_f32x4_extract_lane(sum, 0);
}
#elif defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMAF)
#define KUIPER_FUSES 1
KUIPER_INLINE float kuiper_fma_of_one(float a, float b, float c) { return fmaf(a, b, c); }
#else
#define KUIPER_FUSES 0
KUIPER_INLINE float kuiper_fma_of_one(float a, float b, float c) { return a * b + c; }
#endif
#if defined(KUIPER_AVX512)
KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return _mm512_fmadd_ps(a, b, c); }
KUIPER_INLINE kuiper_vec kuiper_fnma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return _mm512_fnmadd_ps(a, b, c); }
#elif defined(KUIPER_AVX) && KUIPER_FUSES
KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return _mm256_fmadd_ps(a, b, c); }
KUIPER_INLINE kuiper_vec kuiper_fnma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return _mm256_fnmadd_ps(a, b, c); }
#elif defined(KUIPER_NEON)
KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return vfmaq_f32(c, a, b); }
KUIPER_INLINE kuiper_vec kuiper_fnma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return vfmsq_f32(c, a, b); }
#elif defined(KUIPER_WASM_RELAXED)
KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) {
    return (kuiper_vec)kuiper_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
}
KUIPER_INLINE kuiper_vec kuiper_fnma(kuiper_vec a, kuiper_vec b, kuiper_vec c) {
    return (kuiper_vec)kuiper_relaxed_nmadd((v128_t)a, (v128_t)b, (v128_t)c);
}
#elif defined(KUIPER_VECTORS)
KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) {
    for (int i = 0; i < LANES; i++) c[i] = kuiper_fma_of_one(a[i], b[i], c[i]);
    return c;
}
KUIPER_INLINE kuiper_vec kuiper_fnma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return kuiper_fma(-a, b, c); }
#else
KUIPER_INLINE kuiper_vec kuiper_fma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return kuiper_fma_of_one(a, b, c); }
KUIPER_INLINE kuiper_vec kuiper_fnma(kuiper_vec a, kuiper_vec b, kuiper_vec c) { return kuiper_fma_of_one(-a, b, c); }
#endif

/* Four floats, whatever LANES is: the channels of a small pixel. */
#if defined(KUIPER_VECTORS)
typedef float kuiper_four __attribute__((vector_size(16), aligned(4), may_alias));
KUIPER_INLINE kuiper_four kuiper_load_four(const float *p) { return *(const kuiper_four *)p; }
KUIPER_INLINE void kuiper_store_four(float *p, kuiper_four x) { *(kuiper_four *)p = x; }
KUIPER_INLINE kuiper_four kuiper_scaled_four(kuiper_four x, float a) { return x * a; }
KUIPER_INLINE kuiper_four kuiper_fma_four(float a, kuiper_four b, kuiper_four c) {
#if KUIPER_FUSES && defined(__FMA__)
    return _mm_fmadd_ps(_mm_set1_ps(a), b, c);
#elif defined(KUIPER_NEON)
    return vfmaq_n_f32(c, b, a);
#elif defined(KUIPER_WASM_RELAXED)
    return (kuiper_four)kuiper_relaxed_madd(wasm_f32x4_splat(a), (v128_t)b, (v128_t)c);
#else
    return a * b + c;
#endif
}
#else
typedef struct {
    float lane[4];
} kuiper_four;
KUIPER_INLINE kuiper_four kuiper_load_four(const float *p) { return *(const kuiper_four *)p; }
KUIPER_INLINE void kuiper_store_four(float *p, kuiper_four x) { *(kuiper_four *)p = x; }
KUIPER_INLINE kuiper_four kuiper_scaled_four(kuiper_four x, float a) {
    for (int i = 0; i < 4; i++) x.lane[i] *= a;
    return x;
}
KUIPER_INLINE kuiper_four kuiper_fma_four(float a, kuiper_four b, kuiper_four c) {
    for (int i = 0; i < 4; i++) c.lane[i] = kuiper_fma_of_one(a, b.lane[i], c.lane[i]);
    return c;
}
#endif

/* Like torch: NaN if either is NaN. A comparison alone would lose a NaN in one of the two, and so does the instruction for
   the maximum with a NaN in x. Of 0 and -0 it is y: the instruction of NEON and f32x4.max have 0 as the larger one, and are not
   used. */
#if defined(KUIPER_AVX512)
#define KUIPER_UNLESS_NAN(x, y) _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x)
KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) { return KUIPER_UNLESS_NAN(x, _mm512_max_ps(x, y)); }
KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) { return KUIPER_UNLESS_NAN(x, _mm512_min_ps(x, y)); }
#elif defined(KUIPER_AVX)
#define KUIPER_UNLESS_NAN(x, y) _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q))
KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) { return KUIPER_UNLESS_NAN(x, _mm256_max_ps(x, y)); }
KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) { return KUIPER_UNLESS_NAN(x, _mm256_min_ps(x, y)); }
#elif defined(KUIPER_WASM)
#define KUIPER_UNLESS_NAN(x, y) ((kuiper_vec)wasm_v128_bitselect(y, (v128_t)(x), wasm_f32x4_eq((v128_t)(x), (v128_t)(x))))
KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) {
    return KUIPER_UNLESS_NAN(x, wasm_f32x4_pmax((v128_t)y, (v128_t)x)); /* y < x ? x : y */
}
KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) {
    return KUIPER_UNLESS_NAN(x, wasm_f32x4_pmin((v128_t)y, (v128_t)x)); /* x < y ? x : y */
}
#else
KUIPER_INLINE kuiper_vec kuiper_larger(kuiper_vec x, kuiper_vec y) { return KUIPER_CHOOSE((x > y) | (x != x), x, y); }
KUIPER_INLINE kuiper_vec kuiper_smaller(kuiper_vec x, kuiper_vec y) { return KUIPER_CHOOSE((x < y) | (x != x), x, y); }
#endif

/* x kept within a bound; NaN stays NaN. The compiler does not see that these choices are one instruction each. */
#if defined(KUIPER_AVX512)
KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return _mm512_max_ps(low, x); }
KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return _mm512_min_ps(high, x); }
#elif defined(KUIPER_AVX)
KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return _mm256_max_ps(low, x); }
KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return _mm256_min_ps(high, x); }
#elif defined(KUIPER_WASM)
KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) {
    return (kuiper_vec)wasm_f32x4_pmax((v128_t)x, (v128_t)low);
}
KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) {
    return (kuiper_vec)wasm_f32x4_pmin((v128_t)x, (v128_t)high);
}
#else
KUIPER_INLINE kuiper_vec kuiper_at_least(kuiper_vec x, kuiper_vec low) { return KUIPER_CHOOSE(x < low, low, x); }
KUIPER_INLINE kuiper_vec kuiper_at_most(kuiper_vec x, kuiper_vec high) { return KUIPER_CHOOSE(x > high, high, x); }
#endif

KUIPER_INLINE kuiper_vec kuiper_below(kuiper_vec x, kuiper_vec limit, kuiper_vec then, kuiper_vec otherwise) {
    return KUIPER_CHOOSE(x < limit, then, otherwise);
}

/* The first ``count`` numbers from memory, of which LANES may be read, and ``rest`` in the other lanes. */
KUIPER_INLINE kuiper_vec kuiper_with_rest(const float *x, Py_ssize_t count, float rest) {
    float lanes[LANES];
    for (int i = 0; i < LANES; i++) lanes[i] = i;
    return kuiper_below(kuiper_load(lanes), kuiper_splat((float)count), kuiper_load(x), kuiper_splat(rest));
}

/* LANES signed integers of 8 bits as floats. */
#if defined(KUIPER_AVX512)
#define KUIPER_WIDE(p) _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(p)))
KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return _mm512_cvtepi32_ps(KUIPER_WIDE(p)); }
#elif defined(KUIPER_AVX2)
#define KUIPER_WIDE(p) _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(p)))
KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return _mm256_cvtepi32_ps(KUIPER_WIDE(p)); }
#elif defined(KUIPER_NEON)
KUIPER_INLINE int32x4_t kuiper_wide(const void *p) {
    int bytes;
    memcpy(&bytes, p, 4);
    return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(bytes)))));
}
#define KUIPER_WIDE(p) kuiper_wide(p)
KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return (kuiper_vec)vcvtq_f32_s32(KUIPER_WIDE(p)); }
#elif defined(KUIPER_WASM)
#define KUIPER_WIDE(p) wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(p)))
KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) { return (kuiper_vec)wasm_f32x4_convert_i32x4(KUIPER_WIDE(p)); }
#else
KUIPER_INLINE kuiper_vec kuiper_of_bytes(const void *p) {
    float lanes[LANES];
    for (int i = 0; i < LANES; i++) lanes[i] = (float)((const signed char *)p)[i];
    return kuiper_load(lanes);
}
#endif

/* x[which[0]], x[which[1]], ... */
#if defined(KUIPER_AVX512)
KUIPER_INLINE kuiper_vec kuiper_permuted(kuiper_vec x, kuiper_ints which) { return _mm512_permutexvar_ps((__m512i)which, x); }
#elif defined(KUIPER_AVX2)
KUIPER_INLINE kuiper_vec kuiper_permuted(kuiper_vec x, kuiper_ints which) {
    return _mm256_permutevar8x32_ps(x, (__m256i)which);
}
#elif defined(KUIPER_NEON)
KUIPER_INLINE kuiper_vec kuiper_permuted(kuiper_vec x, kuiper_ints which) {
    return (kuiper_vec)vqtbl1q_u8((uint8x16_t)x, (uint8x16_t)(which * 0x04040404 + 0x03020100)); /* four bytes of each lane */
}
#elif defined(KUIPER_WASM)
KUIPER_INLINE kuiper_vec kuiper_permuted(kuiper_vec x, kuiper_ints which) {
    return (kuiper_vec)wasm_i8x16_swizzle((v128_t)x, (v128_t)(which * 0x04040404 + 0x03020100)); /* four bytes of each lane */
}
#elif defined(KUIPER_VECTORS)
KUIPER_INLINE kuiper_vec kuiper_permuted(kuiper_vec x, kuiper_ints which) {
    kuiper_vec found = x;
    for (int i = 0; i < LANES; i++) found[i] = x[which[i]];
    return found;
}
#else
KUIPER_INLINE kuiper_vec kuiper_permuted(kuiper_vec x, kuiper_ints which) {
    (void)which;
    return x;
}
#endif

/* In each lane the entry of a table of eight whose index is in the lowest three bits of x: as many as AVX2 and NEON can look up
   in registers, so that all builds have the same tables. */
#if defined(KUIPER_AVX512)
KUIPER_INLINE kuiper_vec kuiper_lookup(const float table[8], kuiper_vec x) {
    const __m512d twice = _mm512_broadcast_f64x4(_mm256_loadu_pd((const double *)table));
    return _mm512_permutexvar_ps((__m512i)x, _mm512_castpd_ps(twice));
}
#elif defined(KUIPER_AVX2)
KUIPER_INLINE kuiper_vec kuiper_lookup(const float table[8], kuiper_vec x) {
    return _mm256_permutevar8x32_ps(kuiper_load(table), (__m256i)x);
}
#elif defined(KUIPER_NEON)
KUIPER_INLINE kuiper_vec kuiper_lookup(const float table[8], kuiper_vec x) {
    const uint8x16x2_t bytes = {{(uint8x16_t)vld1q_f32(table), (uint8x16_t)vld1q_f32(table + 4)}};
    const kuiper_unsigned first = ((kuiper_unsigned)x & 7) * 0x04040404u + 0x03020100u; /* four bytes of each entry */
    return (kuiper_vec)vqtbl2q_u8(bytes, (uint8x16_t)first);
}
#elif defined(KUIPER_WASM)
KUIPER_INLINE kuiper_vec kuiper_lookup(const float table[8], kuiper_vec x) {
    const v128_t first = (v128_t)(((kuiper_unsigned)x & 7) * 0x04040404u + 0x03020100u); /* four bytes of each entry */
    const v128_t low = wasm_i8x16_swizzle(wasm_v128_load(table), first); /* 0 for bytes beyond the 16 that it has */
    const v128_t high = wasm_i8x16_swizzle(wasm_v128_load(table + 4), wasm_i8x16_sub(first, wasm_i8x16_splat(16)));
    return (kuiper_vec)wasm_v128_or(low, high);
}
#else
KUIPER_INLINE kuiper_vec kuiper_lookup(const float table[8], kuiper_vec x) {
    float lanes[LANES];
    int index[LANES];
    memcpy(index, &x, sizeof index);
    for (int i = 0; i < LANES; i++) lanes[i] = table[index[i] & 7];
    return kuiper_load(lanes);
}
#endif

#endif
