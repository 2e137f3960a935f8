"""Run a list of steps on all threads, without the GIL: the only place in the engine where threads are.

                 step 0             step 1        step 2
    thread 0  |task 0|task 1|    |task 0   |    |task 0|task 1|
    thread 1  |task 2|task 3|    |task 1   |    |task 2|         ...
                            ^              ^                  ^
                            a step ends when all its tasks are done

The threads are woken once for the whole program, not once for each step. Each begins with a contiguous part of a step's
tasks, and with nearly the same part of the image in each step: what it has written is then still in its own cache. Who is
done early takes what others have not begun. No sum is split between threads, so neither their number nor their luck changes
a bit of a result.

What is counted is tasks, not threads: a thread that comes late, or never, is not waited for (see thread_pool.pxd).

Source: R. Blumofe, C. Leiserson, "Scheduling Multithreaded Computations by Work Stealing", J. ACM 1999 (the idea).
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdlib cimport malloc
from libc.string cimport memcpy

from kuiper.engine.step cimport Memory, Run, Step
from kuiper.engine.thread_pool cimport (
    Job, Word, add, call, get, hired, leave, offer, open_gate, put, seconds_now, swap, take_back, wait
)

cdef enum:
    LINE = 8  # words of a cache line: words that different threads write do not share one
    STEP = 32  # bits of a word for a number of tasks; those above are for the step that they belong to
    TASKS = 0xFFFFFFFF

cdef struct Call:
    Run run
    const void* numbers
    Py_ssize_t tasks

cdef struct Line:
    Word word
    Word[LINE - 1] unused

# One run of a program by several threads. What a thread that comes late may still read is all here: by then the caller may
# have freed everything else.
cdef struct Shared:
    Job job
    int threads
    Py_ssize_t count
    const Call* calls
    Memory memory
    Py_ssize_t stride  # floats of scratch memory that each thread has
    double* seconds
    double* parts  # when each thread began and ended its part of each step; a thread with no part writes nothing
    Line before, place, after  # the step that runs, and how many of its tasks are done
    Line* taken  # of each thread's part: the step, and how many of its tasks have begun


cdef class Program:
    """Steps in order, ready to run.

    Parameters
    ----------
    steps : the Step objects
    cores : however many threads call, together they have no more workers than would keep these busy
    """

    cdef readonly list steps
    cdef readonly Py_ssize_t scratch_floats
    cdef Call* calls
    cdef int cores

    def __cinit__(self, steps, int cores=1):
        cdef Step step, after
        self.cores = cores
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

    def run(
        self,
        float[::1] arena,
        Py_ssize_t[::1] bindings,
        float[:, ::1] scratch,
        double[::1] seconds=None,
        double[:, :, ::1] parts=None,
    ):
        """Run all steps once, on as many threads as ``scratch`` has rows.

        ``bindings`` holds the addresses of the arrays that the steps read and write outside of the arena. ``seconds``,
        if given, is filled with the time of each step; ``parts`` (threads, steps, 2), by ``clock.seconds``, with when
        each thread began and ended its part of each step. Of a step in which a thread has done nothing, its entries are
        left as they are.
        """
        cdef double* clock = NULL if seconds is None else &seconds[0]
        cdef double* spans = NULL if parts is None else &parts[0, 0, 0]
        cdef Memory memory
        cdef int threads = <int> scratch.shape[0]
        cdef Py_ssize_t stride = scratch.shape[1], count = len(self.steps)
        memory.arena = memory.source = memory.target = &arena[0]
        memory.bindings = <float**> &bindings[0]
        memory.scratch = &scratch[0, 0]
        with nogil:
            if threads == 1 or not run_together(
                self.calls, count, memory, stride, threads, max(threads, self.cores), clock, spans
            ):
                run_alone(self.calls, count, memory, clock, spans)


def workers() -> int:
    """How many threads wait for work, beside those that call."""
    return hired()


cdef void run_alone(const Call* calls, Py_ssize_t count, Memory memory, double* seconds, double* parts) noexcept nogil:
    cdef double started = seconds_now(), now
    cdef Py_ssize_t step, task
    for step in range(count):
        for task in range(calls[step].tasks):
            calls[step].run(calls[step].numbers, task, &memory)
        if seconds != NULL or parts != NULL:
            now = seconds_now()
            if seconds != NULL:
                seconds[step] = now - started
            if parts != NULL and calls[step].tasks > 0:
                parts[2 * step], parts[2 * step + 1] = started, now
            started = now


cdef bint run_together(
    const Call* calls,
    Py_ssize_t count,
    Memory memory,
    Py_ssize_t stride,
    int threads,
    int most,
    double* seconds,
    double* parts,
) noexcept nogil:
    """Run all steps with the help of free workers; false, and nothing has run, if there are none."""
    cdef Py_ssize_t words = threads * sizeof(Line)
    cdef Shared* shared = <Shared*> malloc(sizeof(Shared) + words + count * sizeof(Call))
    cdef Call* copies
    cdef int thread
    if shared == NULL:
        return False
    shared.taken = <Line*> (shared + 1)
    copies = <Call*> (shared.taken + threads)
    memcpy(copies, calls, count * sizeof(Call))
    shared.job.work = work
    shared.job.users = 1
    shared.job.joined = 0
    open_gate(&shared.job.gate)
    shared.threads, shared.count, shared.calls = threads, count, copies
    shared.memory, shared.stride, shared.seconds, shared.parts = memory, stride, seconds, parts
    shared.place.word = <long long> next_step(copies, 0, count) << STEP
    for thread in range(threads):
        shared.taken[thread].word = 0
    # Several callers share the workers: in all no more than one caller with all cores, or all its threads, could use.
    if offer(&shared.job, threads - 1, most - 1) == 0:
        leave(&shared.job)
        return False
    work(&shared.job, 0)
    take_back(&shared.job)
    leave(&shared.job)
    return True


cdef void work(Job* job, int thread) noexcept nogil:
    """One thread's part of all steps that are left."""
    cdef Shared* shared = <Shared*> job
    cdef Memory memory = shared.memory
    cdef double started = seconds_now() if thread == 0 else 0, now, begun = 0
    cdef double* part
    cdef long long step = get(&shared.place.word) >> STEP, done, tasks
    cdef int other
    memory.scratch += thread * shared.stride
    while step < shared.count:
        done = 0
        if shared.parts != NULL:
            begun = seconds_now()
        for other in range(shared.threads):
            done += work_at(shared, step, (thread + other) % shared.threads, &memory)
        if done > 0:
            if shared.parts != NULL:  # before others learn that the tasks are done: then the caller may be gone
                part = shared.parts + 2 * (thread * shared.count + step)
                part[0], part[1] = begun, seconds_now()
            tasks = shared.calls[step].tasks
            if (add(&shared.place.word, done) & TASKS) + done == tasks:
                put(&shared.place.word, <long long> next_step(shared.calls, step + 1, shared.count) << STEP)
                call(&job.gate)
        wait(&job.gate, &shared.place.word, (step + 1) << STEP)
        if thread == 0 and shared.seconds != NULL:
            now = seconds_now()
            shared.seconds[step] = now - started
            started = now
        step = get(&shared.place.word) >> STEP  # more than one further, if this thread was kept from its core
    if thread == 0 and shared.seconds != NULL:  # all of the run, if the others did it before this thread began
        shared.seconds[shared.count - 1] += seconds_now() - started


