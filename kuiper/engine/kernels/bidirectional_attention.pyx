"""Attention of every row to all rows of its text, where the rows of texts lie one behind the other.

    rows     a a a a a | b b | c c c c c c c c | . .        the last two pad the call: they become zeros
    task 1  [= = = =]                                       some neighbours, of one head
    task 2          [=   = =   =]                           here the last row of a, all of b, the first one of c

A task goes through its rows text by text: their scores against all keys of the text, the softmax of each, the mixture of
the values. Nothing is computed for pairs of different texts, and a short text beside a long one costs what it is. What a
row gets depends on its own text alone, bit by bit: not on the rows beside it, and not on where tasks are cut.

Which text a row belongs to is read when the step runs, so one plan serves every mixture of lengths.

Source: A. Vaswani et al., "Attention Is All You Need", 2017; M. Krell et al., "Efficient Sequence Packing without
Cross-contamination", 2021 (several texts in one sequence).
"""

from kuiper.engine.blocks cimport copy_exactly
from kuiper.engine.kernels.row_products cimport Rows, mix_values, multiply_keys, panel_floats
from kuiper.engine.kernels.score_softmax cimport SUMS, softmax_row
from kuiper.engine.step cimport Memory, Step

cdef enum:
    MOST = 64  # rows of a task

cdef struct Geometry:
    Py_ssize_t texts  # binding: the number of each row's text, or -1; -1: the rows of a matrix are one text
    Py_ssize_t matrices, heads, count, numbers

cdef struct Place:
    Py_ssize_t first, text, head, position  # where it begins in the arena, and its strides, in floats

cdef struct Attending:
    Geometry geometry
    Place query, key, value, out
    float scale
    Rows rows
    Py_ssize_t blocks, most, width, mixed  # of a matrix; rows of a block; floats from row to row of scores, of mixtures


cdef class AttendInTexts(Step):
    """See the head of this file.

    Parameters
    ----------
    geometry : dict of integers, the fields of Geometry
    query, key, value, out : where they lie: offset and strides along matrices, heads and rows, in floats
    scale : of the scores
    panels : the vectors of a panel of keys, and of one of values
    """

    cdef Attending work

    def __init__(self, dict geometry, query, key, value, out, float scale, panels):
        cdef Attending* w = &self.work
        cdef Geometry* g = &w.geometry
        g[0] = geometry
        w.query.first, w.query.text, w.query.head, w.query.position = query
        w.key.first, w.key.text, w.key.head, w.key.position = key
        w.value.first, w.value.text, w.value.head, w.value.position = value
        w.out.first, w.out.text, w.out.head, w.out.position = out
        w.scale = scale
        w.rows.numbers, w.rows.key_row, w.rows.value_row = g.numbers, w.key.position, w.value.position
        w.rows.key_vectors, w.rows.value_vectors = panels
        w.blocks = (g.count + MOST - 1) // MOST
        w.most = (g.count + w.blocks - 1) // w.blocks
        w.width = (g.count + SUMS - 1) // SUMS * SUMS + SUMS  # and not a power of two, or rows would share cache sets
        w.mixed = (g.numbers + SUMS - 1) // SUMS * SUMS
        self.tasks = g.matrices * g.heads * w.blocks
        self.numbers, self.run = w, attend
        self.scratch_floats = w.most * (w.width + w.mixed) + panel_floats(g.numbers)


cdef void attend(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of one head, text by text."""
    cdef const Attending* w = <const Attending*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t head = task // w.blocks, block = task % w.blocks
    cdef Py_ssize_t row = block * g.count // w.blocks, end = (block + 1) * g.count // w.blocks, first = 0, last, i
    cdef const long long* texts = NULL
    if g.texts >= 0:
        texts = <const long long*> memory.bindings[g.texts]
        first = row
        while first > 0 and texts[first - 1] == texts[row]:
            first -= 1
    while row < end:
        last = g.count if texts == NULL else row + 1
        while last < g.count and texts[last] == texts[row]:
            last += 1
        if texts == NULL or texts[row] >= 0:
            attend_rows(w, head, row, min(end, last), first, last, memory)
        else:
            for i in range(row, min(end, last)):
                zero(at_row(&w.out, g, head, i, memory), g.numbers)
        row = first = last


cdef void attend_rows(
    const Attending* w, Py_ssize_t head, Py_ssize_t row, Py_ssize_t end, Py_ssize_t first, Py_ssize_t last,
    const Memory* memory,
) noexcept nogil:
    """Rows ``row`` to ``end`` of a text that is rows ``first`` to ``last``."""
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t rows = end - row, seen = last - first, i, e
    cdef float* scores = memory.scratch
    cdef float* mixed = scores + w.most * w.width  # the queries at first
    cdef float* panel = mixed + w.most * w.mixed
    cdef const float* query
    for i in range(rows):
        query = at_row(&w.query, g, head, row + i, memory)
        for e in range(g.numbers):
            mixed[i * w.mixed + e] = w.scale * query[e]
    multiply_keys(
        &w.rows, at_row(&w.key, g, head, first, memory), seen, rows, mixed, w.mixed, scores, w.width, panel,
    )
    for i in range(rows):
        softmax_row(scores + i * w.width, 0, seen, seen)
    mix_values(
        &w.rows, at_row(&w.value, g, head, first, memory), seen, rows, scores, w.width, mixed, w.mixed, panel,
    )
    for i in range(rows):
        copy_exactly(mixed + i * w.mixed, at_row(&w.out, g, head, row + i, memory), g.numbers)


cdef inline void zero(float* out, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        out[i] = 0


cdef inline float* at_row(
    const Place* p, const Geometry* g, Py_ssize_t head, Py_ssize_t row, const Memory* memory
) noexcept nogil:
    """Where a row of a head begins; heads are counted through all matrices."""
    return memory.arena + p.first + head // g.heads * p.text + head % g.heads * p.head + row * p.position
