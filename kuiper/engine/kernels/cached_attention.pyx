"""Attention of the newest tokens of a text to the whole of it, whose keys and values lie in a session's caches.

    Append    the keys and values of this call, behind those of the calls before
    Attend    out = softmax(scale * q @ keys^T) @ values, each query up to its own position

Where one task has all queries of a group of heads, as when a text is written token by token, Attend appends, too: what it
writes to comes from main memory, and arrives while the older keys are read.

How far the caches are filled is read when the step runs, so one plan serves every position, and no more is read than is
there. Keys and values lie in panels (cache_panels.pxd), so both products are tiles (tile.pxd; for few rows
thin_tile.pxd).

The heads that share keys are rows of one tile: with ``shared`` of them, row ``i * shared + j`` is query i of head j. A
task is one tile of rows: their scores against all keys, the softmax of each row, the mixture of the values.

Source: Vaswani et al., "Attention Is All You Need", 2017; R. Pope et al., "Efficiently Scaling Transformer Inference",
2022 (the cache); Ainslie et al., "GQA", 2023 (shared keys).
"""

from kuiper.engine.blocks cimport copy_exactly, fill
from kuiper.engine.kernels.cache_panels cimport (
    PANEL, Caches, Source, at_head, keys_of, panels_of, put, start_of, values_of
)
from kuiper.engine.kernels.panel_products cimport MOST, multiply, rows_of_task
from kuiper.engine.kernels.score_softmax cimport softmax_row
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES, prefetch_to_write

cdef enum:
    VECTORS = PANEL // LANES  # of a panel

cdef struct Appending:
    Caches caches
    Source key, value

cdef struct Attending:
    Appending appending  # its caches; the rest if it appends
    bint appends
    Source query, out
    Py_ssize_t shared, rows, blocks
    float scale


cdef class Append(Step):
    """See the head of this file.

    Parameters
    ----------
    caches : dict of integers, the fields of Caches
    key, value : where they lie: offset and strides along texts, heads and positions, in floats
    """

    cdef Appending work

    def __init__(self, dict caches, key, value):
        self.work.caches = caches
        self.work.key.first, self.work.key.text, self.work.key.head, self.work.key.position = key
        self.work.value.first, self.work.value.text, self.work.value.head, self.work.value.position = value
        self.tasks = self.work.caches.texts * self.work.caches.groups
        self.numbers, self.run = &self.work, append