cdef inline long long work_at(Shared* shared, long long step, int owner, const Memory* memory) noexcept nogil:
    """Do tasks of one thread's part of a step, as long as there are any that nobody has begun; how many that were."""
    cdef const Call* step_call = &shared.calls[step]
    cdef Py_ssize_t first = owner * step_call.tasks // shared.threads, end = (owner + 1) * step_call.tasks // shared.threads
    cdef long long done = 0, task = begin(&shared.taken[owner].word, step, end - first)
    while task >= 0:
        step_call.run(step_call.numbers, first + task, memory)
        done += 1
        task = begin(&shared.taken[owner].word, step, end - first)
    return done


cdef inline long long begin(Word* taken, long long step, long long tasks) noexcept nogil:
    """The number of a task that nobody has begun, which is the caller's now; -1: there is none.

    A word that is of an earlier step says that nobody has begun anything of this one; one of a later step, that all is
    done, and this thread was kept from its core so long.
    """
    cdef long long word = get(taken), begun
    while word >> STEP <= step:
        begun = word & TASKS if word >> STEP == step else 0
        if begun == tasks:
            return -1
        if swap(taken, word, (step << STEP) + begun + 1):
            return begun
        word = get(taken)
    return -1


cdef inline Py_ssize_t next_step(const Call* calls, Py_ssize_t step, Py_ssize_t count) noexcept nogil:
    """The first step from this one on that has tasks."""
    while step < count and calls[step].tasks == 0:
        step += 1
    return step
