"""Group norm on channels-last images, and instance norm: a group norm with one channel in each group.

    y = (x - mean) / sqrt(variance + eps) * weight + bias      mean and variance over all pixels of a group of channels

Channels are lanes: each has sums of its own over the pixels, and those of a group are added at the end.

    pixel 0   |a a b b|c c d d|      groups a, b, c, d of 2 channels         a task: one image, and as many groups
    pixel 1   |a a b b|c c d d|      on 4 lanes                              as make whole vectors
    ...        '-- strip 0 --'

As in layer_norm.pyx the sums are those of d = x - mean and of d * d. An image may be large, so it is read as seldom as
possible: the mean of the first BLOCK pixels serves as a guess, and only if the sums then show that it was wrong by many
deviations, which would cost digits, they are made again. Sums in float are moved to double after every BLOCK pixels.

    variance = sum(d * d) / N - drift**2,    mean of x = guess + drift,    drift = sum(d) / N

Source: Y. Wu, K. He, "Group Normalization", 2018, equations 1 to 7; D. Ulyanov, A. Vedaldi, V. Lempitsky, "Instance
Normalization", 2016; T. Chan, G. Golub, R. LeVeque, "Algorithms for Computing the Sample Variance", 1983 (the guess).
"""

import math

import numpy as np

from libc.math cimport sqrt
from libc.string cimport memset

from kuiper.engine.step cimport Memory, Step
from kuiper.simd.vector cimport LANES, fma, load, splat, store, vec

cdef enum:
    BLOCK = 128
    GRAIN = 16384  # numbers of a task
    NARROWEST = 32  # channels of a strip: two cache lines, which memory gives in pairs

cdef struct Geometry:
    Py_ssize_t images, pixels, channels, groups
    Py_ssize_t source, in_image, in_pixel  # offset into the arena and strides, in floats
    Py_ssize_t target, out_image, out_pixel
    double eps

cdef struct Work:
    Geometry geometry
    Py_ssize_t members  # channels of a group
    Py_ssize_t unit, units, strips  # channels that are whole groups and whole vectors; their number; tasks of an image
    const float* weight
    const float* bias


