"""Runs an executable: a workspace of its own for each call, traces of what ran, and the arrays of a session.

An executable is read-only. What a call writes to is a Workspace, which it takes from a pool and puts back, so threads
can run one executable at the same time.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from kuiper.engine.address import address
from kuiper.engine.cannot_plan import LayerFailedError, PlanLeftError, PlanMismatchError
from kuiper.engine.clock import seconds as seconds_now
from kuiper.engine.kernels.group_query_attention import OTHER_NUMBERS_FLAG
from kuiper.engine.memory import aligned
from kuiper.engine.planned_step import LayerStep, StepInfo
from kuiper.engine.values import Value
from kuiper.graph.boundary import shapes_of
from kuiper.graph.fallback import note, text_of
from kuiper.layers.operand_parameters import computes_as_kuiper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.executable import Executable, Segment
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import State
    from kuiper.layers.layer import Array

    Observer = Callable[[StepInfo | LayerStep, float], None]


class Span(NamedTuple):
    """A thread's part of a step: what ran, the number of the thread, when it began (``clock.seconds``), how long."""

    step: StepInfo | LayerStep
    thread: int
    start: float
    seconds: float


_SLACK = 64  # floats that kernels may read beyond the last buffer


@dataclass(eq=False)
class Workspace:
    """What one call writes to: the arena, the table of Python values, the views of the arena that layers get, and
    scratch memory, a row for each of the most threads that a call has had.

    ``addresses`` are where programs find what is not on the arena. ``session`` is a weak reference to the state whose
    arrays they name, so that a workspace in the pool keeps no session alive.
    """

    arena: Array
    table: list[Any]
    addresses: Array
    views: dict[Value, Array]
    scratch: Array
    session: ref[State] | None = None


