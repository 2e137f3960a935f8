"""What a step of a program is: a function, the numbers it works with, and how many pieces it falls into.

    plan time   the planner makes a Step object: geometry, offsets into the arena, packed weights
    run time    program.pyx calls ``run(numbers, task, memory)`` for each task, on any thread, without the GIL

A step never allocates, never checks and never starts threads: anyone who reads a kernel reads one thread's work on one task.
Tasks of a step are independent, so that any number of threads gives the same bits.
"""

# The axes that a step can walk over; to Python, ``step.MAX_NDIM``.
cpdef enum:
    MAX_NDIM = 6

# What a task may touch, beside the weights: pointers into it are made from offsets when the task runs, so that one program
# can run in several arenas at once.
cdef struct Memory:
    float* arena  # all activations
    float* source  # what offsets of the main input count from: the arena, unless a chain keeps that image elsewhere
    float* target  # likewise for the output
    float** bindings  # NumPy arrays from outside: the graph's inputs and outputs
    float* scratch  # this thread's own

ctypedef void (*Run)(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil

# The same for some rows of the output, for steps whose output rows each need a few rows of one image: links of a chain.
# Rows are counted through all images of a batch.
ctypedef void (*RunRows)(const void* numbers, Py_ssize_t first, Py_ssize_t end, const Memory* memory) noexcept nogil

cdef struct RowWise:
    RunRows run  # NULL: this step cannot
    Py_ssize_t count  # rows of the output
    const Py_ssize_t* needed  # the first input row that each needs, and then for each one that lies behind the last


cdef class Step:
    cdef Run run
    cdef const void* numbers  # a struct inside the subclass
    cdef RowWise rows
    cdef readonly Py_ssize_t tasks
    cdef readonly Py_ssize_t scratch_floats  # that each thread needs
    cdef readonly object keeps  # whatever must live as long as the step: weights
    cdef const float* weights  # NULL: none
    cdef Py_ssize_t weight_floats
    cdef void announce(self, const float* weights, Py_ssize_t floats) noexcept
