/* The table of functions that a program of kernels/elementwise.pyx can have beside the activations; see functions.pxd.

   A row has the name, what it costs for one number in additions, whether the C library computes it (otherwise on another
   system, or on another CPU), and the formula: of vectors x and y, or of floats. */
#ifndef KUIPER_ENGINE_FUNCTIONS_H
#define KUIPER_ENGINE_FUNCTIONS_H

#include "kuiper/simd/activations.h"

/* clang-format off */
#define KUIPER_VECTOR_PAIRS(ROW) \
    ROW(add, 1, 0, x + y) ROW(sub, 1, 0, x - y) ROW(mul, 1, 0, x * y) ROW(div, 1, 0, x / y) \
    ROW(max, 1, 0, kuiper_larger(x, y)) ROW(min, 1, 0, kuiper_smaller(x, y)) ROW(prelu, 1, 0, KUIPER_CHOOSE(x > 0, x, y * x))

#define KUIPER_FLOAT_PAIRS(ROW) \
    ROW(pow, 64, 1, powf(x, y)) ROW(fmod, 64, 0, fmodf(x, y)) ROW(atan2, 64, 1, atan2f(x, y))

#define KUIPER_VECTOR_FUNCTIONS(ROW) \
    ROW(neg, 1, 0, -x) ROW(abs, 1, 0, kuiper_magnitude(x)) ROW(reciprocal, 1, 0, kuiper_splat(1) / x) \
    ROW(square, 1, 0, x * x) ROW(cube, 1, 0, x * x * x) \
    ROW(exp, 8, 0, kuiper_exp(x)) ROW(expm1, 8, 0, kuiper_expm1(x)) ROW(log, 8, 0, kuiper_log(x)) ROW(erf, 8, 0, kuiper_erf(x))

/* Loops over numbers, of which a compiler makes vector code. */
#define KUIPER_FLOAT_FUNCTIONS(ROW) \
    ROW(sqrt, 1, 0, sqrtf(x)) ROW(rsqrt, 1, 0, 1 / sqrtf(x)) ROW(floor, 1, 0, floorf(x)) ROW(ceil, 1, 0, ceilf(x)) \
    ROW(round, 1, 0, rintf(x)) ROW(trunc, 1, 0, truncf(x)) ROW(sign, 1, 0, (float)(x > 0) - (float)(x < 0)) \
    ROW(log10, 64, 1, log10f(x)) ROW(log1p, 64, 1, log1pf(x)) ROW(sin, 64, 1, sinf(x)) ROW(cos, 64, 1, cosf(x)) \
    ROW(tan, 64, 1, tanf(x)) ROW(sinh, 64, 1, sinhf(x)) ROW(cosh, 64, 1, coshf(x)) ROW(asin, 64, 1, asinf(x)) \
    ROW(acos, 64, 1, acosf(x)) ROW(atan, 64, 1, atanf(x)) ROW(asinh, 64, 1, asinhf(x)) ROW(acosh, 64, 1, acoshf(x)) \
    ROW(atanh, 64, 1, atanhf(x))
/* clang-format on */

#define KUIPER_CODE(name, cost, in_library, formula) KUIPER_FUNCTION_##name,
enum {
    KUIPER_FUNCTION_load = KUIPER_ACTIVATIONS_END,
    KUIPER_FUNCTION_constant,
    KUIPER_FUNCTION_multiply_add,
    KUIPER_VECTOR_PAIRS(KUIPER_CODE) KUIPER_FLOAT_PAIRS(KUIPER_CODE) KUIPER_PAIRS_END,
    KUIPER_BEFORE_FUNCTIONS = KUIPER_PAIRS_END - 1, /* the next one has its code */
    KUIPER_VECTOR_FUNCTIONS(KUIPER_CODE) KUIPER_FLOAT_FUNCTIONS(KUIPER_CODE) KUIPER_FUNCTIONS_END
};
#undef KUIPER_CODE

