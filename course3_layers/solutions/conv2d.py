"""Exercise 3.5: the convolution, as your im2col and one matrix product.

The product for one image, with out_c kernels:

    weight                      columns                          output
    (out_c, c * kh * kw)   @    (c * kh * kw, out_h * out_w)  =  (out_c, out_h * out_w)

    one kernel in each row      one window in each column        one picture in each row

Groups cut the channels into equal parts that know nothing of each other. With groups = 2:

    x           channels 0 .. in_c/2-1 -- kernels 0 .. out_c/2-1 -->   output channels 0 .. out_c/2-1
                the other half         --- the other kernels   --->   the other half

That is why ``weight`` has only in_c / groups channels: a kernel looks at the channels of its own group.
With groups = in_c, each kernel sees one channel alone: a depthwise convolution, the heart of MobileNet.
"""

from __future__ import annotations

import numpy as np

from kuiper.course import load_exercise

# Its arguments: image, columns, kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w.
im2col = load_exercise("3.4").im2col

Pair = tuple[int, int]


def conv2d(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    groups: int = 1,
) -> np.ndarray:
    """The images ``x`` filtered by the kernels ``weight``: a new float32 array (n, out_c, out_h, out_w).

        x        (n, in_c, h, w)                              float32, and so are the others
        weight   (out_c, in_c / groups, kernel_h, kernel_w)
        bias     (out_c,) or None                             added to every pixel of its output channel
        stride, padding, dilation                             (vertical, horizontal) each

    A dilated kernel spans ``dilation * (kernel - 1) + 1`` pixels. As in 3.3, the outputs along an axis are all the
    places where the whole span fits on the padded image (the padding stands on both sides, and is 0).

    As in all of deep learning the kernel is not turned round: weight (0, 0) meets the window's top left pixel.

    >>> image = np.array([[[[1, 2, 3], [4, 5, 6]]]], np.float32)
    >>> kernel = np.array([[[[10, 1]]]], np.float32)
    >>> conv2d(image, kernel, np.array([100], np.float32)).tolist()
    [[[[112.0, 123.0], [145.0, 156.0]]]]

    Raises
    ------
    ValueError
        If ``x`` has not ``groups`` times the channels of ``weight`` (the message has the word "channels"), if out_c
        cannot be cut into ``groups`` equal parts ("groups"), if ``bias`` has another shape ("bias"), or if the kernel's
        span is larger than the padded image along an axis ("kernel").
    """
    # BEGIN SOLUTION
    n, in_c, h, w = x.shape
    out_c, depth, kernel_h, kernel_w = weight.shape
    if in_c != depth * groups:
        raise ValueError(f"conv2d: expected {depth * groups} channels, got {in_c}")
    if out_c % groups != 0:
        raise ValueError(f"conv2d: expected a multiple of groups={groups} as kernels, got {out_c}")
    if bias is not None and bias.shape != (out_c,):
        raise ValueError(f"conv2d: expected bias of shape {(out_c,)}, got {bias.shape}")
    spare_h = h + 2 * padding[0] - dilation[0] * (kernel_h - 1) - 1
    spare_w = w + 2 * padding[1] - dilation[1] * (kernel_w - 1) - 1
    if spare_h < 0 or spare_w < 0:
        raise ValueError(f"conv2d: expected a kernel that fits the padded image, got {kernel_h}x{kernel_w}")
    out_h, out_w = spare_h // stride[0] + 1, spare_w // stride[1] + 1
    out = np.empty((n, out_c, out_h, out_w), np.float32)
    columns = np.empty((depth * kernel_h * kernel_w, out_h, out_w), np.float32)
    part = out_c // groups
    for i in range(n):
        for g in range(groups):
            source = x[i, g * depth : (g + 1) * depth]
            im2col(source, columns, kernel_h, kernel_w, *stride, *padding, *dilation)
            kernels = weight[g * part : (g + 1) * part].reshape(part, -1)
            product = kernels @ columns.reshape(len(columns), -1)
            out[i, g * part : (g + 1) * part] = product.reshape(part, out_h, out_w)
    if bias is not None:
        out += bias.reshape(-1, 1, 1)
    return out
    # END SOLUTION
