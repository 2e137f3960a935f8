/* See typed_chunk.pxd, which explains it. */
#ifndef KUIPER_ENGINE_TYPED_CHUNK_H
#define KUIPER_ENGINE_TYPED_CHUNK_H

#include <string.h>
enum { KUIPER_CHUNK = 512 };
typedef union {
    float floats[KUIPER_CHUNK];
    long long wholes[KUIPER_CHUNK];
} kuiper_chunk;
enum { KUIPER_FLOAT32, KUIPER_INT64, KUIPER_INT32, KUIPER_BOOL, KUIPER_INT8, KUIPER_UINT8 };
enum {
    TYPED_COPY,
    TYPED_WHERE,
    TYPED_EQ,
    TYPED_NE,
    TYPED_LT,
    TYPED_LE,
    TYPED_GT,
    TYPED_GE,
    TYPED_AND,
    TYPED_OR,
    TYPED_XOR,
    TYPED_ADD,
    TYPED_SUB,
    TYPED_MUL,
    TYPED_FLOOR_DIVIDE,
    TYPED_REMAINDER,
    TYPED_QUANTIZE,
    TYPED_DEQUANTIZE
};

/* Neighbours are a case of their own, so that the loop over them becomes vector code. */
#define KUIPER_CONVERT(FROM, TO, from, from_step, to, to_step, RESULT)                                                         \
    if (from_step == (Py_ssize_t)sizeof(FROM) && to_step == (Py_ssize_t)sizeof(TO))                                            \
        for (Py_ssize_t i = 0; i < count; i++) {                                                                               \
            FROM x;                                                                                                            \
            TO y;                                                                                                              \
            memcpy(&x, from + i * (Py_ssize_t)sizeof(FROM), sizeof x);                                                         \
            y = (TO)(RESULT);                                                                                                  \
            memcpy(to + i * (Py_ssize_t)sizeof(TO), &y, sizeof y);                                                             \
        }                                                                                                                      \
    else                                                                                                                       \
        for (Py_ssize_t i = 0; i < count; i++) {                                                                               \
            FROM x;                                                                                                            \
            TO y;                                                                                                              \
            memcpy(&x, from + i * from_step, sizeof x);                                                                        \
            y = (TO)(RESULT);                                                                                                  \
            memcpy(to + i * to_step, &y, sizeof y);                                                                            \
        }
static void kuiper_load_chunk(const char *from, int type, Py_ssize_t step, Py_ssize_t count, int floating,
                              kuiper_chunk *chunk) {
    char *to = (char *)chunk;
    if (step == 0 && count > 1) { /* one number for all */
        kuiper_load_chunk(from, type, 1, 1, floating, chunk);
        if (floating)
            for (Py_ssize_t i = 1; i < count; i++) memcpy(to + 4 * i, to, 4); /* a chunk may lie anywhere */
        else
            for (Py_ssize_t i = 1; i < count; i++) memcpy(to + 8 * i, to, 8);
        return;
    }
    if (floating) switch (type) {
            case KUIPER_FLOAT32: KUIPER_CONVERT(float, float, from, step, to, 4, x) break;
            case KUIPER_INT64: KUIPER_CONVERT(long long, float, from, step, to, 4, x) break;
            case KUIPER_INT32: KUIPER_CONVERT(int, float, from, step, to, 4, x) break;
            case KUIPER_INT8: KUIPER_CONVERT(signed char, float, from, step, to, 4, x) break;
            default: KUIPER_CONVERT(unsigned char, float, from, step, to, 4, x) break;
        }
    else
        switch (type) {
            case KUIPER_FLOAT32: KUIPER_CONVERT(float, long long, from, step, to, 8, x) break;
            case KUIPER_INT64: KUIPER_CONVERT(long long, long long, from, step, to, 8, x) break;
            case KUIPER_INT32: KUIPER_CONVERT(int, long long, from, step, to, 8, x) break;
            case KUIPER_INT8: KUIPER_CONVERT(signed char, long long, from, step, to, 8, x) break;
            default: KUIPER_CONVERT(unsigned char, long long, from, step, to, 8, x) break;
        }
}
static void kuiper_store_chunk(const kuiper_chunk *chunk, int floating, char *to, int type, Py_ssize_t step, Py_ssize_t count) {
    const char *from = (const char *)chunk;
    if (floating) switch (type) {
            case KUIPER_FLOAT32: KUIPER_CONVERT(float, float, from, 4, to, step, x) break;
            case KUIPER_INT64: KUIPER_CONVERT(float, long long, from, 4, to, step, x) break;
            case KUIPER_INT32: KUIPER_CONVERT(float, int, from, 4, to, step, x) break;
            case KUIPER_INT8:
            case KUIPER_UINT8: KUIPER_CONVERT(float, unsigned char, from, 4, to, step, (int)x) break;
            default: KUIPER_CONVERT(float, unsigned char, from, 4, to, step, x != 0) break;
        }
    else
        switch (type) {
            case KUIPER_FLOAT32: KUIPER_CONVERT(long long, float, from, 8, to, step, x) break;
            case KUIPER_INT64: KUIPER_CONVERT(long long, long long, from, 8, to, step, x) break;
            case KUIPER_INT32: KUIPER_CONVERT(long long, int, from, 8, to, step, x) break;
            case KUIPER_INT8:
            case KUIPER_UINT8: KUIPER_CONVERT(long long, unsigned char, from, 8, to, step, x) break;
            default: KUIPER_CONVERT(long long, unsigned char, from, 8, to, step, x != 0) break;
        }
}

