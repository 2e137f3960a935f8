"""Softmax and log-softmax along one axis of a strided value.

    softmax(x)_k = e**(x_k - m) / s,    log_softmax(x)_k = x_k - m - ln s,    m = max_j x_j,   s = sum_j e**(x_j - m)

The largest term is e**0 = 1: nothing overflows. Where the axis lies in memory decides how it is done:

    contiguous (attention, classes): row by row        strided (an image over its rows): a vector of neighbours
      [x x x x|x x x x|x x x x|x x . .]                  [x x x x]x x x x      each lane is a softmax of its own, with
       '-- lanes share m and s ------'                   [x x x x]x x x x      its own m and s
                                                         [x x x x]x x x x

The last vector of a row is filled up with -inf, whose exponential is 0. A row with NaN or +inf in it, or with nothing but
-inf, becomes NaN throughout, as in torch. With ``zeros``, a contiguous row with nothing but -inf becomes zeros, as in
torch's attention.

Source: M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018, section 2 (the safe softmax).
"""

import math

from libc.math cimport INFINITY, log

from kuiper.engine.arrangement import arranged

from kuiper.engine.blocks cimport Lines, copy_exactly, find_line
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.functions cimport exp_up_to
from kuiper.simd.sums cimport PARTS, Sums, largest, sums_of, total
from kuiper.simd.vector cimport LANES, at_least, load, splat, store, vec, with_rest

cdef enum:
    GRAIN = 8192  # numbers of a task
    GROUP = 2048, MAX_ROWS = 16  # numbers and rows that are in work at a time: they stay in the first-level cache

cdef struct Geometry:
    Py_ssize_t source, target  # offsets into the arena, in floats
    Py_ssize_t size, source_stride, target_stride  # of the axis
    bint logarithm, zeros

cdef struct Work:
    Geometry geometry
    Lines lines  # all other axes
    Py_ssize_t columns, strips  # of the last of them, and how many vectors they are, if that is what vectors go along
    Py_ssize_t tasks


