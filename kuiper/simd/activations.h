/* The table of activations: functions of one number with up to two settings, a and b. All that knows them reads it.

   A row has the name, what it costs for one number in additions, the formula of a float (for the layers, whose loops are
   plain), and that of a vector (for the engine, whose kernels apply it to what they have just stored). FUSED may follow a
   convolution in its kernel; OTHER are steps of their own.

   A choice is a comparison that is false for NaN, and stands so that NaN then takes the way through: relu(NaN) is NaN. */
#ifndef KUIPER_SIMD_ACTIVATIONS_H
#define KUIPER_SIMD_ACTIVATIONS_H

#include <stddef.h>

#include "kuiper/simd/functions.h"
#include "kuiper/simd/scalar.h"

/* clang-format off */
#define KUIPER_FUSED_ACTIVATIONS(ROW) \
    ROW(relu, 1, x < 0 ? 0 : x, kuiper_at_least(x, kuiper_splat(0))) \
    ROW(leaky_relu, 1, x > 0 ? x : a * x, kuiper_below(kuiper_splat(0), x, x, x * a)) \
    ROW(clip, 1, kuiper_clamped_of_one(x, a, b), kuiper_clamped(x, a, b)) \
    ROW(elu, 8, kuiper_elu_of_one(x, 1, a, 1), kuiper_elu(x, 1, a, 1)) \
    ROW(silu, 8, x * kuiper_sigmoid_of_one(x), x / kuiper_logistic_denominator(x)) \
    ROW(hardswish, 8, x * kuiper_clamped_of_one(x + 3, 0, 6) * KUIPER_SIXTH, (x * kuiper_clamped(x + 3.0f, 0, 6)) * KUIPER_SIXTH) \
    ROW(hardsigmoid, 8, kuiper_clamped_of_one(x + 3, 0, 6) * KUIPER_SIXTH, kuiper_clamped(x + 3.0f, 0, 6) * KUIPER_SIXTH) \
    ROW(sigmoid, 8, kuiper_sigmoid_of_one(x), kuiper_sigmoid(x)) \
    ROW(tanh, 8, kuiper_tanh_of_one(x), kuiper_tanh(x)) \
    ROW(gelu, 8, kuiper_gelu_of_one(x), kuiper_gelu(x)) \
    ROW(gelu_tanh, 8, kuiper_gelu_tanh_of_one(x), kuiper_gelu_tanh(x)) \
    ROW(mish, 8, kuiper_mish_of_one(x), kuiper_mish(x))

#define KUIPER_OTHER_ACTIVATIONS(ROW) \
    ROW(celu, 8, kuiper_elu_of_one(x, 1, a, b), kuiper_elu(x, 1, a, b)) \
    ROW(selu, 8, kuiper_elu_of_one(x, a, b, 1), kuiper_elu(x, a, b, 1)) \
    ROW(softplus, 8, kuiper_softplus_beta_of_one(x, a, b), kuiper_softplus_beta(x, a, b)) \
    ROW(logsigmoid, 8, -kuiper_softplus_of_one(-x), -kuiper_softplus(-x)) \
    ROW(softsign, 1, x / (1 + fabsf(x)), x / (kuiper_magnitude(x) + 1.0f)) \
    ROW(tanhshrink, 8, x - kuiper_tanh_of_one(x), x - kuiper_tanh(x)) \
    ROW(hardshrink, 1, fabsf(x) <= a ? 0 : x, KUIPER_CHOOSE(kuiper_magnitude(x) <= kuiper_splat(a), kuiper_splat(0), x)) \
    ROW(softshrink, 1, x <= a ? (x < -a ? x + a : 0) : x - a, kuiper_softshrink(x, kuiper_splat(a))) \
    ROW(threshold, 1, x <= a ? b : x, KUIPER_CHOOSE(x <= kuiper_splat(a), kuiper_splat(b), x))
/* clang-format on */

