/* See transpose.pxd, which explains it. */
#ifndef KUIPER_ENGINE_KERNELS_TRANSPOSE_H
#define KUIPER_ENGINE_KERNELS_TRANSPOSE_H

#include "kuiper/simd/vector.h"

#if defined(KUIPER_VECTORS)
#if defined(__clang__)
#define KUIPER_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define KUIPER_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (kuiper_ints){__VA_ARGS__})
#endif
#if KUIPER_LANES == 16
#define KUIPER_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define KUIPER_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif KUIPER_LANES == 8
#define KUIPER_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define KUIPER_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define KUIPER_LOW 0, 4, 1, 5
#define KUIPER_HIGH 2, 6, 3, 7
#endif
#define kuiper_deal_low(a, b) KUIPER_SHUFFLE(a, b, KUIPER_LOW)
#define kuiper_deal_high(a, b) KUIPER_SHUFFLE(a, b, KUIPER_HIGH)
#else /* one lane is turned already */
#define kuiper_deal_low(a, b) (a)
#define kuiper_deal_high(a, b) (b)
#endif

#endif