cdef class Softmax(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry; the target may be the source.

    Parameters
    ----------
    numbers : dict of integers
    shape, source_strides, target_strides : the other axes
    """

    cdef Work work

    def __init__(self, dict numbers, shape, source_strides, target_strides):
        cdef Work* w = &self.work
        cdef Geometry* g = &w.geometry
        g[0] = numbers
        plan = arranged(shape, [target_strides, source_strides], 1, MAX_NDIM, LANES)
        w.lines = {"count": 0, "shape": plan.shape, "target": plan.strides[0], "source": plan.strides[1]}
        count = math.prod(shape)
        w.columns = w.strips = 1
        self.run = rows
        if g.source_stride != 1 or g.target_stride != 1:
            self.run = columns
            if w.lines.source[MAX_NDIM - 1] == w.lines.target[MAX_NDIM - 1] == 1:  # if not: one column at a time
                w.columns = w.lines.shape[MAX_NDIM - 1]
                w.strips = (w.columns + LANES - 1) // LANES
                w.lines.shape[MAX_NDIM - 1] = 1
        w.lines.count = count // w.columns
        w.tasks = self.tasks = min(w.lines.count * w.strips, (count * g.size + GRAIN - 1) // GRAIN)
        self.numbers = w
        self.scratch_floats = LANES


cdef void rows(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A range of rows, a group at a time: the maxima of all, then their terms, then the quotients.

    Each of the three needs the whole of the one before. With other rows in between, nothing waits.
    """
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t index = task * w.lines.count // w.tasks, end = (task + 1) * w.lines.count // w.tasks
    cdef Py_ssize_t group, i, source, target
    cdef const float* x[MAX_ROWS]
    cdef float* y[MAX_ROWS]
    cdef float top[MAX_ROWS]  # the largest number, and then what to multiply with
    while index < end:
        group = min(max(<Py_ssize_t> 1, GROUP // g.size), min(<Py_ssize_t> MAX_ROWS, end - index))
        for i in range(group):
            source, target = g.source, g.target
            find_line(&w.lines, index + i, &source, &target)
            x[i], y[i] = memory.arena + source, memory.arena + target
            top[i] = largest_of(x[i], g.size)
        for i in range(group):
            if g.logarithm:
                log_row(x[i], y[i], g.size, top[i], memory.scratch)
            elif g.zeros and is_empty(x[i], g.size, top[i]):
                fill_zeros(y[i], g.size)
                top[i] = 1
            else:
                top[i] = exp_row(x[i], y[i], g.size, top[i], memory.scratch)
        if not g.logarithm:
            for i in range(group):
                scale_row(y[i], g.size, top[i], memory.scratch)
        index += group


cdef inline float largest_of(const float* x, Py_ssize_t size) noexcept nogil:
    """The maximum of a row; NaN may be passed over, as the sum is NaN anyway."""
    cdef Py_ssize_t whole = size // LANES, i
    cdef vec a = last_vector(x, size), b = a
    cdef Sums both
    for i in range(whole // 2):
        a = at_least(load(x + 2 * i * LANES), a)
        b = at_least(load(x + (2 * i + 1) * LANES), b)
    if whole % 2:
        a = at_least(load(x + (whole - 1) * LANES), a)
    both = sums_of(-INFINITY)
    both.part[0] = at_least(a, b)
    return largest(both)


cdef inline bint is_empty(const float* x, Py_ssize_t size, float top) noexcept nogil:
    """Whether a row has nothing but -inf; its maximum tells unless there is NaN in it."""
    cdef Py_ssize_t i
    if top != -INFINITY:
        return False
    for i in range(size):
        if x[i] != -INFINITY:
            return False
    return True


cdef inline void fill_zeros(float* y, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        y[i] = 0


cdef inline vec last_vector(const float* x, Py_ssize_t size) noexcept nogil:
    """The numbers behind the last whole vector, and -inf."""
    return with_rest(x + size // LANES * LANES, size % LANES, -INFINITY)


cdef inline void put_last(float* y, Py_ssize_t size, vec last, float* buffer) noexcept nogil:
    """Write the numbers behind the last whole vector."""
    store(buffer, last)
    copy_exactly(buffer, y + size // LANES * LANES, size % LANES)


cdef inline float exp_row(
    const float* x, float* y, Py_ssize_t size, float top, float* buffer
) noexcept nogil:
    """y = e**(x - top); the answer is 1 over their sum."""
    cdef Py_ssize_t i = 0, v
    cdef Sums added = sums_of(0)
    cdef vec e, last = exp_up_to(last_vector(x, size) - top)
    while i + 16 <= size:
        for v in range(PARTS):
            e = exp_up_to(load(x + i + v * LANES) - top)
            store(y + i + v * LANES, e)
            added.part[v] = added.part[v] + e
        i += 16
    for v in range(PARTS):
        if i + LANES <= size:
            e = exp_up_to(load(x + i) - top)
            store(y + i, e)
            added.part[v] = added.part[v] + e
        elif i < size:
            added.part[v] = added.part[v] + last
            put_last(y, size, last, buffer)
        i += LANES
    return 1 / total(added)


cdef inline void scale_row(float* y, Py_ssize_t size, float factor, float* buffer) noexcept nogil:
    """y times a number."""
    cdef Py_ssize_t i
    for i in range(size // LANES):
        store(y + i * LANES, load(y + i * LANES) * factor)
    if size % LANES:
        put_last(y, size, load(y + size // LANES * LANES) * factor, buffer)


cdef inline void log_row(
    const float* x, float* y, Py_ssize_t size, float top, float* buffer
) noexcept nogil:
    """y = x - top - ln(sum of e**(x - top))."""
    cdef Py_ssize_t i = 0, v
    cdef Sums added = sums_of(0)
    cdef vec last = last_vector(x, size) - top
    cdef float factor
    while i < size:
        for v in range(PARTS):
            if i + LANES <= size:
                added.part[v] = added.part[v] + exp_up_to(load(x + i) - top)
            elif i < size:
                added.part[v] = added.part[v] + exp_up_to(last)
            i += LANES
    factor = <float> log(total(added))
    for i in range(size // LANES):
        store(y + i * LANES, (load(x + i * LANES) - top) - factor)
    if size % LANES:
        put_last(y, size, last - factor, buffer)


cdef void columns(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A range of vectors of columns."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t count = w.lines.count * w.strips, index, source, target, first, lanes
    for index in range(task * count // w.tasks, (task + 1) * count // w.tasks):
        first = index % w.strips * LANES
        source, target = g.source + first, g.target + first
        find_line(&w.lines, index // w.strips, &source, &target)
        lanes = min(<Py_ssize_t> LANES, w.columns - first)
        column(g, memory.arena + source, memory.arena + target, lanes, memory.scratch)


cdef void column(const Geometry* g, const float* x, float* y, Py_ssize_t lanes, float* buffer) noexcept nogil:
    """``lanes`` softmaxes side by side; what is in further lanes does not matter."""
    cdef Py_ssize_t k
    cdef vec top = load(x), added = splat(0), e, last
    for k in range(1, g.size):
        top = at_least(top, load(x + k * g.source_stride))
    for k in range(g.size):
        e = exp_up_to(load(x + k * g.source_stride) - top)
        added = added + e
        if not g.logarithm:
            put(y + k * g.target_stride, e, lanes, buffer)
    last = logarithm_of(added, buffer) if g.logarithm else splat(1) / added
    for k in range(g.size):
        if g.logarithm:
            put(y + k * g.target_stride, (load(x + k * g.source_stride) - top) - last, lanes, buffer)
        else:
            put(y + k * g.target_stride, load(y + k * g.target_stride) * last, lanes, buffer)


cdef inline void put(float* y, vec x, Py_ssize_t lanes, float* buffer) noexcept nogil:
    """The first lanes of x to memory."""
    if lanes == LANES:
        store(y, x)
    else:
        store(buffer, x)
        copy_exactly(buffer, y, lanes)


cdef inline vec logarithm_of(vec x, float* buffer) noexcept nogil:
    cdef int i
    store(buffer, x)
    for i in range(LANES):
        buffer[i] = <float> log(buffer[i])
    return load(buffer)
