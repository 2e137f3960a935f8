"""Pools of bytes: the largest and the mean of each window, and the mean of an image. Channels are neighbours, so that loops are
vectors.

    BytePooling    out[y, x, c] = max over taps of image[y * stride - pad + ..., x * stride - pad + ..., c]
    ByteWindowMean out[y, x, c] = round((sum over the same taps of (image[...] - zero) * scale) / count[y, x] / out_scale + out_zero)
    ByteMean       out[c] = round((sum over pixels of image[.., c] - pixels * zero) * scale[c]) + out_zero

The border of the largest is smaller than everything: taps outside are left out, and a window that has none but these gets the
least number. A mean is taken in float32 and in this order, as onnxruntime takes it.
"""

import numpy as np

from libc.string cimport memset

from kuiper.engine.byte_rounding cimport INTEGER_WIDTH, requantise
from kuiper.engine.step cimport Memory, Step

cdef enum:
    TASK = 65536  # bytes that are read

cdef struct Pooled:
    Py_ssize_t images, in_h, in_w, out_h, out_w, channels
    Py_ssize_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w
    Py_ssize_t x, x_image, x_row, x_pixel  # bytes; the output has no gaps
    Py_ssize_t out
    int flip  # 128 for int8
    int zero
    float scale, out_scale, out_zero, low, high  # of a mean

cdef struct Windows:
    Pooled pooled
    Py_ssize_t rows, tasks  # of the output in a task
    const float* count_y  # how many taps of a window count along each axis, for a mean
    const float* count_x

cdef struct Averaged:
    Py_ssize_t pixels, channels, zero
    Py_ssize_t x, x_image, x_pixel, out  # bytes
    bint x_signed
    float low, high
    int out_zero
    const float* scale


