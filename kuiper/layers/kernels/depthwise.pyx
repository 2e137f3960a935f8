"""Depthwise convolution: each channel is filtered alone.

With one input channel per kernel the matrix product has nothing to share: im2col would write every pixel nine times to
read it once. So the loops stay a convolution, turned inside out: not "for each output pixel, all taps", but "for each
tap, a whole row of outputs":

    out[y, :] += weight[ky, kx] * image[y * stride_h - pad_top + ky * dilation_h, kx * dilation_w - pad_left :: stride_w]

    image row   . . a b c d e f . .          weight 2
    tap kx=2            |_______|            out row  +=  2 * [b c d e f .]

The inner loop is "a row plus a number times a row": contiguous for stride 1, and the compiler makes it vectors. The row of
outputs stays in the first-level cache for all taps.

A channel multiplier m gives m kernels to each channel: output channel o reads input channel o // m.

Source: A. Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications", 2017.
"""

from cython.parallel cimport prange

from kuiper.simd.vector cimport fma_of_one

ctypedef (Py_ssize_t, Py_ssize_t) Pair  # vertical, horizontal


cdef inline Py_ssize_t first_at_least(Py_ssize_t position, Py_ssize_t stride, Py_ssize_t end) noexcept nogil:
    """The smallest x in 0..end with x * stride >= position (end if there is none)."""
    if position <= 0:
        return 0
    return min((position + stride - 1) // stride, end)


cdef inline void add_scaled(
    float* row, const float* source, float weight, Py_ssize_t count, Py_ssize_t stride,
) noexcept nogil:
    """row += weight * source[::stride]; a constant stride lets the compiler make vectors."""
    cdef Py_ssize_t x
    if stride == 1:
        for x in range(count):
            row[x] = fma_of_one(weight, source[x], row[x])
    elif stride == 2:
        for x in range(count):
            row[x] = fma_of_one(weight, source[2 * x], row[x])
    else:
        for x in range(count):
            row[x] = fma_of_one(weight, source[x * stride], row[x])


cdef void add_taps(
    const float* source, Py_ssize_t w, const float* weight, Py_ssize_t kernel_w, float* row, Py_ssize_t out_w,
    Py_ssize_t stride_w, Py_ssize_t pad_left, Py_ssize_t dilation_w,
) noexcept nogil:
    """Add one row of the image to one row of outputs, times each weight of one row of the kernel."""
    cdef Py_ssize_t kx, shift, inside, outside
    for kx in range(kernel_w):
        shift = kx * dilation_w - pad_left
        inside = first_at_least(-shift, stride_w, out_w)
        outside = first_at_least(w - shift, stride_w, out_w)
        if inside < outside:
            add_scaled(row + inside, source + inside * stride_w + shift, weight[kx], outside - inside, stride_w)


def depthwise(
    const float[:, :, ::1] image, const float[:, :, ::1] weight, float[:, :, ::1] out,
    Py_ssize_t stride_h, Py_ssize_t stride_w, Py_ssize_t pad_top, Py_ssize_t pad_left,
    Py_ssize_t dilation_h, Py_ssize_t dilation_w, int num_threads,
):
    """Add to ``out`` (c * m, out_h, out_w) the image (c, h, w), each channel filtered by m kernels of its own.

    IN image; weight (c * m, kernel_h, kernel_w). IN/OUT out, which holds what is added to: zeros, or the bias.
    """
    cdef Py_ssize_t multiplier = out.shape[0] // image.shape[0], channel, y, ky, source_y
    for channel in prange(out.shape[0], nogil=True, num_threads=num_threads, schedule="static"):
        for y in range(out.shape[1]):
            for ky in range(weight.shape[1]):
                source_y = y * stride_h - pad_top + ky * dilation_h
                if 0 <= source_y < image.shape[1]:
                    add_taps(
                        &image[channel // multiplier, source_y, 0], image.shape[2],
                        &weight[channel, ky, 0], weight.shape[2], &out[channel, y, 0], out.shape[2],
                        stride_w, pad_left, dilation_w,
                    )
