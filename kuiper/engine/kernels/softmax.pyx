"""Softmax and log-softmax along one axis of a strided value.

    softmax(x)_k = e**(x_k - m) / s,    log_softmax(x)_k = x_k - m - ln s,    m = max_j x_j,   s = sum_j e**(x_j - m)

The largest term is e**0 = 1: nothing overflows. Where the axis lies in memory decides how it is done:

    contiguous (attention, classes): row by row        strided (an image over its rows): a vector of neighbours
      [x x x x|x x x x|x x x x|x x . .]                  [x x x x]x x x x      each lane is a softmax of its own, with
       '-- lanes share m and s ------'                   [x x x x]x x x x      its own m and s
                                                         [x x x x]x x x x

Where a row ends within a vector, the other lanes are made -inf, which changes neither maximum nor sum. A row with NaN
or +inf in it, or with nothing but -inf, becomes NaN throughout, as in torch.

Source: M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018, section 2 (the safe softmax).
"""

import math

from libc.math cimport INFINITY, log

from kuiper.engine.arrangement import arranged

from kuiper.engine.blocks cimport AXES, Lines, copy_exactly, find_line
from kuiper.engine.step cimport Memory, Step
from kuiper.engine.vector cimport LANES, at_least, load, splat, store, vec
from kuiper.engine.vector_math cimport exp_of_negative, largest_lane, sum_of_lanes, with_rest

cdef enum:
    GRAIN = 8192  # numbers of a task

cdef struct Geometry:
    Py_ssize_t source, target  # offsets into the arena, in floats
    Py_ssize_t size, source_stride, target_stride  # of the axis
    bint logarithm

cdef struct Work:
    Geometry geometry
    Lines lines  # all other axes
    Py_ssize_t columns, strips  # of the last of them, and how many vectors they are, if that is what vectors go along
    Py_ssize_t tasks


cdef class Softmax(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry; the target may be the source.

    Parameters
    ----------
    numbers : dict of whole numbers
    shape, source_strides, target_strides : the other axes
    """

    cdef Work work

    def __init__(self, dict numbers, shape, source_strides, target_strides):
        cdef Work* w = &self.work
        cdef Geometry* g = &w.geometry
        g[0] = numbers
        plan = arranged(shape, [target_strides, source_strides], 1, AXES, LANES)
        w.lines = {"count": 0, "shape": plan.shape, "target": plan.strides[0], "source": plan.strides[1]}
        count = math.prod(shape)
        w.columns = w.strips = 1
        self.run = rows
        if g.source_stride != 1 or g.target_stride != 1:
            self.run = columns
            if w.lines.source[AXES - 1] == w.lines.target[AXES - 1] == 1:  # if not: one column at a time
                w.columns = w.lines.shape[AXES - 1]
                w.strips = (w.columns + LANES - 1) // LANES
                w.lines.shape[AXES - 1] = 1
        w.lines.count = count // w.columns
        w.tasks = self.tasks = min(w.lines.count * w.strips, (count * g.size + GRAIN - 1) // GRAIN)
        self.numbers = w
        self.scratch_floats = LANES


cdef void rows(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A range of rows."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t index, source, target
    for index in range(task * w.lines.count // w.tasks, (task + 1) * w.lines.count // w.tasks):
        source, target = g.source, g.target
        find_line(&w.lines, index, &source, &target)
        row(g, memory.arena + source, memory.arena + target, memory.scratch)


cdef inline void row(const Geometry* g, const float* x, float* y, float* buffer) noexcept nogil:
    """One softmax whose numbers are neighbours."""
    cdef Py_ssize_t whole = g.size // LANES, rest = g.size - whole * LANES, i
    cdef vec last = with_rest(x + whole * LANES, rest, -INFINITY), top = last, added, e
    cdef float largest, factor
    for i in range(whole):
        top = at_least(top, load(x + i * LANES))
    largest = largest_lane(top)
    last = last - largest
    added = exp_of_negative(last)
    if g.logarithm:
        for i in range(whole):
            added = added + exp_of_negative(load(x + i * LANES) - largest)
        factor = <float> log(sum_of_lanes(added))
        for i in range(whole):
            store(y + i * LANES, (load(x + i * LANES) - largest) - factor)
        put(y + whole * LANES, last - factor, rest, buffer)
        return
    last = added
    for i in range(whole):
        e = exp_of_negative(load(x + i * LANES) - largest)
        store(y + i * LANES, e)
        added = added + e
    factor = 1 / sum_of_lanes(added)
    for i in range(whole):
        store(y + i * LANES, load(y + i * LANES) * factor)
    put(y + whole * LANES, last * factor, rest, buffer)


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
        e = exp_of_negative(load(x + k * g.source_stride) - top)
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
