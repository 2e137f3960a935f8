"""Pools of bytes: the largest of each window, and the mean of an image. Channels are neighbours, so that loops are vectors.

    BytePooling    out[y, x, c] = max over taps of image[y * stride - pad + ..., x * stride - pad + ..., c]
    ByteMean       out[c] = round((sum over pixels of image[.., c] - pixels * zero) * scale[c]) + out_zero

A border is smaller than everything: taps outside are left out, and a window that has none but these gets the least number.
"""

import numpy as np

from libc.string cimport memset

from kuiper.engine.integer_tile cimport INTEGER_WIDTH, requantise
from kuiper.engine.step cimport Memory, Step

cdef enum:
    TASK = 65536  # bytes that are read

cdef struct Pooled:
    Py_ssize_t images, in_h, in_w, out_h, out_w, channels
    Py_ssize_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w
    Py_ssize_t x, x_image, x_row, x_pixel  # bytes; the output has no gaps
    Py_ssize_t out
    int flip  # 128 for int8
    Py_ssize_t rows, tasks  # of the output in a task

cdef struct Averaged:
    Py_ssize_t pixels, channels, zero
    Py_ssize_t x, x_image, x_pixel, out  # bytes
    bint x_signed
    float low, high
    int out_zero
    const float* scale


cdef class BytePooling(Step):
    """See the head of this file. ``numbers`` names the fields of Pooled, but for the last two."""

    cdef Pooled work

    def __init__(self, dict numbers):
        cdef Py_ssize_t lines = numbers["images"] * numbers["out_h"]
        cdef Py_ssize_t line = numbers["out_w"] * numbers["channels"] * numbers["kernel_h"] * numbers["kernel_w"]
        self.tasks = max(1, min(lines, lines * line // TASK))
        self.work = {**numbers, "rows": lines, "tasks": self.tasks}
        self.numbers, self.run = &self.work, pool


cdef void pool(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """Some rows of the output."""
    cdef const Pooled* w = <const Pooled*> numbers
    cdef Py_ssize_t line, x
    cdef unsigned char* out
    for line in range(task * w.rows // w.tasks, (task + 1) * w.rows // w.tasks):
        out = <unsigned char*> memory.arena + w.out + line * w.out_w * w.channels
        for x in range(w.out_w):
            pool_window(w, line // w.out_h, line % w.out_h, x, out + x * w.channels, memory)


cdef inline void pool_window(
    const Pooled* w, Py_ssize_t image, Py_ssize_t y, Py_ssize_t x, unsigned char* out, const Memory* memory
) noexcept nogil:
    """The largest bytes of one window."""
    cdef Py_ssize_t ky, kx, in_y, in_x, c, channels = w.channels
    cdef unsigned char flip = w.flip, number
    cdef const unsigned char* row
    cdef const unsigned char* source
    memset(out, 0, channels)
    for ky in range(w.kernel_h):
        in_y = y * w.stride_h - w.pad_top + ky * w.dilation_h
        if in_y < 0 or in_y >= w.in_h:
            continue
        row = <const unsigned char*> memory.arena + w.x + image * w.x_image + in_y * w.x_row
        for kx in range(w.kernel_w):
            in_x = x * w.stride_w - w.pad_left + kx * w.dilation_w
            if in_x < 0 or in_x >= w.in_w:
                continue
            source = row + in_x * w.x_pixel
            for c in range(channels):
                number = source[c] ^ flip
                out[c] = number if number > out[c] else out[c]
    for c in range(channels):
        out[c] ^= flip


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
