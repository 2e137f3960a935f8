"""Any expression over strided operands in one pass over memory: out[i, j, ...] = f(x[i, j, ...], y[i, j, ...], ...).

The expression is a program in reverse Polish notation, for a stack machine that computes with chunks, not numbers:

    mul(add(@0,1),@1)      load 0     constant 1    add         load 1      mul
                           [x]        [x, 1]        [x + 1]     [x + 1, y]  [(x + 1) y]

    x  ....|== CHUNK ==|....   every instruction is one loop of vector code over a chunk; what they hand on to each
    y  ....|== CHUNK ==|....   other stays in the first-level cache, and two thousand numbers hide the cost of a code

One function of what lies in memory as whole vectors hands nothing on: then a chunk is as long as a task.

``load`` moves nothing: it pushes where the operand lies. Only an operand that does not lie there number by number is
packed into a buffer first. A chunk is a block of the last two axes, so that a short last axis does no harm:

    operand, 2 numbers in each pixel   [a b . . . . . .|c d . . . . . .|e f . . . . . .]     packed   [a b c d e f ...]

A stride of 0 repeats a number along an axis, which is broadcasting. Where the output is not whole vectors, it is
computed in a buffer and copied. It may be the memory of an operand of its shape, but must not otherwise overlap one.

Source: P. Boncz, M. Zukowski, N. Nes, "MonetDB/X100: Hyper-Pipelining Query Execution", CIDR 2005 (the chunks).
"""

from kuiper.engine.arrangement import arranged
from kuiper.engine.functions import CODES, arguments_of, cost_of
from kuiper.errors import ParameterError

from kuiper.engine.blocks cimport View, copy_in, copy_out, copy_vectors, dense, fill
from kuiper.engine.functions cimport CONSTANT, LOAD, MULTIPLY_ADD, PAIRS_END, apply, combine, multiply_add
from kuiper.engine.step cimport MAX_NDIM, Memory, Step
from kuiper.simd.vector cimport LANES

cdef enum:
    CHUNK = 2048  # numbers; a multiple of LANES
    GRAIN = 131072  # operations of a task
    MIN_COST = 4  # of a number, in operations: it is read and written, too
    OPERAND_CAPACITY = 8, INSTRUCTION_CAPACITY = 64, STACK_CAPACITY = 16

MAX_OPERANDS, MAX_INSTRUCTIONS, MAX_PLACES = OPERAND_CAPACITY, INSTRUCTION_CAPACITY, STACK_CAPACITY

cdef struct Instruction:
    int code
    int index  # of the operand that is loaded, or of the constant
    float a, b  # settings of the function; the constant itself

cdef struct Work:
    Py_ssize_t shape[MAX_NDIM]
    Py_ssize_t step[MAX_NDIM]  # of a chunk along each axis
    Py_ssize_t blocks, tasks
    Py_ssize_t operands, length, constants, depth
    bint aliased  # the output is the memory of an operand
    View view[OPERAND_CAPACITY + 1]  # the output first
    Instruction program[INSTRUCTION_CAPACITY]

# Where a task stands: the coordinates of the chunk, where it begins in each value, and what the buffers hold.
cdef struct Place:
    Py_ssize_t at[MAX_NDIM]
    float* start[OPERAND_CAPACITY + 1]
    const float* packed[OPERAND_CAPACITY]
    Py_ssize_t packed_rows[OPERAND_CAPACITY]
    Py_ssize_t packed_columns[OPERAND_CAPACITY]