class Runner:
    """Runs one executable, for any number of callers at the same time.

    Parameters
    ----------
    executable : from ``compile_graph``

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.engine.compile import compile_graph
    >>> from kuiper.models import bundled
    >>> x = np.zeros((2, 3, 32, 32), np.float32)
    >>> runner = Runner(compile_graph(kuiper.load(bundled("cifar_resnet20"), optimize=False), [x], {}))
    >>> [y.shape for y in runner.run([x], num_threads=1)]
    [(2, 10)]
    """

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        self._scratch_floats = max((segment.program.scratch_floats for segment in executable.compiled()), default=0)
        self._pool: list[Workspace] = []

    def run(
        self,
        inputs: Sequence[Array],
        num_threads: int,
        observer: Observer | None = None,
        state: State | None = None,
        spans: list[Span] | None = None,
    ) -> tuple[Any, ...]:
        """The outputs for inputs of the planned shapes.

        Parameters
        ----------
        inputs : an array for each input, of the shapes and types of the examples
        num_threads : how many threads compute; the bits of the result do not depend on it
        observer : is called with each step, a ``StepInfo`` or a ``LayerStep``, and the seconds that it took
        state : of the session, if the graph has state; its arrays are read and written where they lie
        spans : a list to which each thread's part of each step is added

        Returns
        -------
        A tuple with an array for each output, in memory of its own.

        Raises
        ------
        PlanMismatchError
            If a layer returned other shapes than when the plan was made.
        LayerFailedError
            If a layer raised an error, or would have.
        PlanLeftError
            If the inputs have other numbers than the plan can do with.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.engine.compile import compile_graph
        >>> from kuiper.models import bundled
        >>> x = np.zeros((1, 3, 32, 32), np.float32)
        >>> runner = Runner(compile_graph(kuiper.load(bundled("cifar_resnet20")), [x], {}))
        >>> algorithms = []
        >>> y = runner.run([x], 1, lambda step, seconds: algorithms.append(step.algorithm))
        >>> algorithms[0], algorithms[-1]
        ('import', 'export')
        """
        plan = self.executable
        try:
            workspace = self._pool.pop()
        except IndexError:
            workspace = self._new_workspace()
        table = workspace.table
        table[: len(inputs)] = inputs
        if state is not None:
            self._bind_state(state, workspace)
        for value in plan.written:
            table[value.slot] = np.empty(value.example.shape, value.example.dtype)
        for segment in plan.segments:
            if isinstance(segment, LayerStep):
                self._run_layer(segment, workspace, observer, spans)
            else:
                self._run_segment(segment, workspace, num_threads, observer, spans)
        if plan.error_flag is not None and workspace.arena[plan.error_flag.offset]:
            if workspace.arena[plan.error_flag.offset] == OTHER_NUMBERS_FLAG:
                raise PlanLeftError("numbers that the plan was not made for", is_mistake=False)
            raise LayerFailedError("an index that lies outside", is_mistake=True)
        results = tuple(deepcopy(value.example) if value.constant else table[value.slot] for value in plan.exported)
        table[: len(inputs)] = [None] * len(inputs)
        for value in plan.written:
            table[value.slot] = None
        self._pool.append(workspace)  # a call that has raised drops it: its table may hold what nobody needs
        return results

    def _bind_state(self, state: State, workspace: Workspace) -> None:
        """Name the state's arrays, which never move, to the programs: nothing to do if the last call was for it."""
        if workspace.session is not None and workspace.session() is state:
            return
        known = self.executable.state_arrays
        arrays = {one.slot: state.array(one.key, one.shape, one.axis, one.dtype) for one in known}
        arrays |= {value.slot: state.integers[name] for name, value in self.executable.state_integers.items()}
        self._bind(workspace, arrays)
        workspace.session = ref(state)

    def _bind(self, workspace: Workspace, arrays: dict[int, Array]) -> None:
        """Note where these arrays lie, by their slots; they stay there."""
        found = {slot: address(array) for slot, array in arrays.items()}
        for index, slot in self.executable.persistent:
            if slot in found:
                workspace.addresses[index] = found[slot]

    def _run_segment(
        self,
        segment: Segment,
        workspace: Workspace,
        num_threads: int,
        observer: Observer | None,
        spans: list[Span] | None,
    ) -> None:
        kept = []  # alive until the program has run
        for index, value in segment.bindings:
            array = workspace.table[value.slot]
            if not array.flags.c_contiguous:
                array = np.ascontiguousarray(array)
                kept.append(array)
            workspace.addresses[index] = address(array)
        if len(workspace.scratch) < num_threads:
            # whole lines and one more for each thread, so that two threads never write to one line
            floats = (self._scratch_floats + 31) // 16 * 16
            workspace.scratch = aligned(num_threads * floats).reshape(num_threads, floats)
        seconds = np.zeros(len(segment.steps)) if observer else None
        parts = None if spans is None else np.zeros((num_threads, len(segment.steps), 2))
        segment.program.run(workspace.arena, workspace.addresses, workspace.scratch[:num_threads], seconds, parts)
        if spans is not None and parts is not None:
            spans += [
                Span(step, thread, float(start), float(end - start))
                for i, step in enumerate(segment.steps)
                for thread, (start, end) in enumerate(parts[:, i])
                if start
            ]
        if observer and seconds is not None:
            for step, time in zip(segment.steps, seconds, strict=True):
                observer(step, float(time))

    def _run_layer(
        self, step: LayerStep, workspace: Workspace, observer: Observer | None, spans: list[Span] | None
    ) -> None:
        started = perf_counter()
        begun = seconds_now()
        inputs = [
            workspace.views[value] if isinstance(value, Value) else workspace.table[value.slot] for value in step.inputs
        ]
        assert step.op.layer is not None
        run = step.rest.run if step.rest else step.op.layer.forward
        try:
            with np.errstate(all="ignore"):  # as in torch, 1/0 is inf without a word
                results = run(*inputs)
        except (MemoryError, PlanLeftError):
            raise
        except Exception as error:  # the readable path will raise it again, with all it can say of it
            note(error, step.op.where)
            raise LayerFailedError(f"{step.op.where}: {text_of(error)}", computes_as_kuiper(step.op.layer)) from error
        results = (results,) if len(step.outputs) == 1 and not step.rest else results
        if not isinstance(results, (list, tuple)) or len(results) != len(step.outputs):
            raise LayerFailedError(f"{step.op.where}: {len(step.outputs)} outputs", computes_as_kuiper(step.op.layer))
        for value, result in zip(step.outputs, results, strict=True):
            if not step.rest and not _is_like(result, value.example):
                raise _mismatch(step.op, value.example, result)
            workspace.table[value.slot] = _off(workspace.arena, result)
        if spans is not None:
            spans.append(Span(step, 0, begun, seconds_now() - begun))
        if observer:
            observer(step, perf_counter() - started)

    def _new_workspace(self) -> Workspace:
        plan = self.executable
        arena = aligned(plan.arena_floats + _SLACK)
        arena[-_SLACK:] = 0
        for buffer in plan.constants:
            assert buffer.contents is not None
            flat = buffer.contents.reshape(-1)
            arena[buffer.offset : buffer.offset + flat.size] = flat
            arena[buffer.offset + flat.size : buffer.offset + buffer.floats] = 0
        table: list[Any] = [plan.python_constants.get(slot) for slot in range(plan.slots)]
        outside = plan.python_constants.keys() & {slot for _, slot in plan.persistent}
        for slot in outside:
            table[slot] = np.asarray(table[slot], order="C")
        layers = [step for step in plan.segments if isinstance(step, LayerStep)]
        views = {v: view_on(arena, v) for step in layers for v in step.inputs if isinstance(v, Value)}
        addresses, scratch = np.zeros(max(1, plan.bindings), np.intp), np.empty((0, 0), np.float32)
        workspace = Workspace(arena, table, addresses, views, scratch)
        self._bind(workspace, {slot: table[slot] for slot in outside})
        return workspace


def _is_like(result: Array, example: Any) -> bool:
    """Whether it has the shape and type of what the plan was made with; of what is no array, nothing is asked."""
    if isinstance(result, np.ndarray) and isinstance(example, np.ndarray):
        return (result.shape, result.dtype) == (example.shape, example.dtype)
    return isinstance(result, np.ndarray) == isinstance(example, np.ndarray)


def _mismatch(op: RuntimeOperator, example: Any, result: Any) -> PlanMismatchError:
    """The error for a result that is not like its example. A size may depend on data, a type does not."""
    types = [getattr(value, "dtype", type(value).__name__) for value in (example, result)]
    expected, got = (f"{shapes_of([value])} of {kind}" for value, kind in zip((example, result), types, strict=True))
    text = f"{op.where}: expected {expected} as when it was planned, got {got}"
    return PlanMismatchError(text, op, types[0] != types[1] and computes_as_kuiper(op.layer))


def _off(arena: Array, result: Any) -> Any:
    """What a layer returned, in memory of its own where it is a view of the arena; lists and tuples entry by entry."""
    if isinstance(result, (list, tuple)):
        return type(result)(_off(arena, entry) for entry in result)
    return result.copy() if isinstance(result, np.ndarray) and np.may_share_memory(result, arena) else result


def view_on(arena: Array, value: Value) -> Array:
    """A value as a layer sees it: a view of the arena that cannot be written to."""
    start = arena.view(np.uint8)[value.byte_offset :][: value.view.itemsize].view(value.view.dtype)
    return np.lib.stride_tricks.as_strided(start, value.shape, value.view.strides, subok=False, writeable=False)