typedef struct {
    const char *name;
    int code, arguments, cost, in_library;
} kuiper_function;
#define KUIPER_PAIR(name, cost, in_library, formula) {#name, KUIPER_FUNCTION_##name, 2, cost, in_library},
#define KUIPER_ROW(name, cost, in_library, formula) {#name, KUIPER_FUNCTION_##name, 1, cost, in_library},
static const kuiper_function kuiper_functions[] = {{"load", KUIPER_FUNCTION_load, 0, 1, 0},
                                                   {"constant", KUIPER_FUNCTION_constant, 0, 1, 0},
                                                   {"multiply_add", KUIPER_FUNCTION_multiply_add, 3, 1, 0},
                                                   KUIPER_VECTOR_PAIRS(KUIPER_PAIR) KUIPER_FLOAT_PAIRS(KUIPER_PAIR)
                                                       KUIPER_VECTOR_FUNCTIONS(KUIPER_ROW) KUIPER_FLOAT_FUNCTIONS(KUIPER_ROW)};
#undef KUIPER_PAIR
#undef KUIPER_ROW

/* to = f(left, right), vector by vector; the steps are LANES, or 0 where one vector stands for all. */
static inline void kuiper_combine(int code, const float *left, ptrdiff_t left_step, const float *right, ptrdiff_t right_step,
                                  float *to, ptrdiff_t vectors) {
#define KUIPER_LOOP(name, cost, in_library, formula)                                                                           \
    case KUIPER_FUNCTION_##name:                                                                                               \
        for (ptrdiff_t i = 0; i < vectors; i++) {                                                                              \
            const kuiper_vec x = kuiper_load(left + i * left_step), y = kuiper_load(right + i * right_step);                   \
            kuiper_store(to + i * KUIPER_LANES, formula);                                                                      \
        }                                                                                                                      \
        break;
#define KUIPER_FLOAT_LOOP(name, cost, in_library, formula)                                                                     \
    case KUIPER_FUNCTION_##name:                                                                                               \
        for (ptrdiff_t i = 0; i < vectors; i++)                                                                                \
            for (ptrdiff_t lane = 0; lane < KUIPER_LANES; lane++) {                                                            \
                const float x = left[i * left_step + lane], y = right[i * right_step + lane];                                  \
                to[i * KUIPER_LANES + lane] = formula;                                                                         \
            }                                                                                                                  \
        break;
    switch (code) { KUIPER_VECTOR_PAIRS(KUIPER_LOOP) KUIPER_FLOAT_PAIRS(KUIPER_FLOAT_LOOP) }
#undef KUIPER_LOOP
#undef KUIPER_FLOAT_LOOP
}

/* to = f(from), vector by vector; a and b are the settings of an activation. */
static inline void kuiper_apply(int code, const float *from, ptrdiff_t step, float *to, ptrdiff_t vectors, float a, float b) {
#define KUIPER_LOOP(name, cost, in_library, formula)                                                                           \
    case KUIPER_FUNCTION_##name:                                                                                               \
        for (ptrdiff_t i = 0; i < vectors; i++) {                                                                              \
            const kuiper_vec x = kuiper_load(from + i * step);                                                                 \
            kuiper_store(to + i * KUIPER_LANES, formula);                                                                      \
        }                                                                                                                      \
        return;
#define KUIPER_FLOAT_LOOP(name, cost, in_library, formula)                                                                     \
    case KUIPER_FUNCTION_##name:                                                                                               \
        for (ptrdiff_t i = 0; i < vectors * KUIPER_LANES; i++) {                                                               \
            const float x = to[i];                                                                                             \
            to[i] = formula;                                                                                                   \
        }                                                                                                                      \
        return;
    if (code < KUIPER_FIRST_OTHER_ACTIVATION) {
        kuiper_map_fused(code, from, step, to, vectors, a, b);
        return;
    }
    if (code < KUIPER_ACTIVATIONS_END) {
        kuiper_map_other(code, from, step, to, vectors, a, b);
        return;
    }
    switch (code) { KUIPER_VECTOR_FUNCTIONS(KUIPER_LOOP) }
    /* In place: a compiler makes vector code of it, if it need not ask at run time whether two arrays overlap. */
    if (from != to)
        for (ptrdiff_t i = 0; i < vectors; i++) kuiper_store(to + i * KUIPER_LANES, kuiper_load(from + i * step));
    switch (code) { KUIPER_FLOAT_FUNCTIONS(KUIPER_FLOAT_LOOP) }
#undef KUIPER_LOOP
#undef KUIPER_FLOAT_LOOP
}

#endif
