"""Whole numbers and bools, element by element: comparisons, choices, arithmetic, and from one element type to another.

    a (int64)  --- load --->  [chunk of whole numbers]  --.
                                                          +-- operation -->  [chunk]  --- store --->  out (bool)
    b (int32)  --- load --->  [chunk of whole numbers]  --'

A chunk of each operand comes into the first-level cache, as float32 if one of them is, else as int64; so there is one loop
for each operation and not one for each combination of types. (Operations on floats alone have a kernel of their own, which
does whole expressions in one pass: elementwise.pyx.)

Division and remainder round towards minus infinity, as in Python; nobody may divide by zero.
"""

import math

from kuiper.engine.arrangement import arranged

from kuiper.engine.step cimport Memory, Step
from kuiper.engine.typed_view cimport BOOL, FLOAT32, INT32, INT64, TYPED_AXES, TypedView, first_of

TYPES = {"float32": FLOAT32, "int64": INT64, "int32": INT32, "bool": BOOL}

cdef enum:
    CHUNK = 512  # numbers
    MOST = 3  # operands
    TASK = 16384  # numbers

cdef enum Operation:
    COPY, WHERE, EQ, NE, LT, LE, GT, GE, AND, OR, XOR, ADD, SUB, MUL, FLOOR_DIVIDE, REMAINDER

OPERATIONS = {
    "copy": COPY, "where": WHERE, "eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE, "and": AND, "or": OR,
    "xor": XOR, "add": ADD, "sub": SUB, "mul": MUL, "floor_divide": FLOOR_DIVIDE, "remainder": REMAINDER,
}

