"""Run a list of steps on all threads, without the GIL: the only place in the engine where threads are.

                 step 0             step 1        step 2
    thread 0  |task 0|task 1|    |task 0   |    |task 0|task 1|
    thread 1  |task 2|task 3|    |task 1   |    |task 2|         ...
                            ^              ^                  ^
                            barrier: all wait for the last

The threads are woken once for the whole program, not once for each step: a barrier costs a tenth of what a start costs.
Each thread begins with a contiguous part of a step's tasks, and with nearly the same part of the image in each step: what it
has written is then still in its own cache. Who is done early takes what others have not begun. No sum is split between
threads, so neither their number nor their luck changes a bit of a result.

Source: R. Blumofe, C. Leiserson, "Scheduling Multithreaded Computations by Work Stealing", J. ACM 1999 (the idea).
"""

from cython.parallel cimport parallel, threadid
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc

from kuiper.engine.step cimport Memory, Run, Step
from kuiper.engine.team cimport barrier, seconds_now, take, team_size

cdef enum:
    LINE = 8  # longs of a cache line: counters of different threads do not share one

cdef struct Call:
    Run run
    const void* numbers
    Py_ssize_t tasks


cdef class Program:
    """Steps in order, ready to run.

    Parameters
    ----------
    steps : the Step objects
    """

    cdef readonly list steps
    cdef readonly Py_ssize_t scratch_floats
    cdef Call* calls

    def __cinit__(self, steps):
        cdef Step step, after
        self.steps = list(steps)
        self.scratch_floats = 0
        self.calls = <Call*> PyMem_Malloc(max(1, len(self.steps)) * sizeof(Call))
        if self.calls == NULL:
            raise MemoryError
        for i, step in enumerate(self.steps):
            self.calls[i] = Call(step.run, step.numbers, step.tasks)
            self.scratch_floats = max(self.scratch_floats, step.scratch_floats)
        for step, after in zip(self.steps, self.steps[1:]):
            step.announce(after.weights, after.weight_floats)

    def __dealloc__(self):
        PyMem_Free(self.calls)

    def run(self, float[::1] arena, Py_ssize_t[::1] externals, float[:, ::1] scratch, double[::1] seconds=None):
        """Run all steps once, on as many threads as ``scratch`` has rows.

        ``externals`` holds the addresses of the arrays that the steps read and write outside of the arena. ``seconds``,
        if given, is filled with the time of each step.
        """
        cdef double* clock = NULL if seconds is None else &seconds[0]
        cdef float** outside = <float**> &externals[0]
        cdef int threads = <int> scratch.shape[0]
        cdef float* own = &scratch[0, 0]
        cdef Py_ssize_t stride = scratch.shape[1], count = len(self.steps)
        cdef float* activations = &arena[0]
        cdef long* counters = NULL
        if threads > 1:
            counters = <long*> PyMem_Calloc((2 + count * threads) * LINE, sizeof(long))
            if counters == NULL:
                raise MemoryError
        with nogil:
            execute(self.calls, count, activations, outside, own, stride, threads, counters, clock)
        PyMem_Free(counters)


cdef void execute(
    const Call* calls, Py_ssize_t count, float* arena, float** externals, float* scratch, Py_ssize_t stride,
    int threads, long* counters, double* seconds,
) noexcept nogil:
    if threads == 1:
        work(calls, count, arena, externals, scratch, 0, 1, NULL, seconds)
        return
    with parallel(num_threads=threads):
        work(
            calls, count, arena, externals, scratch + threadid() * stride, threadid(), team_size(), counters, seconds
        )


cdef void work(
    const Call* calls, Py_ssize_t count, float* arena, float** externals, float* scratch, int thread, int threads,
    long* counters, double* seconds,
) noexcept nogil:
    """One thread's part of every step.

    There are two counters for the barrier, and then one for each step and thread: how many of its tasks have begun.
    """
    cdef Memory memory
    cdef Py_ssize_t step, task
    cdef double started = seconds_now() if seconds != NULL else 0, now
    cdef int other
    memory.arena = memory.source = memory.target = arena
    memory.externals = externals
    memory.scratch = scratch
    for step in range(count):
        if threads == 1:
            for task in range(calls[step].tasks):
                calls[step].run(calls[step].numbers, task, &memory)
        else:
            for other in range(threads):
                share(&calls[step], (thread + other) % threads, threads, counters + (2 + step * threads) * LINE, &memory)
            barrier(counters, counters + LINE, threads)
        if seconds != NULL and thread == 0:
            now = seconds_now()
            seconds[step] = now - started
            started = now


cdef inline void share(const Call* call, int owner, int threads, long* taken, const Memory* memory) noexcept nogil:
    """Tasks of one thread's part of a step, as long as there are any that nobody has begun."""
    cdef Py_ssize_t first = owner * call.tasks // threads, end = (owner + 1) * call.tasks // threads
    cdef Py_ssize_t task = first + take(&taken[owner * LINE]) if first < end else end
    while task < end:
        call.run(call.numbers, task, memory)
        task = first + take(&taken[owner * LINE])
