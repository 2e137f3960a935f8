"""Attention of the rows of a step, tokens of many texts, to what lies in each text's pages (graph/paged_state.py).

    AppendToPages    the key and the value of each row, to its place in a page of its text
    AttendToPages    out = softmax(scale * q @ keys^T) @ values, each row over its own text up to its own position

A page of a group of heads is a small cache: panels of keys, panels of values (cache_panels.pxd). A task is a group of
heads and a few rows of the step. Neighbours that are neighbours in one text, a piece of a prompt, are multiplied
together: the heads that share keys, of all these rows, are the rows of one tile.

The softmax is computed on the way, page by page, with a running maximum and a running sum:

    page k gives scores s; m' = max(m, max s), f = e**(m - m'), p = e**(s - m')
    sum' = f * sum + sum(p),  out' = f * out + p @ values;     in the end out / sum

So a row needs memory for the scores of one page only. What a row gets depends on its own text up to its own position,
page by page, and on nothing else: not on the rows beside it, on the pages' numbers, or on what a page held before.

Pages may hold bytes (byte_panels.pxd): a task makes floats of those of a page, for all of its rows.

Source: M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018; T. Dao et al., "FlashAttention",
2022; W. Kwon et al., "PagedAttention", 2023.
"""

from libc.math cimport INFINITY

from kuiper.engine.blocks cimport copy_exactly, fill
from kuiper.engine.kernels.byte_panels cimport keys_in_floats, put_bytes, scale_each, values_in_floats
from kuiper.engine.kernels.cache_panels cimport PANEL, Source, at_head, panels_of, put
from kuiper.engine.kernels.pages cimport Page, Pages, floats_of_bytes, integers, page_of
from kuiper.engine.kernels.panel_products cimport MOST, multiply, rows_of_task
from kuiper.engine.step cimport Memory, Step
from kuiper.simd.functions cimport exp_up_to
from kuiper.simd.sums cimport PARTS, Sums, largest, sums_of, total
from kuiper.simd.vector cimport LANES, at_least, fma_of_one, load, splat, store, vec

cdef enum:
    APPENDED = 16  # rows of a task that appends

cdef struct Appending:
    Pages pages
    Source key, value

cdef struct Attending:
    Pages pages
    Source query, out
    Py_ssize_t shared, rows, blocks  # heads that share keys; rows of a task; tasks of a group of heads
    float scale

# Where the rows of one product are, and what is known of them.
cdef struct Running:
    float* scores[MOST]  # (page_size,)
    float* sums[MOST]  # (numbers in panels,): of all pages so far
    float* mixed[MOST]  # of this page
    const float* queries[MOST]
    const float* weights[MOST]  # the scores, as factors of the values
    float most[MOST]  # the highest score so far
    float total[MOST]


cdef class AppendToPages(Step):
    """See the head of this file.

    Parameters
    ----------
    pages : dict of integers, the fields of Pages
    key, value : where they lie: offset and strides along texts, heads and rows, in floats
    """

    cdef Appending work

    def __init__(self, dict pages, key, value):
        self.work.pages = pages
        self.work.key.first, self.work.key.text, self.work.key.head, self.work.key.position = key
        self.work.value.first, self.work.value.text, self.work.value.head, self.work.value.position = value
        self.tasks = (self.work.pages.count + APPENDED - 1) // APPENDED
        self.numbers, self.run = &self.work, append