cdef extern from *:
    """
    #include <string.h>
    typedef union { float floats[512]; long long wholes[512]; } kuiper_chunk;

    /* Neighbours are a case of their own, so that the loop over them becomes vector code. */
    #define KUIPER_CONVERT(FROM, TO, from, from_step, to, to_step, RESULT) \\
        if (from_step == (Py_ssize_t)sizeof(FROM) && to_step == (Py_ssize_t)sizeof(TO)) \\
            for (Py_ssize_t i = 0; i < count; i++) { \\
                FROM x; TO y; \\
                memcpy(&x, from + i * (Py_ssize_t)sizeof(FROM), sizeof x); y = (TO)(RESULT); \\
                memcpy(to + i * (Py_ssize_t)sizeof(TO), &y, sizeof y); \\
            } \\
        else \\
            for (Py_ssize_t i = 0; i < count; i++) { \\
                FROM x; TO y; \\
                memcpy(&x, from + i * from_step, sizeof x); y = (TO)(RESULT); \\
                memcpy(to + i * to_step, &y, sizeof y); \\
            }
    static void kuiper_load_chunk(const char *from, int type, Py_ssize_t step, Py_ssize_t count, int floating,
                                  kuiper_chunk *chunk) {
        char *to = (char *)chunk;
        if (floating)
            switch (type) {
                case 0: KUIPER_CONVERT(float, float, from, step, to, 4, x) break;
                case 1: KUIPER_CONVERT(long long, float, from, step, to, 4, x) break;
                case 2: KUIPER_CONVERT(int, float, from, step, to, 4, x) break;
                default: KUIPER_CONVERT(unsigned char, float, from, step, to, 4, x) break;
            }
        else
            switch (type) {
                case 0: KUIPER_CONVERT(float, long long, from, step, to, 8, x) break;
                case 1: KUIPER_CONVERT(long long, long long, from, step, to, 8, x) break;
                case 2: KUIPER_CONVERT(int, long long, from, step, to, 8, x) break;
                default: KUIPER_CONVERT(unsigned char, long long, from, step, to, 8, x) break;
            }
    }
    static void kuiper_store_chunk(const kuiper_chunk *chunk, int floating, char *to, int type, Py_ssize_t step,
                                   Py_ssize_t count) {
        const char *from = (const char *)chunk;
        if (floating)
            switch (type) {
                case 0: KUIPER_CONVERT(float, float, from, 4, to, step, x) break;
                case 1: KUIPER_CONVERT(float, long long, from, 4, to, step, x) break;
                case 2: KUIPER_CONVERT(float, int, from, 4, to, step, x) break;
                default: KUIPER_CONVERT(float, unsigned char, from, 4, to, step, x != 0) break;
            }
        else
            switch (type) {
                case 0: KUIPER_CONVERT(long long, float, from, 8, to, step, x) break;
                case 1: KUIPER_CONVERT(long long, long long, from, 8, to, step, x) break;
                case 2: KUIPER_CONVERT(long long, int, from, 8, to, step, x) break;
                default: KUIPER_CONVERT(long long, unsigned char, from, 8, to, step, x != 0) break;
            }
    }

    /* out may be a. */
    static void kuiper_compare(int operation, int floating, const kuiper_chunk *a, const kuiper_chunk *b,
                               Py_ssize_t count, kuiper_chunk *out) {
    #define KUIPER_RELATION(RELATION) \\
        if (floating) for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = a->floats[i] RELATION b->floats[i]; \\
        else for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = a->wholes[i] RELATION b->wholes[i];
        switch (operation) {
            case 2: KUIPER_RELATION(==) break;
            case 3: KUIPER_RELATION(!=) break;
            case 4: KUIPER_RELATION(<) break;
            case 5: KUIPER_RELATION(<=) break;
            case 6: KUIPER_RELATION(>) break;
            default: KUIPER_RELATION(>=) break;
        }
    }
    static void kuiper_calculate(int operation, int floating, const kuiper_chunk *a, const kuiper_chunk *b,
                                 Py_ssize_t count, kuiper_chunk *out) {
    #define KUIPER_SUM(SIGN) \\
        if (floating) for (Py_ssize_t i = 0; i < count; i++) out->floats[i] = a->floats[i] SIGN b->floats[i]; \\
        else for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = (long long)( \\
            (unsigned long long)a->wholes[i] SIGN (unsigned long long)b->wholes[i]);
    #define KUIPER_BITS(SIGN) for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = a->wholes[i] SIGN b->wholes[i];
        switch (operation) {
            case 8: KUIPER_BITS(&) break;
            case 9: KUIPER_BITS(|) break;
            case 10: KUIPER_BITS(^) break;
            case 11: KUIPER_SUM(+) break;
            case 12: KUIPER_SUM(-) break;
            case 13: KUIPER_SUM(*) break;
            default:
                for (Py_ssize_t i = 0; i < count; i++) {
                    const long long x = a->wholes[i], y = b->wholes[i];
                    const long long rest = x % y, below = rest != 0 && (rest < 0) != (y < 0);
                    out->wholes[i] = operation == 14 ? x / y - below : rest + below * y;
                }
        }
    }
    static void kuiper_choose(const kuiper_chunk *where, int floating, const kuiper_chunk *a, const kuiper_chunk *b,
                              Py_ssize_t count, kuiper_chunk *out) {
        if (floating)
            for (Py_ssize_t i = 0; i < count; i++) out->floats[i] = where->wholes[i] ? a->floats[i] : b->floats[i];
        else
            for (Py_ssize_t i = 0; i < count; i++) out->wholes[i] = where->wholes[i] ? a->wholes[i] : b->wholes[i];
    }
    """
    ctypedef struct Chunk "kuiper_chunk":
        pass
    void load_chunk "kuiper_load_chunk"(
        const char* x, int type, Py_ssize_t step, Py_ssize_t count, bint floating, Chunk* chunk
    ) noexcept nogil
    void store_chunk "kuiper_store_chunk"(
        const Chunk* chunk, bint floating, char* out, int type, Py_ssize_t step, Py_ssize_t count
    ) noexcept nogil
    void compare "kuiper_compare"(
        int operation, bint floating, const Chunk* a, const Chunk* b, Py_ssize_t count, Chunk* out
    ) noexcept nogil
    void calculate "kuiper_calculate"(
        int operation, bint floating, const Chunk* a, const Chunk* b, Py_ssize_t count, Chunk* out
    ) noexcept nogil
    void choose "kuiper_choose"(
        const Chunk* where, bint floating, const Chunk* a, const Chunk* b, Py_ssize_t count, Chunk* out
    ) noexcept nogil

cdef struct Work:
    int operation, operands
    bint floating  # whether operands are compared, chosen and calculated with as floats
    Py_ssize_t shape[TYPED_AXES]
    Py_ssize_t rows, columns  # of a piece, which is a block of the last two axes
    Py_ssize_t row_blocks, column_blocks, pieces, tasks
    TypedView out
    TypedView[MOST] operand

# A block of the last two axes, from row ``row`` and column ``column`` on, and which of the others.
cdef struct Block:
    Py_ssize_t outer, row, column, rows, columns


