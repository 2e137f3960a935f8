"""Products of two matrices of bytes that are both computed at run time, one or a stack: QLinearMatMul, MatMulInteger.

    sum[i, j] = sum over k of (a[i, k] - zero_a) * (b[k, j] - zero_b)          (rows, depth) (depth, columns) -> (rows, columns)

A task has a block of rows of one matrix. It spreads them as the tile reads them (integer_tile.pxd); then it packs one panel of b
after the other, and multiplies. Either matrix may lie in memory in any way. Where words have four bytes, b has to fit int8: it is
taken without a zero point, less 128 if it has no sign, and what is missing is added to the sums of a row:

    b - zero_b = b' + c           sum of (a - zero_a) * b' + c * (sum of a - depth * zero_a)
"""

import math

from libc.string cimport memcpy, memset

from kuiper.engine.byte_rounding cimport INTEGER_WIDTH, requantise_tile
from kuiper.engine.byte_rows cimport spread
from kuiper.engine.integer_tile cimport INTEGER_ROWS, IntegerWork, integer_tile
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.vector cimport LANES

cdef enum:
    AXES = MAX_NDIM - 2  # of a stack
    SLACK = 64  # bytes behind what is read in vectors

cdef struct Matrices:
    Py_ssize_t rows, depth, columns
    Py_ssize_t a, a_row, a_depth, b, b_depth, b_column, out, out_row  # bytes
    int zero_a, zero_b
    bint a_signed, b_signed, fours
    bint to_bytes  # what sums become; else they stay
    float scale, low, high
    int out_zero
    Py_ssize_t block  # rows of a task

cdef struct Work:
    Matrices matrices
    Py_ssize_t stack[AXES]
    Py_ssize_t out_stride[AXES]
    Py_ssize_t a_stride[AXES]
    Py_ssize_t b_stride[AXES]
    Py_ssize_t blocks, words, left_row  # words of a row, bytes of a row as it is spread
    float scales[INTEGER_WIDTH]

# What a task has in its scratch.
cdef struct Room:
    int* sums  # of a tile
    int* start  # what the sums of a panel begin with
    int* missing  # what is added to all sums of each row
    unsigned char* ones
    unsigned char* panel
    unsigned char* left


cdef class ByteMatrixProduct(Step):
    """See the head of this file. ``numbers`` names the fields of Matrices.

    Parameters
    ----------
    numbers : dict of numbers
    stack : the sizes of the axes of a stack, four at most
    out_strides, a_strides, b_strides : along these axes, in bytes; 0 repeats
    """

    cdef Work work

    def __init__(self, dict numbers, stack, out_strides, a_strides, b_strides):
        cdef Work* w = &self.work
        cdef Matrices* m = &w.matrices
        cdef int i
        missing = int(AXES) - len(stack)
        m[0] = numbers
        w.stack = [1] * missing + list(stack)
        w.out_stride = [0] * missing + list(out_strides)
        w.a_stride = [0] * missing + list(a_strides)
        w.b_stride = [0] * missing + list(b_strides)
        w.blocks = (m.rows + m.block - 1) // m.block
        w.words = (m.depth + 3) // 4 if m.fours else (m.depth + 1) // 2
        w.left_row = 4 * w.words
        for i in range(INTEGER_WIDTH):
            w.scales[i] = m.scale
        self.tasks = math.prod(stack) * w.blocks
        self.numbers, self.run = w, multiply
        self.scratch_floats = (
            (INTEGER_ROWS + 1 + w.words) * INTEGER_WIDTH + m.block + w.words + m.block * w.words + 3 * SLACK // 4
        )