cdef void append(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """The keys and values of some rows."""
    cdef const Appending* w = <const Appending*> numbers
    cdef const Pages* p = &w.pages
    cdef Py_ssize_t row, group, at, end = min(p.count, (task + 1) * APPENDED), size = p.page_size
    cdef const float* key
    cdef const float* value
    cdef Page page
    for row in range(task * APPENDED, end):
        if integers(p.texts, memory)[row] < 0:
            continue
        at = integers(p.positions, memory)[row]
        for group in range(p.groups):
            key = at_head(&w.key, 0, group, memory) + row * w.key.position
            value = at_head(&w.value, 0, group, memory) + row * w.value.position
            page = page_of(p, row, group, at // size, memory)
            if p.in_bytes:
                put_bytes(
                    key, value, p.numbers, at % size, size, <signed char*> page.keys, <signed char*> page.values,
                    page.key_scales, page.value_scales,
                )
            else:
                put(key, value, p.numbers, at % size, size, <float*> page.keys, <float*> page.values)


cdef class AttendToPages(Step):
    """See the head of this file.

    Parameters
    ----------
    pages : dict of integers, the fields of Pages
    query, out : where they lie: offset and strides along texts, heads and rows, in floats
    shared : how many heads share keys and values
    scale : of the scores
    """

    cdef Attending work

    def __init__(self, dict pages, query, out, Py_ssize_t shared, float scale):
        cdef Attending* w = &self.work
        w.pages = pages
        w.query.first, w.query.text, w.query.head, w.query.position = query
        w.out.first, w.out.text, w.out.head, w.out.position = out
        w.shared, w.scale = shared, scale
        w.rows = max(1, rows_of_task() // shared)
        w.blocks = (w.pages.count + w.rows - 1) // w.rows
        self.tasks = w.pages.groups * w.blocks
        self.numbers, self.run = w, attend
        # for each row of a product its scores, its query, two mixtures of values; a row of zeros
        numbers = w.pages.numbers
        self.scratch_floats = MOST * (width_of(&w.pages) + numbers + 2 * PANEL * panels_of(numbers)) + PANEL
        self.scratch_floats += floats_of_bytes(&w.pages)


cdef void attend(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of the step, for the heads that share keys: each run of neighbours in one text by itself."""
    cdef const Attending* w = <const Attending*> numbers
    cdef const long long* texts = integers(w.pages.texts, memory)
    cdef const long long* positions = integers(w.pages.positions, memory)
    cdef Py_ssize_t group = task // w.blocks, block = task % w.blocks, heads = w.shared, j
    cdef Py_ssize_t row = block * w.rows, end = min(w.pages.count, row + w.rows), last, head, most = rows_of_task()
    while row < end:
        last = row + 1
        while last < end and texts[last] == texts[row] and positions[last] == positions[last - 1] + 1:
            last += 1
        if texts[row] < 0:
            clear(w, group, row, last, memory)
        else:
            head = 0
            while head < heads:  # more heads than a tile has rows share keys in few models only
                j = min(heads - head, most)
                attend_run(w, group, row, last, head, j, memory)
                head += j
        row = last


cdef void clear(
    const Attending* w, Py_ssize_t group, Py_ssize_t first, Py_ssize_t end, const Memory* memory
) noexcept nogil:
    """Zeros for rows in no text: what pads a step is to have no NaN, which would slow down what follows."""
    cdef Py_ssize_t row, head, e
    cdef float* out
    for row in range(first, end):
        for head in range(group * w.shared, (group + 1) * w.shared):
            out = at_head(&w.out, 0, head, memory) + row * w.out.position
            for e in range(w.pages.numbers):
                out[e] = 0


cdef void attend_run(
    const Attending* w, Py_ssize_t group, Py_ssize_t first, Py_ssize_t end, Py_ssize_t head, Py_ssize_t heads,
    const Memory* memory,
) noexcept nogil:
    """Rows ``first`` to ``end``, neighbours in one text, for ``heads`` of the heads that share keys."""
    cdef const Pages* p = &w.pages
    cdef Py_ssize_t columns = panels_of(p.numbers), width = width_of(p), page, seen, position, start, e
    cdef Py_ssize_t last = integers(p.positions, memory)[end - 1]
    cdef int rows = <int> ((end - first) * heads), i
    cdef float* zeros = memory.scratch
    cdef float* near = zeros + PANEL
    cdef float* at = near + floats_of_bytes(p)
    cdef const float* query
    cdef const float* keys
    cdef const float* values
    cdef Page here, behind
    cdef Running r
    fill(zeros, 0, PANEL // LANES)
    for i in range(rows):
        r.scores[i] = at
        r.sums[i] = at + width
        r.mixed[i] = r.sums[i] + PANEL * columns
        r.queries[i], r.weights[i] = r.mixed[i] + PANEL * columns, r.scores[i]
        at += width + 2 * PANEL * columns + p.numbers
        query = at_head(&w.query, 0, group * w.shared + head + i % heads, memory)
        query = query + (first + i // heads) * w.query.position
        for e in range(p.numbers):
            (<float*> r.queries[i])[e] = w.scale * query[e]
        fill(r.sums[i], 0, columns * (PANEL // LANES))
        r.most[i], r.total[i] = -INFINITY, 0
    for page in range(last // p.page_size + 1):
        start = page * p.page_size
        seen = min(p.page_size, last + 1 - start)
        here = page_of(p, first, group, page, memory)
        behind = page_of(p, first, group, page + 1, memory) if start + seen <= last else here
        keys, values = <const float*> here.keys, <const float*> here.values
        if p.in_bytes:  # near: the keys as floats, then the values
            keys = values = near
            keys_in_floats(<const signed char*> here.keys, p.numbers, seen, <const signed char*> here.values, near)
        multiply(rows, keys, p.numbers, 0, panels_of(seen), p.numbers * PANEL, values, p.page_size * PANEL, zeros,
                 r.queries, r.scores)
        for i in range(rows):
            position = integers(p.positions, memory)[first + i // heads]
            if p.in_bytes:
                scale_each(r.scores[i], here.key_scales, panels_of(seen))
            go_on(&r, i, position + 1 - start, seen, columns)
            if p.in_bytes:
                scale_each(r.scores[i], here.value_scales, panels_of(seen))
        if p.in_bytes:
            values_in_floats(
                <const signed char*> here.values, p.numbers, seen, p.page_size, <const signed char*> behind.keys, near
            )
        else:
            keys = <const float*> behind.keys
        multiply(rows, values, seen, 0, columns, p.page_size * PANEL, keys, p.numbers * PANEL, zeros, r.weights,
                 r.mixed)
        for i in range(rows):
            add(r.mixed[i], r.sums[i], columns)
    for i in range(rows):
        divide(r.sums[i], r.total[i], columns)
        at = at_head(&w.out, 0, group * w.shared + head + i % heads, memory) + (first + i // heads) * w.out.position
        copy_exactly(r.sums[i], at, p.numbers)


cdef inline void go_on(Running* r, int i, Py_ssize_t seen, Py_ssize_t end, Py_ssize_t columns) noexcept nogil:
    """The scores of a page, of which row ``i`` sees the first ``seen``, become factors of its values; 0 up to ``end``.

    What the pages before gave is scaled to the new maximum.
    """
    cdef float* x = r.scores[i]
    cdef Py_ssize_t panels = panels_of(end), k, v
    cdef Sums top = sums_of(-INFINITY), added = sums_of(0)
    cdef vec e, highest, factor
    cdef float most
    if seen <= 0:
        for k in range(panels * PARTS):
            store(x + k * LANES, splat(0))
        return
    for k in range(seen, panels * PANEL):  # they change neither maximum nor sum, and become 0
        x[k] = -INFINITY
    for k in range(panels):
        for v in range(PARTS):
            top.part[v] = at_least(load(x + k * PANEL + v * LANES), top.part[v])
    most = largest(top)
    most = r.most[i] if r.most[i] > most else most
    highest = splat(most)
    for k in range(panels):
        for v in range(PARTS):
            e = exp_up_to(load(x + k * PANEL + v * LANES) - highest)
            store(x + k * PANEL + v * LANES, e)
            added.part[v] = added.part[v] + e
    factor = exp_up_to(splat(r.most[i]) - highest)
    for k in range(columns * PARTS):
        store(r.sums[i] + k * LANES, load(r.sums[i] + k * LANES) * factor)
    r.total[i] = fma_of_one(r.total[i], first_of(factor), total(added))
    r.most[i] = most


cdef inline float first_of(vec x) noexcept nogil:
    """The first lane."""
    cdef float lanes[LANES]
    store(lanes, x)
    return lanes[0]


cdef inline void add(const float* x, float* out, Py_ssize_t columns) noexcept nogil:
    """out += x, panels of numbers."""
    cdef Py_ssize_t k
    for k in range(columns * PARTS):
        store(out + k * LANES, load(out + k * LANES) + load(x + k * LANES))


cdef inline void divide(float* x, float by, Py_ssize_t columns) noexcept nogil:
    """x /= by, panels of numbers."""
    cdef vec factor = splat(1 / by)
    cdef Py_ssize_t k
    for k in range(columns * PARTS):
        store(x + k * LANES, load(x + k * LANES) * factor)


cdef inline Py_ssize_t width_of(const Pages* p) noexcept nogil:
    """Floats from one row of scores to the next; some more than a power of two, or rows would share cache sets."""
    return p.page_size + PANEL
