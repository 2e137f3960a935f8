"""Integers and bools, element by element: comparisons, choices, arithmetic, and from one element type to another.

    a (int64)  --- load --->  [chunk of integers]  --.
                                                          +-- operation -->  [chunk]  --- store --->  out (bool)
    b (int32)  --- load --->  [chunk of integers]  --'

A chunk of each operand comes into the first-level cache, as float32 if one of them is, else as int64; so there is one loop
for each operation and not one for each combination of types. (Operations on floats alone have a kernel of their own, which
does whole expressions in one pass: elementwise.pyx.)

``quantize`` and ``dequantize`` have a number, its scale and its zero point as operands, all floats on their way.

Division and remainder round towards minus infinity, as in Python; nobody may divide by zero.
"""

import math

from kuiper.engine.arrangement import arranged

from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.engine.typed_chunk cimport (
    ADD, AND, BOOL, CHUNK, COPY, DEQUANTIZE, EQ, FLOAT32, FLOOR_DIVIDE, GE, GT, INT8, INT32, INT64, LE, LT, MUL, NE, OR,
    QUANTIZE, REMAINDER, SUB, UINT8, WHERE, XOR, Chunk, calculate, choose, compare, load_chunk, rescale, store_chunk,
)
from kuiper.engine.typed_view cimport TypedView, first_of

TYPES = {"float32": FLOAT32, "int64": INT64, "int32": INT32, "bool": BOOL, "int8": INT8, "uint8": UINT8}

cdef enum:
    MOST = 3  # operands
    TASK = 16384  # numbers

OPERATIONS = {
    "copy": COPY, "where": WHERE, "eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE, "and": AND, "or": OR,
    "xor": XOR, "add": ADD, "sub": SUB, "mul": MUL, "floor_divide": FLOOR_DIVIDE, "remainder": REMAINDER,
    "quantize": QUANTIZE, "dequantize": DEQUANTIZE,
}

cdef struct Work:
    int operation, operands
    bint floating  # whether operands are compared, chosen and calculated with as floats
    Py_ssize_t shape[MAX_NDIM]
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
    views : (binding, offset, type, strides) of the result and the operands; offsets and strides in bytes, a binding
        of -1 is the arena, and an operand that repeats along an axis has stride 0 there
    floating : whether the operands, but for the condition of ``where``, are floats to calculate with
    """

    cdef Work work

    def __init__(self, str operation, shape, views, bint floating):
        cdef Work* w = &self.work
        plan = arranged(shape, [strides for _, _, _, strides in views], 1, MAX_NDIM, CHUNK)
        ends = [
            {"binding": binding, "offset": offset, "type": type_code, "stride": strides}
            for (binding, offset, type_code, _), strides in zip(views, plan.strides)
        ]
        w.operation, w.operands, w.floating = OPERATIONS[operation], len(views) - 1, floating
        w.shape = plan.shape
        w.out = ends[0]
        for k in range(w.operands):
            w.operand[k] = ends[k + 1]
        *_, w.rows, w.columns = plan.chunk
        w.row_blocks = (w.shape[MAX_NDIM - 2] + w.rows - 1) // w.rows
        w.column_blocks = (w.shape[MAX_NDIM - 1] + w.columns - 1) // w.columns
        outer = math.prod(plan.shape) // (w.shape[MAX_NDIM - 2] * w.shape[MAX_NDIM - 1])
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
        block.rows = min(w.rows, w.shape[MAX_NDIM - 2] - block.row)
        block.columns = min(w.columns, w.shape[MAX_NDIM - 1] - block.column)
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
    elif w.operation == QUANTIZE or w.operation == DEQUANTIZE:
        rescale(w.operation, w.out.type, &chunks[0], &chunks[1], &chunks[2], count, result)
    elif w.operation != COPY:
        calculate(w.operation, floating, &chunks[0], &chunks[1], count, result)
    store_block(w, result, floating, block, memory)


cdef inline char* place_of(const Work* w, const TypedView* view, const Block* block, const Memory* memory) noexcept nogil:
    """Where the first number of a block lies."""
    cdef char* place = first_of(view, memory)
    cdef Py_ssize_t axis, outer = block.outer
    for axis in range(MAX_NDIM - 3, -1, -1):
        place += outer % w.shape[axis] * view.stride[axis]
        outer = outer // w.shape[axis]
    return place + block.row * view.stride[MAX_NDIM - 2] + block.column * view.stride[MAX_NDIM - 1]


cdef void load_block(
    const Work* w, const TypedView* view, const Block* block, const Memory* memory, bint floating, Chunk* chunk
) noexcept nogil:
    """The numbers of a block, row behind row."""
    cdef const char* x = place_of(w, view, block, memory)
    cdef Py_ssize_t row, size = 4 if floating else 8
    for row in range(block.rows):
        load_chunk(
            x + row * view.stride[MAX_NDIM - 2], view.type, view.stride[MAX_NDIM - 1], block.columns, floating,
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
            out + row * w.out.stride[MAX_NDIM - 2], w.out.type, w.out.stride[MAX_NDIM - 1], block.columns,
        )
