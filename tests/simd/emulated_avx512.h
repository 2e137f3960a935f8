/* The functions of AVX-512 that kuiper calls, on a CPU that has AVX2: for KUIPER_EMULATE=avx512 (see setup.py). SIMDe has most
   of them; those below are not in its version 0.7.4, which Debian 12 has. */
#ifndef KUIPER_TESTS_EMULATED_AVX512_H
#define KUIPER_TESTS_EMULATED_AVX512_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

#undef _mm512_madd_epi16 /* has four parameters there, by mistake */
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)

typedef signed char emulated_bytes __attribute__((vector_size(16)));
typedef int emulated_ints __attribute__((vector_size(64)));
typedef float emulated_floats __attribute__((vector_size(64)));

#define _mm512_cvtepi32_ps(x) ((simde__m512) __builtin_convertvector((emulated_ints)(x), emulated_floats))
#define _mm512_cvtepi8_epi32(x) ((simde__m512i) __builtin_convertvector((emulated_bytes)(x), emulated_ints))
#define _mm512_cvtepi32_epi8(x) ((simde__m128i) __builtin_convertvector((emulated_ints)(x), emulated_bytes))

/* To the nearest integer, of two the even one; what no int holds is the smallest. */
static inline simde__m512i emulated_nearest(simde__m512 x) {
    const simde__m256i low = simde_mm256_cvtps_epi32(simde_mm512_castps512_ps256(x));
    const simde__m256i high =
        simde_mm256_cvtps_epi32(simde_mm256_castpd_ps(simde_mm512_extractf64x4_pd(simde_mm512_castps_pd(x), 1)));
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(low), high, 1);
}
#define _mm512_cvtps_epi32(x) emulated_nearest(x)

/* The bytes whose bit is set; no other is read. */
static inline simde__m512i emulated_bytes_at(simde__mmask64 there, const void *from) {
    unsigned char bytes[64] = {0};
    for (int i = 0; i < 64; i++)
        if (there >> i & 1) bytes[i] = ((const unsigned char *)from)[i];
    return simde_mm512_loadu_si512(bytes);
}
#define _mm512_maskz_loadu_epi8(there, from) emulated_bytes_at(there, from)

static inline long long emulated_total(simde__m512i x) {
    long long numbers[8], total = 0;
    simde_mm512_storeu_si512(numbers, x);
    for (int i = 0; i < 8; i++) total += numbers[i];
    return total;
}
#define _mm512_reduce_add_epi64(x) emulated_total(x)

#endif
