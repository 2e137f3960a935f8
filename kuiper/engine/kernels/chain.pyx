"""Several steps, a few rows at a time: what one has written the next reads while it is still in the second-level cache.

A large image goes to far memory and comes back between two steps, at a tenth of the speed at which they compute. But a row of
an output needs only a few rows of the image in front of it. So the steps take turns, from the last one's wishes:

                 image      strip of step 0        strip of step 1        output
    round 1      rows  -->  0 1 2 3 4 5 6     -->  0 1 2 3 4 5       -->  0 1 2 3          1x1, 3x3 and 1x1 convolutions
    round 2      rows  -->      . . 5 6 7 8.. -->          . 6 7 8 9 -->  4 5 6 7          (. kept from the round before)

Between them there are no images but strips of some rows, which move on: a row that will be read again is copied to the front
when a strip is full. All strips of a task stay in the cache together.

A task is a range of rows of the output. Its first round makes some rows of the strips that the task above makes, too: that is
the price of independent tasks, and why there are only a few.

Source: M. Alwani et al., "Fused-Layer CNN Accelerators", MICRO 2016.
"""

from libc.string cimport memmove

from kuiper.engine.step cimport Memory, RowWise, Step

cdef enum:
    MAX_LINKS = 8

MAX_STEPS = MAX_LINKS

cdef struct Link:
    RowWise rows
    const void* numbers
    Py_ssize_t row  # floats of a row of its strip; the last link has none and writes to the arena
    Py_ssize_t capacity, strip  # rows of the strip, and where it begins in the task's scratch memory

cdef struct Work:
    Py_ssize_t links, band, tasks
    Link link[MAX_LINKS]

# What a link has made, rows first .. end, and what it is to make next, end .. wanted; rows before ``keep`` are read no more.
cdef struct Progress:
    Py_ssize_t first, end, wanted, keep


cdef class Chain(Step):
    """See the head of this file.

    Parameters
    ----------
    steps : at least two, each able to run by rows; each but the first reads what the one before it writes, and nobody else does
    rows : floats of a row of the image between each step and the next
    band : rows of the output that a round makes
    tasks : ranges of rows of the output
    """

    cdef Work work

    def __init__(self, steps, rows, Py_ssize_t band, Py_ssize_t tasks):
        cdef Work* work = &self.work
        cdef Link* link
        cdef Step step
        cdef Py_ssize_t index
        work.links, work.band, work.tasks = len(steps), band, tasks
        for index, step in enumerate(steps):
            work.link[index].rows = step.rows
            work.link[index].numbers = step.numbers
            self.scratch_floats = max(self.scratch_floats, (step.scratch_floats + 15) // 16 * 16)
        for index in range(work.links - 2, -1, -1):
            link = &work.link[index]
            band = max_needed(&work.link[index + 1].rows, band)
            # twice what a round needs: rows are then moved in every other round only
            link.row, link.capacity, link.strip = rows[index], 2 * band, self.scratch_floats
            self.scratch_floats += link.capacity * link.row
        self.keeps = steps
        self.numbers = work
        self.run = run_range
        self.tasks = tasks


cdef Py_ssize_t max_needed(const RowWise* rows, Py_ssize_t band) noexcept nogil:
    """The most input rows that any this many neighbouring output rows need."""
    cdef Py_ssize_t most = 0, y
    band = min(band, rows.count)
    for y in range(rows.count - band + 1):
        most = max(most, rows.needed[rows.count + y + band - 1] - rows.needed[y])
    return most


cdef void run_range(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One range of rows of the output, round by round."""
    cdef const Work* work = <const Work*> numbers
    cdef Py_ssize_t last = work.links - 1, count = work.link[last].rows.count, end, index
    cdef Progress progress[MAX_LINKS]
    end = (task + 1) * count // work.tasks
    for index in range(work.links):
        progress[index].first = progress[index].end = -1  # not begun
    progress[last].end = task * count // work.tasks
    while progress[last].end < end:
        progress[last].wanted = min(progress[last].end + work.band, end)
        for index in range(last, 0, -1):
            ask(&work.link[index].rows, &progress[index], &progress[index - 1])
        for index in range(work.links):
            if progress[index].end < progress[index].wanted:
                make(work, index, progress, memory)


cdef inline void ask(const RowWise* rows, const Progress* reader, Progress* maker) noexcept nogil:
    """What the step in front must make, so that this one can make what it is wanted to."""
    maker.wanted = maker.end
    if reader.end == reader.wanted:
        return
    if maker.end < 0:
        maker.first = maker.end = rows.needed[reader.end]
    maker.keep = min(rows.needed[reader.end], maker.end)
    maker.wanted = max(maker.end, rows.needed[rows.count + reader.wanted - 1])


cdef void make(const Work* work, Py_ssize_t index, Progress* progress, const Memory* memory) noexcept nogil:
    """Run one step for the rows that are wanted of it."""
    cdef const Link* link = &work.link[index]
    cdef Progress* own = &progress[index]
    cdef Memory place = memory[0]
    cdef float* strip = memory.scratch + link.strip
    if index > 0:  # where row 0 of the image in front would be
        place.source = memory.scratch + work.link[index - 1].strip - progress[index - 1].first * work.link[index - 1].row
    if index < work.links - 1:
        if own.wanted - own.first > link.capacity:
            memmove(
                strip, strip + (own.keep - own.first) * link.row, (own.end - own.keep) * link.row * sizeof(float)
            )
            own.first = own.keep
        place.target = strip - own.first * link.row
    link.rows.run(link.numbers, own.end, own.wanted, &place)
    own.end = own.wanted
