"""Exercise 2.7: outputs that share memory.

A network makes an output at every step, but needs only a few of them at a time. When the last reader of an output is
done, its memory can hold another one. Here is a small network, with the number of floats in each output:

    step   reads   writes           a has 8 floats    alive from step 0 to step 1
     0     x       a                b has 8           from 1 to 2
     1     a       b                c has 2           from 2 to 3
     2     b       c                d has 4           from 3 on: it is returned
     3     c       d

                a  b  c  d
    step 0      |                   a gets buffer 0, of 8 floats
         1      |  |                b: buffer 0 is still being read, so a new one, buffer 1, of 8
         2         |  |             c: buffer 0 is free again
         3            |  |          d: buffer 1 is free again

Two buffers with 16 floats in place of 22. Such a plan is made once, before the first image is seen. Three functions:
when is each operand alive, which buffer does it get, and the memory itself.

The steps are given in the order in which they run, each as (names of the operands it reads, names of those it writes).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np


def lifetimes(
    steps: Sequence[tuple[Sequence[str], Sequence[str]]], returned: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """For each operand that a step writes, its first and its last step, both included; in the order of writing.

    The first step is the one that writes it, the last one the last that reads it. What nobody reads lives for one step.
    What the network returns is needed after all of them: its last step is ``len(steps)``. The network's inputs, which
    no step writes, are the caller's and do not appear.

    >>> lifetimes([(["x"], ["a"]), (["a"], ["b"]), (["a", "b"], ["c"])], returned=["c"])
    {'a': (0, 2), 'b': (1, 2), 'c': (2, 3)}
    """
    # BEGIN SOLUTION
    alive: dict[str, tuple[int, int]] = {}
    for step, (inputs, outputs) in enumerate(steps):
        for name in inputs:
            if name in alive:
                alive[name] = alive[name][0], step
        for name in outputs:
            alive[name] = step, step
    for name in returned:
        if name in alive:
            alive[name] = alive[name][0], len(steps)
    return alive
    # END SOLUTION


def share_buffers(sizes: Mapping[str, int], alive: Mapping[str, tuple[int, int]]) -> tuple[dict[str, int], list[int]]:
    """The number of the buffer of each operand, and the size of each buffer.

    Go through ``alive`` in its order and give each operand a buffer:

    1. A buffer is free if the operand that had it last is dead: its last step lies *before* the first step of the new
       one. (A step that reads an operand must not write its output over it.)
    2. Of the free buffers that are large enough, take the smallest; of several such, the one with the lowest number.
    3. If there is none, open a new buffer with the next number and just this operand's size. Buffers never grow.

    >>> share_buffers({"a": 8, "b": 8, "c": 2, "d": 4}, {"a": (0, 1), "b": (1, 2), "c": (2, 3), "d": (3, 4)})
    ({'a': 0, 'b': 1, 'c': 0, 'd': 1}, [8, 8])
    """
    # BEGIN SOLUTION
    buffer_of: dict[str, int] = {}
    buffers: list[int] = []
    busy_until: list[int] = []
    for name, (first, last) in alive.items():
        fitting = [i for i, size in enumerate(buffers) if busy_until[i] < first and size >= sizes[name]]
        if fitting:
            number = min(fitting, key=lambda i: buffers[i])
        else:
            number = len(buffers)
            buffers.append(sizes[name])
            busy_until.append(last)
        buffer_of[name], busy_until[number] = number, last
    return buffer_of, buffers
    # END SOLUTION


def allocate(
    shapes: Mapping[str, Sequence[int | None]], buffer_of: Mapping[str, int], buffers: Sequence[int]
) -> dict[str, np.ndarray]:
    """A float32 array of its shape for each operand of ``shapes``, in the memory of its buffer.

    Each buffer is one piece of memory, full of zeros. An operand gets the first numbers of its buffer, as many as it
    needs, in row-major order. Arrays of one buffer thus lie on top of each other; arrays of different buffers never
    meet.

    >>> arrays = allocate({"a": (2, 2), "b": (3,)}, {"a": 0, "b": 0}, [4])
    >>> arrays["a"][0, 1] = 5
    >>> arrays["b"].tolist()
    [0.0, 5.0, 0.0]

    Raises
    ------
    ValueError
        If a size of a shape is not known (None), or the shape needs more numbers than its buffer has. The message has
        the name of the operand.
    """
    # BEGIN SOLUTION
    memory = [np.zeros(size, np.float32) for size in buffers]
    arrays = {}
    for name, shape in shapes.items():
        if None in shape:
            raise ValueError(f"{name}: expected a shape of numbers, got {tuple(shape)}")
        buffer, count = memory[buffer_of[name]], math.prod(shape)
        if count > len(buffer):
            raise ValueError(f"{name}: expected at most {len(buffer)} numbers, got {count}")
        arrays[name] = buffer[:count].reshape(tuple(shape))
    return arrays
    # END SOLUTION