cdef void multiply(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A block of rows of one matrix."""
    cdef const Work* w = <const Work*> numbers
    cdef const Matrices* m = &w.matrices
    cdef Py_ssize_t first = task % w.blocks * m.block, outer = task // w.blocks, axis, place, column
    cdef Py_ssize_t rows = min(m.block, m.rows - first)
    cdef unsigned char* out = <unsigned char*> memory.arena + m.out + first * m.out_row
    cdef const unsigned char* a = <const unsigned char*> memory.arena + m.a + first * m.a_row
    cdef const unsigned char* b = <const unsigned char*> memory.arena + m.b
    cdef Room room
    for axis in range(AXES - 1, -1, -1):
        place = outer % w.stack[axis]
        outer = outer // w.stack[axis]
        out += place * w.out_stride[axis]
        a += place * w.a_stride[axis]
        b += place * w.b_stride[axis]
    room.sums = <int*> memory.scratch
    room.start = room.sums + INTEGER_ROWS * INTEGER_WIDTH
    room.missing = room.start + INTEGER_WIDTH
    room.ones = <unsigned char*> (room.missing + m.block)
    room.panel = room.ones + w.left_row
    room.left = room.panel + w.words * 4 * INTEGER_WIDTH
    memset(room.ones, 1, w.left_row)
    for place in range(rows):
        spread_row(w, a + place * m.a_row, room.left + place * w.left_row, room.missing + place)
    column = 0
    while column < m.columns:
        multiply_panel(w, b + column * m.b_column, min(<Py_ssize_t> INTEGER_WIDTH, m.columns - column), rows, &room,
                       out + column * (1 if m.to_bytes else 4))
        column += INTEGER_WIDTH


cdef inline void spread_row(const Work* w, const unsigned char* a, unsigned char* left, int* missing) noexcept nogil:
    """A row as the tile reads it, and what is missing in its sums."""
    cdef const Matrices* m = &w.matrices
    cdef int flip = 128 if m.a_signed else 0, total = 0
    cdef Py_ssize_t k, size = 1 if m.fours else 2
    if m.a_depth == 1:
        spread(a, m.a_signed, m.zero_a, m.depth, m.fours, left)
    else:
        for k in range(m.depth):
            spread(a + k * m.a_depth, m.a_signed, m.zero_a, 1, m.fours, left + k * size)
    memset(left + m.depth * size, 0, w.left_row - m.depth * size)
    missing[0] = 0
    if m.fours and behind(m) != 0:
        for k in range(m.depth):
            total += left[k]
        missing[0] = <int> (<unsigned> behind(m) * (<unsigned> total - <unsigned> m.depth * <unsigned> (m.zero_a + flip)))


cdef inline int behind(const Matrices* m) noexcept nogil:
    """What the weights of words of four lack."""
    return -m.zero_b if m.b_signed else 128 - m.zero_b


cdef void multiply_panel(
    const Work* w, const unsigned char* b, Py_ssize_t columns, Py_ssize_t rows, const Room* room, unsigned char* out
) noexcept nogil:
    """All rows times some columns, in tiles that differ by at most one row."""
    cdef const Matrices* m = &w.matrices
    cdef int vectors = <int> ((columns + LANES - 1) // LANES), count, i
    cdef Py_ssize_t tiles = (rows + INTEGER_ROWS - 1) // INTEGER_ROWS, index, row = 0, nowhere = 0
    cdef const unsigned char* source[INTEGER_ROWS]
    cdef unsigned char* target[INTEGER_ROWS]
    cdef IntegerWork tile
    tile.taps, tile.words, tile.offset, tile.weights, tile.start = 1, w.words, &nowhere, room.panel, room.start
    tile.lacking = NULL
    if m.fours:
        pack_fours(w, b, columns, vectors * LANES, room.panel)
    else:
        pack_pairs(w, b, columns, vectors * LANES, <short*> room.panel)
    begin(w, &tile, vectors, room)
    for index in range(tiles):
        count = <int> (rows // tiles + (index < rows % tiles))
        for i in range(count):
            source[i], target[i] = room.left + (row + i) * w.left_row, out + (row + i) * m.out_row
        integer_tile(count, vectors, m.fours, &tile, source, room.sums, NULL)
        if m.fours and behind(m) != 0:
            add_missing(room, row, count)
        if m.to_bytes:
            requantise_tile(count, room.sums, w.scales, columns, m.low, m.high, m.out_zero, target)
        else:
            for i in range(count):
                memcpy(target[i], room.sums + i * INTEGER_WIDTH, 4 * columns)
        row += count


cdef inline void begin(const Work* w, IntegerWork* tile, int vectors, const Room* room) noexcept nogil:
    """What the sums of a panel begin with: a row that keeps its zero point takes it off here."""
    cdef const Matrices* m = &w.matrices
    cdef unsigned less = m.zero_a + (128 if m.a_signed else 0)
    cdef const unsigned char* ones = room.ones
    cdef int i
    for i in range(INTEGER_WIDTH):
        room.start[i] = 0
    if m.fours and less != 0:
        integer_tile(1, vectors, True, tile, &ones, room.sums, NULL)  # the sums of the columns
        for i in range(vectors * LANES):
            room.start[i] = <int> (-less * <unsigned> room.sums[i])


cdef inline void add_missing(const Room* room, Py_ssize_t row, int count) noexcept nogil:
    """To all sums of each row of a tile."""
    cdef int i, j
    cdef unsigned more
    cdef unsigned* sums = <unsigned*> room.sums
    for i in range(count):
        more = <unsigned> room.missing[row + i]
        for j in range(INTEGER_WIDTH):
            sums[i * INTEGER_WIDTH + j] += more


cdef void pack_fours(
    const Work* w, const unsigned char* b, Py_ssize_t columns, Py_ssize_t width, unsigned char* panel
) noexcept nogil:
    """Four numbers of a column are a word."""
    cdef const Matrices* m = &w.matrices
    cdef unsigned char flip = 0 if m.b_signed else 128
    cdef unsigned flips = 0 if m.b_signed else <unsigned> 0x80808080
    cdef Py_ssize_t whole = m.depth // 4, word, j, k
    cdef unsigned number
    cdef unsigned* words = <unsigned*> panel
    cdef const unsigned char* x
    cdef const unsigned char* y
    if columns < width:
        memset(panel, 0, w.words * 4 * width)
    if m.b_column == 1:
        for word in range(whole):
            x, y = b + 4 * word * m.b_depth, b + (4 * word + 2) * m.b_depth
            for j in range(columns):
                number = <unsigned> x[j] | <unsigned> x[j + m.b_depth] << 8 | <unsigned> y[j] << 16 | <unsigned> y[j + m.b_depth] << 24
                words[word * width + j] = number ^ flips
    elif m.b_depth == 1:
        for j in range(columns):
            for word in range(whole):
                memcpy(&number, b + j * m.b_column + 4 * word, 4)
                words[word * width + j] = number ^ flips
    else:
        whole = 0
    if 4 * whole < m.depth:
        memset(panel + 4 * whole * width, 0, 4 * (w.words - whole) * width)
    for k in range(4 * whole, m.depth):
        for j in range(columns):
            panel[4 * (k // 4 * width + j) + k % 4] = b[k * m.b_depth + j * m.b_column] ^ flip


cdef void pack_pairs(
    const Work* w, const unsigned char* b, Py_ssize_t columns, Py_ssize_t width, short* panel
) noexcept nogil:
    """Two numbers of a column, less their zero point, are a word."""
    cdef const Matrices* m = &w.matrices
    cdef int flip = 128 if m.b_signed else 0, less = flip + m.zero_b
    cdef Py_ssize_t j, k
    if columns < width or m.depth % 2:
        memset(panel, 0, w.words * 4 * width)
    for k in range(m.depth):
        for j in range(columns):
            panel[2 * (k // 2 * width + j) + k % 2] = <short> ((b[k * m.b_depth + j * m.b_column] ^ flip) - less)
