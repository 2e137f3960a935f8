"""Layer norm and RMS norm along the last axis, whose numbers are neighbours.

    layer norm   y = (x - mean) / sqrt(variance + eps) * weight + bias       variance = mean of (x - mean)**2
    RMS norm     y = x / sqrt(mean of x**2 + eps) * weight

mean(x**2) - mean(x)**2 in one pass would subtract two large, nearly equal numbers. So the row, which is in the
first-level cache, is read three times:

    sum of x         -> mean, rounded to a float
    sum of d, d * d  -> what that rounding lost, and the variance        d = x - mean
    y

The sum of d would be 0 without rounding; with it, it is the error of the mean. That one addition makes float as good as
double.

Source: J. Ba, J. Kiros, G. Hinton, "Layer Normalization", 2016; B. Zhang, R. Sennrich, "Root Mean Square Layer
Normalization", 2019; T. Chan, G. Golub, R. LeVeque, "Algorithms for Computing the Sample Variance", 1983 (the corrected
two-pass algorithm).
"""

import math

import numpy as np

from libc.math cimport sqrt

from kuiper.engine.arrangement import arranged

from kuiper.engine.blocks cimport Lines, copy_exactly, find_line
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.sums cimport PARTS, Sums, sums_of, total
from kuiper.simd.vector cimport LANES, fma, load, splat, store, vec, with_rest

cdef enum:
    GRAIN = 32768  # numbers of a task
    GROUP = 2048, MAX_ROWS = 16  # numbers and rows that are in work at a time: they stay in the first-level cache

cdef struct Geometry:
    Py_ssize_t source, target  # offsets into the arena, in floats
    Py_ssize_t size  # of the last axis
    bint centred  # layer norm; else RMS norm
    double eps

cdef struct Work:
    Geometry geometry
    double share  # of one number in a mean: short rows would wait for the divisions
    Lines lines
    Py_ssize_t tasks
    const float* weight
    const float* bias

# Of one row: y = ((x - mean) * factor + shift) * weight + bias.
cdef struct Scale:
    float mean, factor, shift


