"""Copy numbers from one layout to another: any N-dimensional array between any two strides.

The engine keeps images channels-last; what comes from outside and goes outside is (n, c, h, w). One copy does both
ways, and every concat, slice or permutation that cannot be had without one. It is told where each axis goes,

    target[i0 * t0 + i1 * t1 + ...] = source[i0 * s0 + i1 * s1 + ...]       for all i0 < n0, i1 < n1, ...

and first looks for long runs: axes of length 1 go, neighbours that lie behind one another on both sides become one
axis, and what is left is ordered as the target lies in memory. Then the last axis decides:

    contiguous on both sides        runs: whole vectors
    contiguous in the target only   and another axis is in the source: a transpose; see transpose.pxd
    3 numbers from 3 planes         an RGB image: three runs woven into one
    anything else                   one number after the other

Exactly the target's numbers are written: what lies between them may belong to another.
"""

from kuiper.engine.arrangement import merged
from kuiper.errors import ParameterError

from kuiper.engine.blocks cimport copy_block
from kuiper.engine.kernels.transpose cimport transpose
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.vector cimport LANES

cdef enum:
    TASK_FLOATS = 16384  # a few microseconds
    MAX_TASKS = 16

cdef enum Kind:
    RUNS, TRANSPOSE, WEAVE, SINGLES

cdef struct Axis:
    Py_ssize_t length, source, target  # strides in floats

cdef struct CopyWork:
    Py_ssize_t source, target  # offsets in floats, into the arena or an array from outside
    Py_ssize_t source_external, target_external  # which array; -1: the arena
    Py_ssize_t split, tasks  # the axis that is cut into tasks
    int axes
    Kind kind
    Axis[MAX_NDIM] axis


cdef class Copy(Step):
    """Copy an N-dimensional array between any two strides; see the head of this file.

    Parameters
    ----------
    numbers : dict of ``source`` and ``target``, offsets in floats, and ``source_external`` and ``target_external``, the
        index of an array from outside, or -1 for the arena
    shape : at most 6 lengths
    source_strides, target_strides : in floats, one for each axis; the target must not overlap with itself or the source

    Raises
    ------
    ParameterError
        If more axes remain.
    """

    cdef CopyWork work

    def __init__(self, dict numbers, shape, source_strides, target_strides):
        cdef CopyWork* work = &self.work
        axes = as_copied(zip(shape, source_strides, target_strides))
        work.source, work.target = numbers["source"], numbers["target"]
        work.source_external, work.target_external = numbers["source_external"], numbers["target_external"]
        work.kind, axes = arranged(axes)
        if len(axes) > MAX_NDIM:
            raise ParameterError("a copy", f"at most {MAX_NDIM} axes", len(axes))
        work.axes = len(axes)
        for i, axis in enumerate(axes):
            work.axis[i] = Axis(axis[0], axis[1], axis[2])
        work.split, work.tasks = cut(axes, 1 if work.source_external < 0 else 2)
        self.numbers = work
        self.run = copy
        self.tasks = work.tasks
        self.scratch_floats = 0


def as_copied(axes):
    """Axes (length, source stride, target stride) in the target's order, at least two, as few as possible."""
    found = [(length, (source, target)) for length, source, target in axes if length != 1]
    found.sort(key=lambda axis: axis[1][1], reverse=True)
    result = [(length, *strides) for length, strides in merged(found)] or [(1, 1, 1)]
    return result if len(result) > 1 else [(1, 0, 0), *result]


def arranged(axes):
    """Which of the loops below copies the last two axes, and the axes as it wants them.

    A transpose wants the source's contiguous axis last but one.
    """
    *outer, (length, source, target) = axes
    contiguous = [axis for axis in outer if axis[1] == 1]
    if source == target == 1:
        return RUNS, axes
    if target != 1 or not contiguous:
        return SINGLES, axes
    rows = max(contiguous)
    outer.remove(rows)
    return WEAVE if length == rows[2] == 3 else TRANSPOSE, [*outer, rows, (length, source, target)]


def cut(axes, in_arena):
    """Which axis is cut into tasks, and into how many: the outermost in the arena that is long enough.

    Cut there, threads read or write the parts of the image that they wrote or will read.
    """
    total = 1
    for length, source, target in axes:
        total *= length
    wanted = max(1, min(MAX_TASKS, total // TASK_FLOATS))
    # the two inner axes must not be cut into pieces shorter than a vector
    pieces = [max(1, length // (LANES if i + 2 >= len(axes) else 1)) for i, (length, *_) in enumerate(axes)]
    order = sorted(range(len(axes)), key=lambda i: -abs(axes[i][in_arena]))
    split = next((i for i in order if pieces[i] >= wanted), max(order, key=lambda i: pieces[i]))
    return split, min(wanted, pieces[split])


cdef void copy(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    cdef const CopyWork* work = <const CopyWork*> numbers
    cdef const float* source = memory.arena if work.source_external < 0 else memory.externals[work.source_external]
    cdef float* target = memory.arena if work.target_external < 0 else memory.externals[work.target_external]
    cdef CopyWork part = work[0]
    cdef Axis* split = &part.axis[work.split]
    cdef Py_ssize_t first = task * split.length // work.tasks
    split.length = (task + 1) * split.length // work.tasks - first
    copy_axes(&part, 0, source + work.source + first * split.source, target + work.target + first * split.target)


cdef void copy_axes(const CopyWork* work, int depth, const float* source, float* target) noexcept nogil:
    """All axes from ``depth`` on."""
    cdef const Axis* axis = &work.axis[depth]
    cdef Py_ssize_t i
    if depth < work.axes - 2:
        for i in range(axis.length):
            copy_axes(work, depth + 1, source + i * axis.source, target + i * axis.target)
    elif work.kind == RUNS:
        copy_block(source, axis.source, 1, target, axis.target, 1, axis.length, axis[1].length)
    elif work.kind == WEAVE:
        weave(source, axis[1].source, axis.length, target)
    elif work.kind == TRANSPOSE and axis.length >= LANES and axis[1].length >= LANES:
        transpose(source, axis[1].source, target, axis.target, axis.length, axis[1].length)
    else:  # an axis that is contiguous in the source is the columns here: the inner loop, if it is the longer one
        copy_block(source, axis[1].source, axis.source, target, axis[1].target, axis.target, axis[1].length, axis.length)


cdef void weave(const float* source, Py_ssize_t plane, Py_ssize_t count, float* target) noexcept nogil:
    """Three runs, ``plane`` floats apart, woven into one: r g b r g b ..."""
    cdef Py_ssize_t i
    for i in range(count):
        target[3 * i] = source[i]
        target[3 * i + 1] = source[plane + i]
        target[3 * i + 2] = source[2 * plane + i]
