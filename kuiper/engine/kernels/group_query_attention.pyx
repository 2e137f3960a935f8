"""Attention of groups of heads to one head of keys each, behind a past that the caller keeps.

    JoinPast    past up to a text's start | what is new, turned to its positions | zeros      -> present keys and values
    AttendPast  out = softmax(scale * q @ keys^T) @ values, each query up to its own position

Past and present lie outside of the arena: a long past is copied once, from where it is to where it goes. How long each
text is, is read when a step runs.

The heads that share keys are rows of one product: with ``shared`` of them, row ``i * shared + j`` is query i of head j. A
task is a block of rows. It packs what its rows see, panel by panel, and multiplies all its rows with the panel while
that is near; keys behind its last row are not looked at, nor those in front of a window:

    keys       0   low        last   size
    block 0    . . [==]. . . . . . .  .
    block 1    . . . .[====]. . . . . .

A number that the plan was not made for, such as a length beyond the present, sets the flag ``error_flag`` and counts as a
text without a past; the caller sees the flag after the run and asks the layer.

Source: Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models", 2023; onnxruntime, ContribOperators.md.
"""

from kuiper.engine.blocks cimport copy_exactly
from kuiper.engine.kernels.kept_past cimport OTHER_NUMBERS, Geometry, Place, start_of, turn
from kuiper.engine.kernels.row_products cimport Rows, mix_values, multiply_keys, panel_floats
from kuiper.engine.kernels.score_softmax cimport SUMS, softmax_row
from kuiper.engine.step cimport Memory, Step

cdef enum:
    FEWEST = 64, MOST = 256  # rows of a block
    NEAR = 1 << 16  # scores of a block

OTHER_NUMBERS_FLAG = OTHER_NUMBERS

cdef struct Joining:
    Geometry geometry
    Place key, value

cdef struct Attending:
    Geometry geometry
    Place query, out
    float scale
    Rows packing
    Py_ssize_t rows, blocks, most, width  # rows of a group; of a block, at most; floats from row to row of scores


cdef class JoinPast(Step):
    """See the head of this file.

    Parameters
    ----------
    geometry : dict of integers, the fields of Geometry
    key, value : where they lie: offset and strides along texts, heads and positions, in floats
    """

    cdef Joining work

    def __init__(self, dict geometry, key, value):
        self.work.geometry = geometry
        self.work.key.first, self.work.key.text, self.work.key.head, self.work.key.position = key
        self.work.value.first, self.work.value.text, self.work.value.head, self.work.value.position = value
        self.tasks = 2 * self.work.geometry.texts * self.work.geometry.groups
        self.numbers, self.run = &self.work, join