cdef class GroupNorm(Step):
    """See the head of this file. ``numbers`` names the fields of Geometry; the target may be the source.

    Parameters
    ----------
    numbers : dict of numbers
    weight, bias : (channels)
    """

    cdef Work work

    def __init__(self, dict numbers, weight, bias):
        cdef Work* w = &self.work
        cdef Geometry* g = &w.geometry
        cdef float[:, ::1] affine = np.array([weight, bias], np.float32)
        g[0] = numbers
        w.members = g.channels // g.groups
        w.unit = math.lcm(w.members, LANES)
        w.units = (g.channels + w.unit - 1) // w.unit
        w.strips = min(w.units, max(1, g.channels * g.pixels // GRAIN), max(1, g.channels // NARROWEST))
        w.weight, w.bias = &affine[0, 0], &affine[1, 0]
        self.tasks = g.images * w.strips
        self.keeps, self.numbers, self.run = affine, w, normalise
        # two sums in double, then mean, factor and shift of each channel
        self.scratch_floats = 7 * (w.units + w.strips - 1) // w.strips * w.unit


cdef void normalise(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """A strip of channels of one image."""
    cdef const Work* w = <const Work*> numbers
    cdef const Geometry* g = &w.geometry
    cdef Py_ssize_t image = task // w.strips, strip = task % w.strips
    cdef Py_ssize_t first = strip * w.units // w.strips * w.unit
    cdef Py_ssize_t channels = min((strip + 1) * w.units // w.strips * w.unit, g.channels) - first
    cdef Py_ssize_t vectors = (channels + LANES - 1) // LANES, pixel, v
    cdef const float* x = memory.arena + g.source + image * g.in_image + first
    cdef float* y = memory.arena + g.target + image * g.out_image + first
    cdef double* sums = <double*> memory.scratch
    cdef double* squares = sums + vectors * LANES
    cdef float* mean = <float*> (squares + vectors * LANES)
    cdef float* factor = mean + vectors * LANES
    cdef float* shift = factor + vectors * LANES
    memset(mean, 0, 3 * vectors * LANES * sizeof(float))
    add_up(g, x, vectors, min(<Py_ssize_t> BLOCK, g.pixels), mean, sums, squares)
    centre(w, channels, sums, min(<Py_ssize_t> BLOCK, g.pixels), mean)
    add_up(g, x, vectors, g.pixels, mean, sums, squares)
    if is_far(w, channels, sums, squares):
        centre(w, channels, sums, g.pixels, mean)
        add_up(g, x, vectors, g.pixels, mean, sums, squares)
    scale(w, first, channels, sums, squares, factor, shift)
    for pixel in range(g.pixels):
        for v in range(vectors):
            store(
                y + pixel * g.out_pixel + v * LANES,
                fma(
                    load(x + pixel * g.in_pixel + v * LANES) - load(mean + v * LANES), load(factor + v * LANES),
                    load(shift + v * LANES),
                ),
            )


cdef void add_up(
    const Geometry* g, const float* x, Py_ssize_t vectors, Py_ssize_t pixels, const float* mean, double* sums,
    double* squares,
) noexcept nogil:
    """For each channel the sums of x - mean and of its square over this many pixels."""
    cdef Py_ssize_t v, block, first
    memset(sums, 0, 2 * vectors * LANES * sizeof(double))
    for block in range((pixels + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        for v in range(vectors):
            add_block(
                x + first * g.in_pixel + v * LANES, g.in_pixel, min(<Py_ssize_t> BLOCK, pixels - first),
                load(mean + v * LANES), sums + v * LANES, squares + v * LANES,
            )


cdef inline void add_block(
    const float* x, Py_ssize_t step, Py_ssize_t pixels, vec mean, double* sums, double* squares
) noexcept nogil:
    """The same for one vector of channels and few pixels.

    ``moments`` of the layer norm does this along a row: there a number lies beside the next one and all are one sum,
    here they are ``step`` apart and each lane, a channel, has a sum of its own.
    """
    cdef vec a = splat(0), b = splat(0), a2 = splat(0), b2 = splat(0), d, e
    cdef float lanes[LANES]
    cdef float lanes2[LANES]
    cdef Py_ssize_t i
    for i in range(pixels // 2):
        d = load(x + 2 * i * step) - mean
        e = load(x + (2 * i + 1) * step) - mean
        a = a + d
        b = b + e
        a2 = fma(d, d, a2)
        b2 = fma(e, e, b2)
    if pixels % 2:
        d = load(x + (pixels - 1) * step) - mean
        a = a + d
        a2 = fma(d, d, a2)
    store(lanes, a + b)
    store(lanes2, a2 + b2)
    for i in range(LANES):
        sums[i] += lanes[i]
        squares[i] += lanes2[i]


cdef void centre(
    const Work* w, Py_ssize_t channels, const double* sums, Py_ssize_t pixels, float* mean
) noexcept nogil:
    """Add to the mean what x - mean is on average in each group, for each of its channels."""
    cdef Py_ssize_t group, first, channel
    cdef double total
    for group in range(channels // w.members):
        first = group * w.members
        total = 0
        for channel in range(first, first + w.members):
            total += sums[channel]
        for channel in range(first, first + w.members):
            mean[channel] += <float> (total / (w.members * pixels))


cdef bint is_far(const Work* w, Py_ssize_t channels, const double* sums, const double* squares) noexcept nogil:
    """Whether the mean is wrong by more than four deviations in some group."""
    cdef Py_ssize_t group, channel
    cdef double total, power, count = w.members * w.geometry.pixels
    for group in range(channels // w.members):
        total = power = 0
        for channel in range(group * w.members, (group + 1) * w.members):
            total += sums[channel]
            power += squares[channel]
        if total * total * 17 > power * count * 16:
            return True
    return False


cdef void scale(
    const Work* w, Py_ssize_t first_channel, Py_ssize_t channels, const double* sums, const double* squares,
    float* factor, float* shift,
) noexcept nogil:
    """What each channel is multiplied by, and what is added, from the sums of its group."""
    cdef Py_ssize_t group, first, channel
    cdef double drift, variance, inverse, count = w.members * w.geometry.pixels
    cdef const float* weight = w.weight + first_channel
    cdef const float* bias = w.bias + first_channel
    for group in range(channels // w.members):
        first = group * w.members
        drift = variance = 0
        for channel in range(first, first + w.members):
            drift += sums[channel]
            variance += squares[channel]
        drift = drift / count
        inverse = 1 / sqrt(variance / count - drift * drift + w.geometry.eps)
        for channel in range(first, first + w.members):
            factor[channel] = <float> (inverse * weight[channel])
            shift[channel] = <float> (bias[channel] - drift * inverse * weight[channel])