cdef class BytePooling(Step):
    """See the head of this file. ``numbers`` names the fields of Pooled up to ``flip``."""

    cdef Windows work

    def __init__(self, dict numbers):
        cdef Windows* w = &self.work
        cdef Py_ssize_t lines = numbers["images"] * numbers["out_h"]
        cdef Py_ssize_t line = numbers["out_w"] * numbers["channels"] * numbers["kernel_h"] * numbers["kernel_w"]
        for_means = dict.fromkeys(("zero", "scale", "out_scale", "out_zero", "low", "high"), 0)
        w.pooled = {**for_means, **numbers}
        w.rows, w.tasks = lines, max(1, min(lines, lines * line // TASK))
        self.tasks = w.tasks
        self.numbers, self.run = w, pool_largest


cdef class ByteWindowMean(BytePooling):
    """See the head of this file. ``numbers`` names the fields of Pooled up to ``high``.

    ``count_y`` and ``count_x``, float32 (out_h) and (out_w), are how many taps of a window count along each axis.
    """

    def __init__(self, dict numbers, const float[::1] count_y, const float[::1] count_x):
        super().__init__(numbers)
        self.work.count_y, self.work.count_x = &count_y[0], &count_x[0]
        self.keeps = (count_y, count_x)
        self.run = pool_means
        self.scratch_floats = self.work.pooled.channels


cdef void pool_largest(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of the output."""
    cdef const Windows* w = <const Windows*> numbers
    cdef const Pooled* p = &w.pooled
    cdef Py_ssize_t line, x
    cdef unsigned char* out
    for line in range(task * w.rows // w.tasks, (task + 1) * w.rows // w.tasks):
        out = <unsigned char*> memory.arena + p.out + line * p.out_w * p.channels
        for x in range(p.out_w):
            largest_of_window(p, line // p.out_h, line % p.out_h, x, out + x * p.channels, memory)


cdef void pool_means(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of the output."""
    cdef const Windows* w = <const Windows*> numbers
    cdef const Pooled* p = &w.pooled
    cdef Py_ssize_t line, x
    cdef unsigned char* out
    for line in range(task * w.rows // w.tasks, (task + 1) * w.rows // w.tasks):
        out = <unsigned char*> memory.arena + p.out + line * p.out_w * p.channels
        for x in range(p.out_w):
            mean_of_window(p, w.count_y[line % p.out_h] * w.count_x[x], line // p.out_h, line % p.out_h, x, out + x * p.channels, memory)


cdef inline const unsigned char* tap(
    const Pooled* w, Py_ssize_t image, Py_ssize_t y, Py_ssize_t x, Py_ssize_t ky, Py_ssize_t kx, const Memory* memory
) noexcept nogil:
    """The channels under a tap of a window; NULL outside of the image."""
    cdef Py_ssize_t in_y = y * w.stride_h - w.pad_top + ky * w.dilation_h
    cdef Py_ssize_t in_x = x * w.stride_w - w.pad_left + kx * w.dilation_w
    if in_y < 0 or in_y >= w.in_h or in_x < 0 or in_x >= w.in_w:
        return NULL
    return <const unsigned char*> memory.arena + w.x + image * w.x_image + in_y * w.x_row + in_x * w.x_pixel


cdef inline void largest_of_window(
    const Pooled* w, Py_ssize_t image, Py_ssize_t y, Py_ssize_t x, unsigned char* out, const Memory* memory
) noexcept nogil:
    """The largest bytes of one window."""
    cdef Py_ssize_t ky, kx, c, channels = w.channels
    cdef unsigned char flip = w.flip, number
    cdef const unsigned char* source
    memset(out, 0, channels)
    for ky in range(w.kernel_h):
        for kx in range(w.kernel_w):
            source = tap(w, image, y, x, ky, kx, memory)
            if source == NULL:
                continue
            for c in range(channels):
                number = source[c] ^ flip
                out[c] = number if number > out[c] else out[c]
    for c in range(channels):
        out[c] ^= flip


cdef inline void mean_of_window(
    const Pooled* w, float count, Py_ssize_t image, Py_ssize_t y, Py_ssize_t x, unsigned char* out, const Memory* memory
) noexcept nogil:
    """The means of one window."""
    cdef Py_ssize_t ky, kx, c, channels = w.channels
    cdef int flip = w.flip, less = w.flip + w.zero
    cdef float scale = w.scale, number
    cdef float out_scale = w.out_scale, out_zero = w.out_zero, low = w.low, high = w.high
    cdef float unit = 12582912  # 1.5 * 2**23: beside it a float has no room for a fraction
    cdef float* sums = memory.scratch
    cdef const unsigned char* source
    memset(sums, 0, channels * sizeof(float))
    for ky in range(w.kernel_h):
        for kx in range(w.kernel_w):
            source = tap(w, image, y, x, ky, kx, memory)
            if source == NULL:
                continue
            for c in range(channels):
                number = <float> ((source[c] ^ flip) - less) * scale
                sums[c] += number
    for c in range(channels):
        number = sums[c] / count
        number = number / out_scale + out_zero
        number = number if number > low else low
        number = number if number < high else high
        out[c] = <unsigned char> <int> (number + unit - unit)


cdef class ByteMean(Step):
    """See the head of this file. ``numbers`` names the fields of Averaged, ``images`` and ``scale``, float32 (channels)."""

    cdef Averaged work

    def __init__(self, dict numbers, Py_ssize_t images, const float[::1] scale):
        cdef Averaged* w = &self.work
        cdef const float[::1] scales = np.append(scale, np.zeros(INTEGER_WIDTH, np.float32))
        w.pixels, w.channels, w.zero = numbers["pixels"], numbers["channels"], numbers["zero"]
        w.x, w.x_image, w.x_pixel, w.out = numbers["x"], numbers["x_image"], numbers["x_pixel"], numbers["out"]
        w.x_signed, w.low, w.high, w.out_zero = numbers["x_signed"], numbers["low"], numbers["high"], numbers["out_zero"]
        w.scale = &scales[0]
        self.keeps = scales
        self.numbers, self.run = w, average
        self.tasks = images
        self.scratch_floats = w.channels + INTEGER_WIDTH


cdef void average(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One image."""
    cdef const Averaged* w = <const Averaged*> numbers
    cdef const unsigned char* x = <const unsigned char*> memory.arena + w.x + task * w.x_image
    cdef int* sums = <int*> memory.scratch
    cdef int flip = 128 if w.x_signed else 0
    cdef Py_ssize_t c, pixel
    for c in range(w.channels):
        sums[c] = <int> (-w.pixels * (w.zero + flip))
    for pixel in range(w.pixels):
        for c in range(w.channels):
            sums[c] += x[c] ^ flip
        x += w.x_pixel
    requantise(
        sums, w.scale, w.channels, w.low, w.high, w.out_zero, <unsigned char*> memory.arena + w.out + task * w.channels
    )