cdef void join(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """The present keys, or values, of one head of one text."""
    cdef const Joining* w = <const Joining*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t group = task // 2, text = group // g.groups, start = start_of(g, text, memory), i
    cdef bint is_key = task % 2 == 0
    cdef const Place* place = &w.key if is_key else &w.value
    cdef const float* past = memory.bindings[g.past_keys if is_key else g.past_values] + group * g.room * g.numbers
    cdef float* present = memory.bindings[g.keys if is_key else g.values] + group * g.size * g.numbers
    cdef const float* new = memory.arena + place.first + text * place.text + group % g.groups * place.head
    if start:
        copy_exactly(past, present, start * g.numbers)
    for i in range(start, start + g.count):
        if is_key and g.pairs:
            turn(g, new, present + i * g.numbers, i, memory)
        else:
            copy_exactly(new, present + i * g.numbers, g.numbers)
        new += place.position
    for i in range((start + g.count) * g.numbers, g.size * g.numbers):
        present[i] = 0


cdef class AttendPast(Step):
    """See the head of this file.

    Parameters
    ----------
    geometry : dict of integers, the fields of Geometry
    query, out : where they lie: offset and strides along texts, heads and positions, in floats
    scale : of the scores
    panels : the vectors of a panel of keys, and of one of values
    """

    cdef Attending work

    def __init__(self, dict geometry, query, out, float scale, panels):
        cdef Attending* w = &self.work
        cdef Geometry* g = &w.geometry
        g[0] = geometry
        w.query.first, w.query.text, w.query.head, w.query.position = query
        w.out.first, w.out.text, w.out.head, w.out.position = out
        w.scale = scale
        w.packing.numbers = w.packing.key_row = w.packing.value_row = g.numbers
        w.packing.key_vectors, w.packing.value_vectors = panels
        w.rows = g.count * g.shared
        w.blocks = (w.rows + rows_of_block(g.size) - 1) // rows_of_block(g.size)
        w.most = (w.rows + w.blocks - 1) // w.blocks
        w.width = (g.size + SUMS - 1) // SUMS * SUMS + SUMS  # and not a power of two, or rows would share cache sets
        self.tasks = g.texts * g.groups * w.blocks
        self.numbers, self.run = w, attend
        self.scratch_floats = w.most * (w.width + g.numbers) + panel_floats(g.numbers)


cdef inline Py_ssize_t rows_of_block(Py_ssize_t size) noexcept nogil:
    return min(max(<Py_ssize_t> FEWEST, NEAR // size), <Py_ssize_t> MOST)


cdef void attend(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A block of the rows that share keys, in one text."""
    cdef const Attending* w = <const Attending*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t group = task // w.blocks, block = task % w.blocks, start = start_of(g, group // g.groups, memory)
    cdef Py_ssize_t first = block * w.rows // w.blocks, rows = (block + 1) * w.rows // w.blocks - first, i, seen, at
    cdef const float* keys
    cdef const float* values
    cdef Py_ssize_t last = start + (first + rows - 1) // g.shared + 1
    cdef Py_ssize_t low = max(<Py_ssize_t> 0, start + first // g.shared + 1 - g.window) if g.window else 0
    cdef float* scores = memory.scratch
    cdef float* queries = scores + w.most * w.width
    cdef float* panel = queries + w.most * g.numbers
    for i in range(rows):
        take_query(w, group, first + i, start, queries + i * g.numbers, memory)
    keys, values = memory.bindings[g.keys], memory.bindings[g.values]
    at = (group * g.size + low) * g.numbers
    multiply_keys(&w.packing, keys + at, last - low, rows, queries, g.numbers, scores, w.width, panel)
    for i in range(rows):
        seen = start + (first + i) // g.shared + 1 - low
        softmax_row(
            scores + i * w.width, max(<Py_ssize_t> 0, seen - g.window) if g.window else 0, seen, last - low,
        )
    mix_values(&w.packing, values + at, last - low, rows, scores, w.width, queries, g.numbers, panel)
    for i in range(rows):
        copy_exactly(queries + i * g.numbers, row_of(&w.out, g, group, first + i, memory), g.numbers)


cdef inline float* row_of(
    const Place* p, const Geometry* g, Py_ssize_t group, Py_ssize_t row, const Memory* memory
) noexcept nogil:
    """Where the query, or the result, of a row begins."""
    cdef Py_ssize_t head = group % g.groups * g.shared + row % g.shared
    return memory.arena + p.first + group // g.groups * p.text + head * p.head + row // g.shared * p.position


cdef inline void take_query(
    const Attending* w, Py_ssize_t group, Py_ssize_t row, Py_ssize_t start, float* out, const Memory* memory
) noexcept nogil:
    """The query of a row, turned and scaled."""
    cdef const Geometry* g = &w.geometry
    cdef const float* query = row_of(&w.query, g, group, row, memory)
    cdef Py_ssize_t e
    if g.pairs:
        turn(g, query, out, start + row // g.shared, memory)
    else:
        copy_exactly(query, out, g.numbers)
    for e in range(g.numbers):
        out[e] *= w.scale