cdef class Elementwise(Step):
    """See the head of this file.

    Parameters
    ----------
    shape : of the output
    views : (binding, offset, strides) of the output and then of each operand; ``binding`` is the index of an array
        from outside, or -1 for the arena; offset and strides are in floats, a stride for each axis of ``shape``
    program : (name, a, b) for each instruction: ("load", k, 0), ("constant", x, 0), ("add", 0, 0); see expression_code
    whole_vectors : the output may be written up to a whole vector past the end of its last axis
    """

    cdef Work work

    def __init__(self, shape, views, program, bint whole_vectors=False):
        cdef Work* w = &self.work
        cdef Py_ssize_t axis, k, numbers = 1
        if len(views) > OPERAND_CAPACITY + 1 or len(program) > INSTRUCTION_CAPACITY:
            limits = f"at most {OPERAND_CAPACITY} operands and {INSTRUCTION_CAPACITY} instructions"
            raise ParameterError("an elementwise step", limits, (len(views) - 1, len(program)))
        whole = LANES if whole_vectors and all(binding < 0 for binding, _, _ in views) else 1
        strides = [strides for _, _, strides in views]
        cost = max(self.translate(program), MIN_COST)
        plan = arranged(shape, strides, whole, MAX_NDIM, CHUNK)
        if needs_no_buffer(plan, program):
            longest = -(-plan.shape[MAX_NDIM - 1] // tasks_of(plan.shape[MAX_NDIM - 1] * cost))
            plan = arranged(shape, strides, whole, MAX_NDIM, max(CHUNK, longest))
        w.operands, w.blocks = len(views) - 1, 1
        for axis in range(MAX_NDIM):
            w.shape[axis], w.step[axis] = plan.shape[axis], plan.chunk[axis]
            numbers *= w.shape[axis]
            w.blocks *= (w.shape[axis] + w.step[axis] - 1) // w.step[axis]
            for k in range(w.operands + 1):
                w.view[k].stride[axis] = plan.strides[k][axis]
        for k in range(w.operands + 1):
            w.view[k].binding, w.view[k].offset = views[k][:2]
        w.aliased = any(view[:2] == views[0][:2] for view in views[1:])
        w.tasks = self.tasks = min(w.blocks, tasks_of(numbers * cost))
        self.numbers, self.run = w, evaluate
        self.scratch_floats = (w.constants + w.operands) * LANES + (w.operands + w.depth) * (CHUNK + LANES)

    cdef translate(self, program):
        """Fill in the instructions; the answer is their cost for each number, in additions."""
        cdef Work* w = &self.work
        depth = cost = 0
        for w.length, (name, a, b) in enumerate(program, 1):
            code = CODES[name]
            w.program[w.length - 1] = Instruction(code, a if code == LOAD else w.constants, a, b)
            w.constants += code == CONSTANT
            depth += 1 - arguments_of(code)
            w.depth = max(w.depth, depth)
            cost += cost_of(code)
        if depth != 1 or w.depth > STACK_CAPACITY:
            expected = f"a program of one result that needs at most {STACK_CAPACITY} places"
            raise ParameterError("an elementwise step", expected, program)
        return cost


cdef Py_ssize_t tasks_of(Py_ssize_t operations) noexcept:
    """How many tasks this many operations are: 1, or an even number, since two threads are to have as much to do."""
    return 1 if operations <= GRAIN else (operations + 2 * GRAIN - 1) // (2 * GRAIN) * 2


def needs_no_buffer(plan, program):
    """Whether one function reads and writes whole vectors where they lie: then a chunk may be as long as a task."""
    in_place = set(plan.shape[: MAX_NDIM - 1]) == {1} and all(steps[MAX_NDIM - 1] == 1 for steps in plan.strides)
    functions = sum(arguments_of(CODES[name]) > 0 for name, _, _ in program)
    return in_place and plan.shape[MAX_NDIM - 1] % LANES == 0 and functions == 1


cdef void evaluate(const void* numbers, Py_ssize_t task, const Memory* memory) noexcept nogil:
    """One task: a range of chunks, in the order of the output."""
    cdef const Work* w = <const Work*> numbers
    cdef Py_ssize_t block = task * w.blocks // w.tasks, last = (task + 1) * w.blocks // w.tasks, i
    cdef Place place
    for i in range(w.length):
        if w.program[i].code == CONSTANT:
            fill(memory.scratch + w.program[i].index * LANES, w.program[i].a, 1)
    go_to(w, block, memory, &place)
    while block < last:
        evaluate_chunk(w, &place, memory.scratch)
        advance(w, &place)
        block += 1


cdef void go_to(const Work* w, Py_ssize_t block, const Memory* memory, Place* place) noexcept nogil:
    """The place of a chunk by its number; the last axis runs fastest."""
    cdef Py_ssize_t axis, k, count
    for k in range(w.operands + 1):
        place.start[k] = memory.arena if w.view[k].binding < 0 else memory.bindings[w.view[k].binding]
        place.start[k] += w.view[k].offset
    for k in range(w.operands):
        place.packed[k] = NULL
    for axis in range(MAX_NDIM - 1, -1, -1):
        count = (w.shape[axis] + w.step[axis] - 1) // w.step[axis]
        place.at[axis] = block % count * w.step[axis]
        block //= count
        for k in range(w.operands + 1):
            place.start[k] += place.at[axis] * w.view[k].stride[axis]


cdef inline void advance(const Work* w, Place* place) noexcept nogil:
    """On to the next chunk, like an odometer."""
    cdef Py_ssize_t axis = MAX_NDIM, k
    while axis > 0:
        axis -= 1
        if place.at[axis] + w.step[axis] < w.shape[axis]:
            place.at[axis] += w.step[axis]
            for k in range(w.operands + 1):
                place.start[k] += w.step[axis] * w.view[k].stride[axis]
            return
        if place.at[axis] > 0:
            for k in range(w.operands + 1):
                place.start[k] -= place.at[axis] * w.view[k].stride[axis]
            place.at[axis] = 0


cdef void evaluate_chunk(const Work* w, Place* place, float* scratch) noexcept nogil:
    """The expression for one block of the last two axes."""
    cdef Py_ssize_t rows = min(w.step[MAX_NDIM - 2], w.shape[MAX_NDIM - 2] - place.at[MAX_NDIM - 2])
    cdef Py_ssize_t columns = min(w.step[MAX_NDIM - 1], w.shape[MAX_NDIM - 1] - place.at[MAX_NDIM - 1])
    cdef Py_ssize_t vectors = (rows * columns + LANES - 1) // LANES
    cdef const View* target = &w.view[0]
    cdef float* slots = scratch + (w.constants + w.operands) * LANES + w.operands * (CHUNK + LANES)
    cdef const float* result
    cdef float* out = place.start[0]
    cdef Py_ssize_t step
    if dense(target, rows, columns) and rows * columns % LANES == 0:
        result = run_program(w, place, rows, columns, scratch, slots, out, &step)
        if result != out:
            copy_vectors(result, step, out, vectors)
        return
    result = run_program(w, place, rows, columns, scratch, slots, NULL, &step)
    if step == 0:
        copy_vectors(result, 0, slots, vectors)
        result = slots
    copy_out(result, out, target.stride[MAX_NDIM - 2], target.stride[MAX_NDIM - 1], rows, columns)


cdef const float* run_program(
    const Work* w, Place* place, Py_ssize_t rows, Py_ssize_t columns, float* scratch, float* slots, float* out,
    Py_ssize_t* step_of_result,
) noexcept nogil:
    """Where the result lies, in whole vectors: in ``out`` if that is not NULL, in a slot, or where an operand is."""
    cdef Py_ssize_t vectors = (rows * columns + LANES - 1) // LANES, i, top = -1
    cdef const float* stack[STACK_CAPACITY]
    cdef Py_ssize_t step[STACK_CAPACITY]
    cdef const Instruction* now
    cdef float* target
    for i in range(w.length):
        now = &w.program[i]
        if now.code == LOAD:
            top += 1
            stack[top] = operand(w, place, now.index, rows, columns, scratch, &step[top])
            continue
        if now.code == CONSTANT:
            top += 1
            stack[top] = scratch + now.index * LANES
            step[top] = 0
            continue
        if MULTIPLY_ADD < now.code < PAIRS_END:
            top -= 1
        elif now.code == MULTIPLY_ADD:
            top -= 2
        target = slots + top * (CHUNK + LANES)
        if out != NULL and (i == w.length - 1 or (top == 0 and not w.aliased)):
            target = out
        if MULTIPLY_ADD < now.code < PAIRS_END:
            combine(now.code, stack[top], step[top], stack[top + 1], step[top + 1], target, vectors)
        elif now.code == MULTIPLY_ADD:
            multiply_add(
                stack[top], step[top], stack[top + 1], step[top + 1], stack[top + 2], step[top + 2], target, vectors
            )
        else:
            apply(now.code, stack[top], step[top], target, vectors, now.a, now.b)
        stack[top] = target
        step[top] = LANES
    step_of_result[0] = step[0]
    return stack[0]


cdef inline const float* operand(
    const Work* w, Place* place, Py_ssize_t k, Py_ssize_t rows, Py_ssize_t columns, float* scratch, Py_ssize_t* step
) noexcept nogil:
    """A block of an operand, number by number: where it lies, packed, or one vector for all."""
    cdef const View* view = &w.view[k + 1]
    cdef const float* start = place.start[k + 1]
    cdef float* one = scratch + (w.constants + k) * LANES
    cdef float* buffer = scratch + (w.constants + w.operands) * LANES + k * (CHUNK + LANES)
    cdef bint bound = view.binding >= 0
    step[0] = LANES
    if dense(view, rows, columns) and not (bound and rows * columns % LANES != 0):
        return start
    if view.stride[MAX_NDIM - 1] == 0 and (rows == 1 or view.stride[MAX_NDIM - 2] == 0):
        fill(one, start[0], 1)
        step[0] = 0
        return one
    if place.packed[k] != start or place.packed_columns[k] != columns or place.packed_rows[k] < rows:
        copy_in(start, view.stride[MAX_NDIM - 2], view.stride[MAX_NDIM - 1], rows, columns, buffer, bound)
        place.packed[k] = start
        place.packed_columns[k] = columns
        place.packed_rows[k] = rows
    return buffer