cdef class LayerNorm(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry; the target may be the source.

    Parameters
    ----------
    numbers : dict of numbers
    weight, bias : (size)
    shape, source_strides, target_strides : the axes in front of the last
    """

    cdef Work work

    def __init__(self, dict numbers, weight, bias, shape, source_strides, target_strides):
        cdef Work* w = &self.work
        cdef float[:, ::1] affine = np.zeros((2, numbers["size"] + LANES), np.float32)
        np.asarray(affine)[:, :-LANES] = weight, bias
        plan = arranged(shape, [target_strides, source_strides], 1, MAX_NDIM, LANES)
        count = math.prod(shape)
        w.geometry, w.share = numbers, 1.0 / numbers["size"]
        w.lines = {"count": count, "shape": plan.shape, "target": plan.strides[0], "source": plan.strides[1]}
        w.tasks = self.tasks = min(count, (count * numbers["size"] + GRAIN - 1) // GRAIN)
        w.weight, w.bias = &affine[0, 0], &affine[1, 0]
        self.keeps, self.numbers, self.run = affine, w, normalise
        self.scratch_floats = LANES


cdef void normalise(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A range of rows, a group at a time: the sums of all, then what each is scaled by, then the results.

    Each of the three needs the whole of the one before. With other rows in between, nothing waits.
    """
    cdef const Work* w = <const Work*> numbers
    cdef Py_ssize_t index = task * w.lines.count // w.tasks, end = (task + 1) * w.lines.count // w.tasks
    cdef Py_ssize_t size = w.geometry.size, group, i, source, target
    cdef const float* x[MAX_ROWS]
    cdef float* y[MAX_ROWS]
    cdef Scale scale[MAX_ROWS]
    while index < end:
        group = min(max(<Py_ssize_t> 1, GROUP // size), min(<Py_ssize_t> MAX_ROWS, end - index))
        for i in range(group):
            source, target = w.geometry.source, w.geometry.target
            find_line(&w.lines, index + i, &source, &target)
            x[i], y[i] = memory.arena + source, memory.arena + target
            scale[i].mean = mean_of(x[i], size, w.share) if w.geometry.centred else 0
        for i in range(group):
            find_scale(&w.geometry, w.share, x[i], &scale[i])
        for i in range(group):
            write_row(w, x[i], &scale[i], y[i], memory.scratch)
        index += group


cdef inline float mean_of(const float* x, Py_ssize_t size, double share) noexcept nogil:
    """The mean of a row, rounded. Two times sixteen sums: one addition need not wait for the one before."""
    cdef Sums even = sums_of(0), odd = even
    cdef Py_ssize_t i = 0, v
    while i + 32 <= size:
        for v in range(PARTS):
            even.part[v] = even.part[v] + load(x + i + v * LANES)
        for v in range(PARTS):
            odd.part[v] = odd.part[v] + load(x + i + 16 + v * LANES)
        i += 32
    while i < size:
        for v in range(PARTS):
            if i + v * LANES < size:
                even.part[v] = even.part[v] + with_rest(x + i + v * LANES, size - i - v * LANES, 0)
        i += 16
    for v in range(PARTS):
        even.part[v] = even.part[v] + odd.part[v]
    return <float> (total(even) * share)


cdef inline void find_scale(const Geometry* g, double share, const float* x, Scale* scale) noexcept nogil:
    """Factor and shift of a row, whose mean is known."""
    cdef double drift, squares
    moments(x, g.size, scale.mean, &drift, &squares)
    scale.shift = 0
    if g.centred:
        drift = drift * share
        scale.factor = <float> (1 / sqrt(squares * share - drift * drift + g.eps))
        scale.shift = <float> -drift * scale.factor
    else:
        scale.factor = <float> (1 / sqrt(squares * share + g.eps))


cdef inline void write_row(const Work* w, const float* x, const Scale* scale, float* y, float* buffer) noexcept nogil:
    """The results of a row; its last vector ends where the row ends, and may overlap the one before."""
    cdef Py_ssize_t size = w.geometry.size, end = max(size - LANES, <Py_ssize_t> 0), i
    cdef float mean = scale.mean, factor = scale.factor, shift = scale.shift
    cdef vec last = scaled(w, end, load(x + end), mean, factor, shift)
    for i in range((size - 1) // LANES):
        store(y + i * LANES, scaled(w, i * LANES, load(x + i * LANES), mean, factor, shift))
    if size >= LANES:
        store(y + end, last)
    else:
        store(buffer, last)
        copy_exactly(buffer, y, size)


cdef inline vec scaled(const Work* w, Py_ssize_t i, vec x, float mean, float factor, float shift) noexcept nogil:
    """The result for x, whose first number is the one number i of its row."""
    return fma(fma(x - mean, splat(factor), splat(shift)), load(w.weight + i), load(w.bias + i))


cdef inline void moments(
    const float* x, Py_ssize_t size, float mean, double* drift, double* squares
) noexcept nogil:
    """The sums of d = x - mean and of d * d, as in ``mean_of``."""
    cdef Sums even = sums_of(0), odd = even, even2 = even, odd2 = even
    cdef Py_ssize_t i = 0, v
    cdef vec d
    while i + 32 <= size:
        for v in range(PARTS):
            d = load(x + i + v * LANES) - mean
            even.part[v] = even.part[v] + d
            even2.part[v] = fma(d, d, even2.part[v])
        for v in range(PARTS):
            d = load(x + i + 16 + v * LANES) - mean
            odd.part[v] = odd.part[v] + d
            odd2.part[v] = fma(d, d, odd2.part[v])
        i += 32
    while i < size:
        for v in range(PARTS):
            if i + v * LANES < size:
                d = with_rest(x + i + v * LANES, size - i - v * LANES, mean) - mean
                even.part[v] = even.part[v] + d
                even2.part[v] = fma(d, d, even2.part[v])
        i += 16
    for v in range(PARTS):
        even.part[v] = even.part[v] + odd.part[v]
        even2.part[v] = even2.part[v] + odd2.part[v]
    drift[0] = total(even)
    squares[0] = total(even2)
