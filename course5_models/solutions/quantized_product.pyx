"""Exercise 5.14: a matrix-vector product with weights of 8 bits.

For every token that a language model writes, each of its matrices is multiplied by one vector. Each weight is read from
memory, takes part in one multiplication, and is not needed again before the next token. A processor multiplies faster
than its memory delivers, so the time that a token takes is the time that it takes to read all the weights. Weights of
one byte are read four times as fast as weights of four bytes.

So the weights are kept as integers from -127 to 127, and every row has a scale. The largest number of a row, with
or without a minus sign, becomes 127 or -127; 0 stays 0:

    weight (3, 4), float32           scales (3)         numbers (3, 4), int8

    0.5   -1.27   0.3    0           0.01                50  -127   30    0
    2.54   0.02  -1      0.04        0.02               127     1  -50    2         weight[o, i] is nearly
    0      0      0      0           0                    0     0    0    0         numbers[o, i] * scales[o]

The product never makes a matrix of float32 again. All numbers of a row have the same scale, so the scale is multiplied
once, behind the sum:

    out[o] = scales[o] * (sum over i of numbers[o, i] * x[i])                       x (4), out (3), float32

What limits a plain loop over these products? Not yet the memory. Each addition waits for the addition before it, which
takes about four cycles, so three of four cycles pass with waiting. Two things help, and both change only the order of the
additions. A vector register adds LANES products at once. And there are SUMS such vectors that do not wait for each
other. In this picture LANES is 4 and SUMS is 2, so that STEP, the numbers of one turn of the loop, is 8:

    i           0 1 2 3   4 5 6 7  |  8 9 10 11   12 13 14 15  |  16 17 18
    belongs to  sums[0]   sums[1]  |  sums[0]     sums[1]      |  left over: one number after the other

At the end of a row all sums become one: the vectors are added, then the LANES numbers of the vector, then what was left
over.

A ``vec`` is a vector register as a type (lecture 3c, "A vector register as a type"). ``x * y`` and ``x + y`` of two of
them compute LANES numbers at once, and there are five functions:

    load(&row[s])        a vec of the LANES float32 numbers row[s], row[s + 1], ...
    of_bytes(&row[s])    a vec of the LANES int8 numbers row[s], row[s + 1], ..., which become float32 on the way
    splat(number)        a vec of LANES times this number
    store(&row[s], x)    writes the LANES numbers of x to row[s], row[s + 1], ...
    fma(x, y, z)         x * y + z, rounded once: one instruction
"""

import numpy as np

from kuiper.simd.vector cimport LANES, vec, fma, load, of_bytes, splat, store

cdef extern from *:
    """
    enum { SUMS = 4, STEP = SUMS * LANES };
    """
    enum:
        SUMS
        STEP

STEP_SIZE = STEP  # the tests ask for it, and fit any: try other SUMS when yours works


def quantize(weight):
    """The integers of 8 bits and the scales of a matrix.

    A row's scale is its largest number, without the sign, divided by 127, in float32. A number becomes the nearest whole
    number to weight / scale; halfway between two it becomes the even one, as with NumPy's ``rint``. A row of zeros has the
    scale 0, and its numbers are 0: take care to divide by something else there.

    This is done once, when a model is made. So there is no need for speed: use whole rows in NumPy.

    Parameters
    ----------
    weight : float32 (out, in), with one column or more; finite numbers

    Returns
    -------
    int8 (out, in) and float32 (out,)

    >>> numbers, scales = quantize(np.array([[0.5, -1.27, 0.3, 0], [0, 0, 0, 0]], np.float32))
    >>> numbers
    array([[  50, -127,   30,    0],
           [   0,    0,    0,    0]], dtype=int8)
    >>> scales
    array([0.01, 0.  ], dtype=float32)
    """
    # BEGIN SOLUTION
    scales = np.abs(weight).max(axis=1) / np.float32(127)
    divisors = np.where(scales == 0, np.float32(1), scales)
    return np.rint(weight / divisors[:, None]).astype(np.int8), scales
    # END SOLUTION


def product(const signed char[:, ::1] weight, const float[::1] scales, const float[::1] x, float[::1] out):
    """Fill ``out`` (out,) with the product of a quantised matrix and ``x`` (in,).

    ``weight`` (out, in) are the integers and ``scales`` (out,) the scales of ``quantize``. The caller has made
    ``out``, and the shapes fit; ``out`` holds old numbers. ``in`` need not be a multiple of STEP, and may even
    be 0. Sums are float32.

    Write it with two plain loops first: they pass all tests, and the report says how slow they are. Then let ``turn``
    count the whole turns of STEP numbers, with an inner loop over SUMS. (A ``range`` with a step that Cython does not
    know, such as STEP, would run Python: it cannot know whether to count up or down.) Inner loops over SUMS, whose
    length the compiler knows, vanish, and each ``sums[s]`` becomes a register. Registers have no index, though: to add
    up the LANES numbers of a vec, write it to ``numbers`` and read them there.

    >>> numbers = np.array([[50, -127, 30, 0], [127, 1, -50, 2]], np.int8)
    >>> scales, x = np.array([0.01, 0.02], np.float32), np.array([2, 1, 0.5, 4], np.float32)
    >>> out = np.empty(2, np.float32)
    >>> product(numbers, scales, x, out)
    >>> out.round(4)
    array([-0.12,  4.76], dtype=float32)
    """
    cdef vec[SUMS] sums
    cdef float[LANES] numbers
    cdef float total
    cdef Py_ssize_t o, i, s, turn
    # BEGIN SOLUTION
    cdef Py_ssize_t turns = x.shape[0] // STEP
    for o in range(weight.shape[0]):
        for s in range(SUMS):
            sums[s] = splat(0)
        for turn in range(turns):
            for s in range(SUMS):
                i = turn * STEP + s * LANES
                sums[s] = fma(of_bytes(&weight[o, i]), load(&x[i]), sums[s])
        for s in range(1, SUMS):
            sums[0] += sums[s]
        store(&numbers[0], sums[0])
        total = 0
        for s in range(LANES):
            total += numbers[s]
        for i in range(turns * STEP, x.shape[0]):
            total += weight[o, i] * x[i]
        out[o] = total * scales[o]
    # END SOLUTION
