"""Copy numbers from one layout to another: any N-dimensional array between any two strides.

The engine keeps images channels-last; what comes from outside and goes outside is (n, c, h, w). One copy does both
ways, and every concat, slice or permutation that cannot be had without one. It is told where each axis goes,

    target[i0 * t0 + i1 * t1 + ...] = source[i0 * s0 + i1 * s1 + ...]       for all i0 < n0, i1 < n1, ...

and first looks for long runs (copy_plan.py). Then the last axis decides:

    contiguous on both sides        runs: whole vectors
    contiguous in the target only   and another axis is in the source: a transpose; see transpose.pxd
    3 numbers from 3 planes         an RGB image: three runs woven into one
    anything else                   one number after the other

Exactly the target's numbers are written: what lies between them may belong to another.
"""

from kuiper.engine.copy_plan import KINDS, planned

from kuiper.engine.blocks cimport copy_block
from kuiper.engine.kernels.transpose cimport transpose
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.vector cimport LANES

cdef enum Kind:  # in the order of copy_plan.KINDS
    RUNS, TRANSPOSE, WEAVE, SINGLES

cdef struct Axis:
    Py_ssize_t length, source, target  # strides in floats

cdef struct CopyWork:
    Py_ssize_t source, target  # offsets in floats, into the arena or an array from outside
    Py_ssize_t source_binding, target_binding  # which array; -1: the arena
    Py_ssize_t split, tasks  # the axis that is cut into tasks
    int axes
    Kind kind
    Axis[MAX_NDIM] axis


cdef class Copy(Step):
    """Copy an N-dimensional array between any two strides; see the head of this file.

    Parameters
    ----------
    numbers : dict of ``source`` and ``target``, offsets in floats, and ``source_binding`` and ``target_binding``, the
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
        cdef int i
        work.source, work.target = numbers["source"], numbers["target"]
        work.source_binding, work.target_binding = numbers["source_binding"], numbers["target_binding"]
        plan = planned(shape, source_strides, target_strides, work.source_binding < 0, LANES)
        work.kind, work.axes, work.split, work.tasks = KINDS.index(plan.kind), len(plan.axes), plan.split, plan.tasks
        for i in range(work.axes):
            work.axis[i].length, work.axis[i].source, work.axis[i].target = plan.axes[i]
        self.numbers = work
        self.run = copy
        self.tasks = work.tasks
        self.scratch_floats = 0


cdef void copy(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    cdef const CopyWork* work = <const CopyWork*> numbers
    cdef const float* source = memory.arena if work.source_binding < 0 else memory.bindings[work.source_binding]
    cdef float* target = memory.arena if work.target_binding < 0 else memory.bindings[work.target_binding]
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
