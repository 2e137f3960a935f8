"""Exercise 4.7: the whole expression in one pass over memory.

The stack machine of 4.4 goes over memory once per function: ``(x * a + y) * b`` reads and writes three big arrays, two of
which nobody wants. Turned inside out, the machine finishes one element before it touches the next. Its stack then holds
single numbers, which never leave the processor:

    4.4:  for each step:  for each element (inside NumPy)          4.7:  for each element:  for each step

``fused`` does this for one expression, written by hand. ``run`` does it for any, given as a program: one row per step in
reverse Polish, (code, number). ``number`` says which input or which constant, and is 0 for the others.

    add(mul(@0,2.5),@1)      program          what it does
                             INPUT     0      push inputs[0, i]
                             CONSTANT  0      push constants[0]        with constants = 2.5
                             MUL       0      two values become one
                             INPUT     1      push inputs[1, i]
                             ADD       0      two values become one

    inputs = 1 2 3      ->   out = 12.5  25  37.5
             10 20 30

All is float32, every sum and product in between as well: 16777216 + 1 is 16777216. The lengths fit, the program is a good
one, and never do more than 16 values wait on the stack: the caller has checked that. ``out`` is there already. It may
be the memory of an input: read all you need of element i before you write it, and write nothing else.
"""

from libc.math cimport sinf

cdef enum:
    INPUT = 0       # push an input
    CONSTANT = 1    # push a constant
    ADD = 2         # x y -> x + y
    SUB = 3         # x y -> x - y
    MUL = 4         # x y -> x * y
    NEG = 5         # x   -> -x
    SIN = 6         # x   -> sinf(x)


def fused(const float[:] x, const float[:] y, float a, float b, float[:] out):
    """out = (x * a + y) * b, in one loop.

    >>> import numpy as np
    >>> out = np.zeros(2, np.float32)
    >>> fused(np.float32([1, 2]), np.float32([10, 20]), 3, -1, out)
    >>> out.tolist()
    [-13.0, -26.0]
    """
    cdef Py_ssize_t i
    # BEGIN SOLUTION
    for i in range(out.shape[0]):
        out[i] = (x[i] * a + y[i]) * b
    # END SOLUTION


def run(const int[:, :] program, const float[:] constants, const float[:, :] inputs, float[:] out):
    """out[i] = what the program makes of inputs[0, i], inputs[1, i] and so on.

    >>> import numpy as np
    >>> out = np.zeros(2, np.float32)
    >>> run(np.int32([[0, 1], [0, 0], [3, 0]]), np.float32([]), np.float32([[1, 2], [10, 20]]), out)
    >>> out.tolist()
    [9.0, 18.0]

    In words: for each element, begin with an empty stack (``top``, the number of values on it, is 0). For each step, look
    at its code. A push writes at ``top`` and makes it one more. NEG and SIN change the value below ``top``. The others
    make ``top`` one less; the two values are then at ``top - 1`` and ``top``. The last value left is the result.
    """
    cdef Py_ssize_t i, step, top
    cdef int code
    cdef float stack[16]
    # BEGIN SOLUTION
    for i in range(out.shape[0]):
        top = 0
        for step in range(program.shape[0]):
            code = program[step, 0]
            if code == INPUT:
                stack[top] = inputs[program[step, 1], i]
                top += 1
            elif code == CONSTANT:
                stack[top] = constants[program[step, 1]]
                top += 1
            elif code == NEG:
                stack[top - 1] = -stack[top - 1]
            elif code == SIN:
                stack[top - 1] = sinf(stack[top - 1])
            else:
                top -= 1
                if code == ADD:
                    stack[top - 1] = stack[top - 1] + stack[top]
                elif code == SUB:
                    stack[top - 1] = stack[top - 1] - stack[top]
                else:
                    stack[top - 1] = stack[top - 1] * stack[top]
        out[i] = stack[0]
    # END SOLUTION