/* The code of each row. */
#define KUIPER_CODE(name, cost, number, vector) KUIPER_ACTIVATION_##name,
enum {
    KUIPER_NO_ACTIVATION,
    KUIPER_FUSED_ACTIVATIONS(KUIPER_CODE) KUIPER_FIRST_OTHER_ACTIVATION,
    KUIPER_BEFORE_OTHERS = KUIPER_FIRST_OTHER_ACTIVATION - 1, /* the next one has the code of the first */
    KUIPER_OTHER_ACTIVATIONS(KUIPER_CODE) KUIPER_ACTIVATIONS_END
};
#undef KUIPER_CODE

/* The table as data, for those who look a name up. */
typedef struct {
    const char *name;
    int code, cost;
} kuiper_activation;
#define KUIPER_ROW(name, cost, number, vector) {#name, KUIPER_ACTIVATION_##name, cost},
static const kuiper_activation kuiper_activations[] = {
    {"none", KUIPER_NO_ACTIVATION, 0}, KUIPER_FUSED_ACTIVATIONS(KUIPER_ROW) KUIPER_OTHER_ACTIVATIONS(KUIPER_ROW)};
#undef KUIPER_ROW

#define KUIPER_SIXTH ((float)(1.0 / 6))

/* positive x where x > 0, else negative (e**(inner x) - 1): ELU, CELU and SELU by their three factors. */
KUIPER_INLINE float kuiper_elu_of_one(float x, float positive, float negative, float inner) {
    return x > 0 ? positive * x : negative * kuiper_expm1_of_one(inner * x);
}
KUIPER_INLINE kuiper_vec kuiper_elu(kuiper_vec x, float positive, float negative, float inner) {
    return kuiper_below(kuiper_splat(0), x, x * positive, kuiper_expm1(x * inner) * negative);
}

/* x Phi(x), with Phi the normal distribution: x (1 + erf(x / sqrt 2)) / 2. */
KUIPER_INLINE float kuiper_gelu_of_one(float x) { return 0.5f * x * (1 + kuiper_erf_of_one(0.7071067811865476f * x)); }

/* x (1 + tanh z) / 2 = x sigmoid(2 z), with z = sqrt(2 / pi) (x + 0.044715 x**3). */
KUIPER_INLINE float kuiper_gelu_tanh_of_one(float x) {
    return x * kuiper_sigmoid_of_one(1.5957691216057308f * kuiper_horner_of_one(0.044715f * x * x, x, x));
}
KUIPER_INLINE kuiper_vec kuiper_gelu_tanh(kuiper_vec x) {
    return x * kuiper_sigmoid(x * kuiper_horner(x * x, kuiper_splat(0.07135481627159652f), 1.5957691216057308f));
}

/* x tanh(ln(1 + e**x)); with e = e**x the tanh is (e**2 + 2 e) / (e**2 + 2 e + 2), and 1 from x = 20 on. */
KUIPER_INLINE float kuiper_mish_of_one(float x) {
    const float e = kuiper_exp_of_one(x > 20 ? 20 : x), n = e * (e + 2);
    return x * (n / (n + 2));
}
/* With e**x = a / b it is x (a**2 + 2 a b) / (a**2 + 2 a b + 2 b**2). */
KUIPER_INLINE kuiper_vec kuiper_mish(kuiper_vec x) {
    const kuiper_vec two = kuiper_splat(2);
    kuiper_vec power, a, b;
    kuiper_exp_as_fraction(kuiper_clamped(x, -88.029692f, 20), &power, &a, &b);
    a = a * power;
    a = a * kuiper_fma(two, b, a);
    return x * (a / kuiper_fma(two * b, b, a));
}

/* ln(1 + e**(beta x)) / beta, and x itself where beta x > limit. */
KUIPER_INLINE float kuiper_softplus_beta_of_one(float x, float beta, float limit) {
    const float scaled = beta * x;
    return scaled > limit ? x : kuiper_softplus_of_one(scaled) / beta;
}
KUIPER_INLINE kuiper_vec kuiper_softplus_beta(kuiper_vec x, float beta, float limit) {
    const kuiper_vec scaled = x * beta;
    return kuiper_below(kuiper_splat(limit), scaled, x, kuiper_softplus(scaled) / kuiper_splat(beta));
}