cdef class Typed(Step):
    """See the head of this file.

    Parameters
    ----------
    operation : its name in OPERATIONS
    shape : of the result
    views : (external, offset, type, strides) of the result and the operands; offsets and strides in bytes, an external
        of -1 is the arena, and an operand that repeats along an axis has stride 0 there
    floating : whether the operands, but for the condition of ``where``, are floats to calculate with
    """

    cdef Work work

    def __init__(self, str operation, shape, views, bint floating):
        cdef Work* w = &self.work
        plan = arranged(shape, [strides for _, _, _, strides in views], 1, TYPED_AXES, CHUNK)
        ends = [
            {"external": external, "offset": offset, "type": type_code, "stride": strides}
            for (external, offset, type_code, _), strides in zip(views, plan.strides)
        ]
        w.operation, w.operands, w.floating = OPERATIONS[operation], len(views) - 1, floating
        w.shape = plan.shape
        w.out = ends[0]
        for k in range(w.operands):
            w.operand[k] = ends[k + 1]
        *_, w.rows, w.columns = plan.chunk
        w.row_blocks = (w.shape[TYPED_AXES - 2] + w.rows - 1) // w.rows
        w.column_blocks = (w.shape[TYPED_AXES - 1] + w.columns - 1) // w.columns
        outer = math.prod(plan.shape) // (w.shape[TYPED_AXES - 2] * w.shape[TYPED_AXES - 1])
        w.pieces = outer * w.row_blocks * w.column_blocks
        self.tasks = w.tasks = max(1, min(w.pieces, math.prod(shape) // TASK))
        self.numbers, self.run = w, run_pieces
        self.scratch_floats = MOST * (sizeof(Chunk) // sizeof(float))


cdef void run_pieces(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some blocks."""
    cdef const Work* w = <const Work*> numbers
    cdef Py_ssize_t piece
    cdef Block block
    for piece in range(task * w.pieces // w.tasks, (task + 1) * w.pieces // w.tasks):
        block.column = piece % w.column_blocks * w.columns
        block.row = piece // w.column_blocks % w.row_blocks * w.rows
        block.outer = piece // (w.column_blocks * w.row_blocks)
        block.rows = min(w.rows, w.shape[TYPED_AXES - 2] - block.row)
        block.columns = min(w.columns, w.shape[TYPED_AXES - 1] - block.column)
        run_block(w, &block, memory)


cdef void run_block(const Work* w, const Block* block, const Memory* memory) noexcept nogil:
    """Load the operands, do the operation, store the result."""
    cdef Chunk* chunks = <Chunk*> memory.scratch
    cdef Py_ssize_t count = block.rows * block.columns
    cdef Chunk* result = &chunks[0]
    cdef bint floating = w.floating
    cdef int k
    for k in range(w.operands):
        load_block(w, &w.operand[k], block, memory, floating and not (w.operation == WHERE and k == 0), &chunks[k])
    if w.operation == WHERE:
        result = &chunks[1]
        choose(&chunks[0], floating, &chunks[1], &chunks[2], count, result)
    elif EQ <= w.operation <= GE:
        result = &chunks[2]
        compare(w.operation, floating, &chunks[0], &chunks[1], count, result)
        floating = False
    elif w.operation != COPY:
        calculate(w.operation, floating, &chunks[0], &chunks[1], count, result)
    store_block(w, result, floating, block, memory)


cdef inline char* place_of(const Work* w, const TypedView* view, const Block* block, const Memory* memory) noexcept nogil:
    """Where the first number of a block lies."""
    cdef char* place = first_of(view, memory)
    cdef Py_ssize_t axis, outer = block.outer
    for axis in range(TYPED_AXES - 3, -1, -1):
        place += outer % w.shape[axis] * view.stride[axis]
        outer = outer // w.shape[axis]
    return place + block.row * view.stride[TYPED_AXES - 2] + block.column * view.stride[TYPED_AXES - 1]


cdef void load_block(
    const Work* w, const TypedView* view, const Block* block, const Memory* memory, bint floating, Chunk* chunk
) noexcept nogil:
    """The numbers of a block, row behind row."""
    cdef const char* x = place_of(w, view, block, memory)
    cdef Py_ssize_t row, size = 4 if floating else 8
    for row in range(block.rows):
        load_chunk(
            x + row * view.stride[TYPED_AXES - 2], view.type, view.stride[TYPED_AXES - 1], block.columns, floating,
            <Chunk*> (<char*> chunk + row * block.columns * size),
        )


cdef void store_block(
    const Work* w, const Chunk* chunk, bint floating, const Block* block, const Memory* memory
) noexcept nogil:
    """To where the result is to lie."""
    cdef char* out = place_of(w, &w.out, block, memory)
    cdef Py_ssize_t row, size = 4 if floating else 8
    for row in range(block.rows):
        store_chunk(
            <const Chunk*> (<const char*> chunk + row * block.columns * size), floating,
            out + row * w.out.stride[TYPED_AXES - 2], w.out.type, w.out.stride[TYPED_AXES - 1], block.columns,
        )