cdef void append(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """The keys and values of one head of one text."""
    cdef const Appending* w = <const Appending*> numbers
    cdef const Caches* c = &w.caches
    cdef Py_ssize_t position = start_of(c, memory), i
    cdef float* keys = keys_of(c, task, memory)
    cdef float* values = values_of(c, task, memory)
    cdef const float* key = at_head(&w.key, task // c.groups, task % c.groups, memory)
    cdef const float* value = at_head(&w.value, task // c.groups, task % c.groups, memory)
    for i in range(c.count):
        put(key + i * w.key.position, value + i * w.value.position, c.numbers, position + i, c.capacity, keys, values)


def is_one_task(Py_ssize_t count, Py_ssize_t shared) -> bool:
    """Whether ``count`` queries of each of the ``shared`` heads that share keys are one task."""
    return count * shared <= rows_of_task()


cdef class Attend(Step):
    """See the head of this file.

    Parameters
    ----------
    caches : dict of integers, the fields of Caches
    query, out : where they lie: offset and strides along texts, heads and positions, in floats
    shared : how many heads share keys and values
    scale : of the scores
    appending : what it appends first, if it does: only where a group of heads is one task
    """

    cdef Attending work

    def __init__(self, dict caches, query, out, Py_ssize_t shared, float scale, Append appending=None):
        cdef Attending* w = &self.work
        w.appends = appending is not None
        if w.appends:
            w.appending = appending.work
        w.appending.caches = caches
        w.query.first, w.query.text, w.query.head, w.query.position = query
        w.out.first, w.out.text, w.out.head, w.out.position = out
        w.shared, w.scale = shared, scale
        w.rows = w.appending.caches.count * shared
        w.blocks = (w.rows + rows_of_task() - 1) // rows_of_task()
        self.tasks = w.appending.caches.texts * w.appending.caches.groups * w.blocks
        self.numbers, self.run = w, attend
        # for each row its scores, its query and what comes out; a row of zeros; the pointers to queries and to targets
        numbers = w.appending.caches.numbers
        self.scratch_floats = MOST * (width_of(&w.appending.caches) + numbers + PANEL * (1 + panels_of(numbers)))
        self.scratch_floats += PANEL + 2 * MOST * (sizeof(void*) // sizeof(float))


cdef void attend(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of the heads that share keys, in one text."""
    cdef const Attending* w = <const Attending*> numbers
    cdef const Caches* c = &w.appending.caches
    cdef Py_ssize_t group = task // w.blocks, block = task % w.blocks
    cdef Py_ssize_t first = block * w.rows // w.blocks, end = (block + 1) * w.rows // w.blocks
    cdef int rows = <int> (end - first), i
    cdef Py_ssize_t width = width_of(c), mixed = PANEL * panels_of(c.numbers), position = start_of(c, memory), e
    cdef Py_ssize_t seen = position + (end - 1) // w.shared + 1  # by the last of the rows
    cdef Py_ssize_t panels = panels_of(seen)
    cdef Py_ssize_t ready = position // PANEL if w.appends else panels  # panels of keys that nothing is added to
    cdef float* keys = keys_of(c, group, memory)
    cdef float* values = values_of(c, group, memory)
    cdef const float* following = keys_of(c, min(group + 1, c.texts * c.groups - 1), memory)
    cdef float* scores = memory.scratch
    cdef float* queries = scores + MOST * width
    cdef float* results = queries + MOST * (c.numbers + PANEL)
    cdef float* zeros = results + MOST * mixed
    cdef const float** pointers = <const float**> (zeros + PANEL)
    cdef float** targets = <float**> (pointers + MOST)
    cdef const float* query
    cdef float* out
    if w.appends:
        expect(c, group, memory)
    fill(zeros, 0, VECTORS)
    for i in range(rows):
        query = row_of(&w.query, w, group, first + i, memory)
        for e in range(c.numbers):
            queries[i * c.numbers + e] = w.scale * query[e]
        pointers[i], targets[i] = queries + i * c.numbers, scores + i * width
    multiply(rows, keys, c.numbers, 0, ready, c.numbers * PANEL, values, c.capacity * PANEL, zeros, pointers, targets)
    if w.appends:
        append(&w.appending, group, memory)
        multiply(
            rows, keys, c.numbers, ready, panels, c.numbers * PANEL, values, c.capacity * PANEL, zeros, pointers,
            targets,
        )
    for i in range(rows):
        softmax_row(scores + i * width, 0, position + (first + i) // w.shared + 1, panels * PANEL)
        pointers[i], targets[i] = scores + i * width, results + i * mixed
    multiply(
        rows, values, seen, 0, panels_of(c.numbers), c.capacity * PANEL, following, seen * PANEL, zeros, pointers,
        targets,
    )
    for i in range(rows):
        out = row_of(&w.out, w, group, first + i, memory)
        copy_exactly(results + i * mixed, out, c.numbers)


cdef void expect(const Caches* c, Py_ssize_t group, const Memory* memory) noexcept nogil:
    """Ask for what ``append`` writes to: without, the tile would wait for each line of the new keys' panels."""
    cdef Py_ssize_t position = start_of(c, memory), first = position // PANEL * c.numbers, column, at
    cdef float* keys = keys_of(c, group, memory)
    cdef float* values = values_of(c, group, memory)
    for at in range(first, panels_of(position + c.count) * c.numbers):
        prefetch_to_write(keys + at * PANEL)
    for column in range(panels_of(c.numbers)):
        for at in range(position, position + c.count):
            prefetch_to_write(values + (column * c.capacity + at) * PANEL)


cdef inline Py_ssize_t width_of(const Caches* c) noexcept nogil:
    """Floats from one row of scores to the next; some more than a power of two, or rows would share cache sets."""
    return (panels_of(c.capacity) + 1) * PANEL


cdef inline float* row_of(
    const Source* s, const Attending* w, Py_ssize_t group, Py_ssize_t row, const Memory* memory
) noexcept nogil:
    """Where the query, or the result, of a row begins."""
    cdef Py_ssize_t groups = w.appending.caches.groups, text = group // groups
    cdef Py_ssize_t head = group % groups * w.shared + row % w.shared
    return at_head(s, text, head, memory) + row // w.shared * s.position