/* out may be a. */
static void kuiper_compare(int operation, int floating, const kuiper_chunk *a, const kuiper_chunk *b, Py_ssize_t count,
                           kuiper_chunk *out) {
#define KUIPER_RELATION(RELATION)                                                                                              \
    if (floating)                                                                                                              \
        for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = a->floats[i] RELATION b->floats[i];                            \
    else                                                                                                                       \
        for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = a->wholes[i] RELATION b->wholes[i];
    switch (operation) {
        case TYPED_EQ: KUIPER_RELATION(==) break;
        case TYPED_NE: KUIPER_RELATION(!=) break;
        case TYPED_LT: KUIPER_RELATION(<) break;
        case TYPED_LE: KUIPER_RELATION(<=) break;
        case TYPED_GT: KUIPER_RELATION(>) break;
        default: KUIPER_RELATION(>=) break;
    }
}
static void kuiper_calculate(int operation, int floating, const kuiper_chunk *a, const kuiper_chunk *b, Py_ssize_t count,
                             kuiper_chunk *out) {
#define KUIPER_SUM(SIGN)                                                                                                       \
    if (floating)                                                                                                              \
        for (Py_ssize_t i = 0; i < count; i++) out->floats[i] = a->floats[i] SIGN b->floats[i];                                \
    else                                                                                                                       \
        for (Py_ssize_t i = 0; i < count; i++)                                                                                 \
            out->wholes[i] = (long long)((unsigned long long)a->wholes[i] SIGN(unsigned long long) b->wholes[i]);
#define KUIPER_BITWISE(SIGN)                                                                                                   \
    for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = a->wholes[i] SIGN b->wholes[i];
    switch (operation) {
        case TYPED_AND: KUIPER_BITWISE(&) break;
        case TYPED_OR: KUIPER_BITWISE(|) break;
        case TYPED_XOR: KUIPER_BITWISE(^) break;
        case TYPED_ADD: KUIPER_SUM(+) break;
        case TYPED_SUB: KUIPER_SUM(-) break;
        case TYPED_MUL: KUIPER_SUM(*) break;
        default:
            for (Py_ssize_t i = 0; i < count; i++) {
                const long long x = a->wholes[i], y = b->wholes[i];
                const long long rest = x % y, below = rest != 0 && (rest < 0) != (y < 0);
                out->wholes[i] = operation == TYPED_FLOOR_DIVIDE ? x / y - below : rest + below * y;
            }
    }
}
/* Floats to bytes of a type and back, all as floats: x / scale to the nearest integer, of two the even one, plus the zero
   point, as far as the type has it; (x - zero) * scale. Beside 1.5 * 2**23 a float has no room for a fraction. */
static void kuiper_rescale(int operation, int type, const kuiper_chunk *x, const kuiper_chunk *scale, const kuiper_chunk *zero,
                           Py_ssize_t count, kuiper_chunk *out) {
    const float lowest = type == KUIPER_INT8 ? -128 : 0, highest = type == KUIPER_INT8 ? 127 : 255, unit = 12582912;
    if (operation == TYPED_DEQUANTIZE) {
        for (Py_ssize_t i = 0; i < count; i++) out->floats[i] = (x->floats[i] - zero->floats[i]) * scale->floats[i];
        return;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const float low = lowest - zero->floats[i], high = highest - zero->floats[i];
        float number = x->floats[i] / scale->floats[i];
        number = number > low ? number : low; /* NaN, too */
        number = number > high ? high : number;
        out->floats[i] = number + unit - unit + zero->floats[i];
    }
}
static void kuiper_choose(const kuiper_chunk *where, int floating, const kuiper_chunk *a, const kuiper_chunk *b,
                          Py_ssize_t count, kuiper_chunk *out) {
    if (floating)
        for (Py_ssize_t i = 0; i < count; i++) out->floats[i] = where->wholes[i] ? a->floats[i] : b->floats[i];
    else
        for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = where->wholes[i] ? a->wholes[i] : b->wholes[i];
}

#endif