/* x moved by limit towards 0, and 0 where |x| <= limit (NaN stays: x - limit is NaN, too). */
KUIPER_INLINE kuiper_vec kuiper_softshrink(kuiper_vec x, kuiper_vec limit) {
    const kuiper_vec low = KUIPER_CHOOSE(x < -limit, x + limit, kuiper_splat(0));
    return KUIPER_CHOOSE(x <= limit, low, x - limit);
}

/* to[i] = f(from[i]), number by number. A call for each would keep the loop scalar: so each row has a loop of its own. */
static inline void kuiper_map_numbers(int code, const float *from, float *to, ptrdiff_t count, float a, float b) {
#define KUIPER_LOOP(name, cost, number, vector)                                                                                \
    case KUIPER_ACTIVATION_##name:                                                                                             \
        for (ptrdiff_t i = 0; i < count; i++) {                                                                                \
            const float x = from[i];                                                                                           \
            to[i] = number;                                                                                                    \
        }                                                                                                                      \
        break;
    switch (code) { KUIPER_FUSED_ACTIVATIONS(KUIPER_LOOP) KUIPER_OTHER_ACTIVATIONS(KUIPER_LOOP) }
#undef KUIPER_LOOP
}

/* to = 1 / (1 + e**-from), or from times that; step as below.

   A vector is divided when the two after it have come to their denominators: an operation that waits for another keeps its
   place in the core, and with some fifty cycles from a load to its store the places would run out. */
static inline void kuiper_map_logistic(int times_x, const float *from, ptrdiff_t step, float *to, ptrdiff_t vectors) {
    const kuiper_vec one = kuiper_splat(1);
    ptrdiff_t i;
    if (vectors <= 0) return;
    kuiper_vec now = kuiper_logistic_denominator(kuiper_load(from)), soon = now;
    if (vectors > 1) soon = kuiper_logistic_denominator(kuiper_load(from + step));
    for (i = 0; i < vectors - 2; i++) {
        const kuiper_vec last = kuiper_logistic_denominator(kuiper_load(from + (i + 2) * step));
        kuiper_store(to + i * KUIPER_LANES, (times_x ? kuiper_load(from + i * step) : one) / now);
        now = soon;
        soon = last;
    }
    i = vectors - 1;
    if (i > 0) kuiper_store(to + (i - 1) * KUIPER_LANES, (times_x ? kuiper_load(from + (i - 1) * step) : one) / now);
    kuiper_store(to + i * KUIPER_LANES, (times_x ? kuiper_load(from + i * step) : one) / soon);
}

#define KUIPER_LOOP(name, cost, number, vector)                                                                                \
    case KUIPER_ACTIVATION_##name:                                                                                             \
        for (ptrdiff_t i = 0; i < vectors; i++) {                                                                              \
            const kuiper_vec x = kuiper_load(from + i * step);                                                                 \
            kuiper_store(to + i * KUIPER_LANES, vector);                                                                       \
        }                                                                                                                      \
        break;

/* to = f(from), vector by vector; step is LANES, or 0 where one vector stands for all. ``to`` may be ``from``. */
static inline void kuiper_map_fused(int code, const float *from, ptrdiff_t step, float *to, ptrdiff_t vectors, float a,
                                    float b) {
    if (code == KUIPER_ACTIVATION_silu || code == KUIPER_ACTIVATION_sigmoid) {
        kuiper_map_logistic(code == KUIPER_ACTIVATION_silu, from, step, to, vectors);
        return;
    }
    switch (code) { KUIPER_FUSED_ACTIVATIONS(KUIPER_LOOP) }
}

/* The same for those that no kernel takes in. */
static inline void kuiper_map_other(int code, const float *from, ptrdiff_t step, float *to, ptrdiff_t vectors, float a,
                                    float b) {
    switch (code) { KUIPER_OTHER_ACTIVATIONS(KUIPER_LOOP) }
}
#undef KUIPER_LOOP

#endif
