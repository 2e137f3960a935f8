"""A plan that can run: compiled programs and layers in turn, on an arena of its own for each call.

    inputs -> [program: import, convolution, ...] -> [layer in Python] -> [program: ..., export] -> outputs

A plan is read-only once made. What a call writes to is a Workspace, which it takes from a shelf and puts back, so
threads can run one plan at the same time.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from kuiper.engine.address import address
from kuiper.engine.arena import place
from kuiper.engine.arena_map import arena_map
from kuiper.engine.cannot_plan import LayerFailedError, PlanLeftError, PlanMismatchError
from kuiper.engine.chains import join_chains
from kuiper.engine.clock import seconds as seconds_now
from kuiper.engine.cost import for_kernels
from kuiper.engine.graph_walk import GraphWalk
from kuiper.engine.memory import aligned
from kuiper.engine.planned_step import LayerStep, NativeStep, StepCard, set_lifetimes, without_idle_imports
from kuiper.engine.program import Program
from kuiper.engine.values import HostValue, Value
from kuiper.graph.boundary import shapes_of
from kuiper.graph.fallback import note, noting, text_of
from kuiper.layers.operand_parameters import computes_as_kuiper
from kuiper.machine import this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from kuiper.engine.planned_step import PlannedStep
    from kuiper.engine.rest import Rests
    from kuiper.engine.step import Step
    from kuiper.graph.protocols import WiredGraph
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import State
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

    Observer = Callable[[StepCard | LayerStep, float], None]


class Span(NamedTuple):
    """A thread's part of a step: what ran, the number of the thread, when it began (``clock.seconds``), how long."""

    step: StepCard | LayerStep
    thread: int
    start: float
    seconds: float


_SLACK = 64  # floats that kernels may read beyond the last storage


@dataclass(eq=False)
class Workspace:
    """What one call writes to: the arena, the table of host values, the views of the arena that layers get, and scratch
    memory, a row for each of the most threads that a call has had.

    ``addresses`` are where programs find what is not on the arena. ``session`` is the state whose arrays they name, if
    it is still there: a workspace on the shelf keeps no session alive.
    """

    arena: Array
    host: list[Any]
    addresses: Array
    views: dict[Value, Array]
    scratch: Array
    session: ref[State] | None = None


@dataclass(eq=False)
class Stretch:
    """Compiled steps without a stop, and which host values they read and write that lie elsewhere in each call."""

    program: Program
    steps: list[StepCard]
    externals: list[tuple[int, HostValue]]


class Plan:
    """How one graph runs for inputs of one set of shapes.

    Parameters
    ----------
    graph : a graph that has been built
    examples : an array for each input; only shapes and types matter, and the values of whole numbers that become shapes
    packed : where packed weights are kept, so that plans for other shapes find them; empty at first
    max_length : of the sessions that it is for, if the graph has state
    outputs : False leaves out whatever no state needs
    machine : what it is cut for; None: this machine
    choices : the machine for which algorithms are chosen, on which alone the bits of a result depend; None: ``machine``
    rests : makes what follows an operator whose output sizes depend on numbers; None: there is none
    ends : the operators in front of which the plan ends

    Raises
    ------
    CannotPlanError
        If the graph cannot be planned for these inputs.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> x = np.zeros((2, 3, 32, 32), np.float32)
    >>> plan = Plan(kuiper.load(bundled("cifar_resnet20"), optimize=False), [x], {})
    >>> [y.shape for y in plan.run([x], num_threads=1)]
    [(2, 10)]
    """

    def __init__(
        self,
        graph: WiredGraph,
        examples: Sequence[Array],
        packed: dict[Any, Any],
        max_length: int = 0,
        outputs: bool = True,
        machine: Machine | None = None,
        choices: Machine | None = None,
        rests: Rests | None = None,
        ends: Set[RuntimeOperator] = frozenset(),
    ) -> None:
        self.machine = machine or this_machine()
        self.choices = choices or self.machine
        kernels = for_kernels(self.machine)
        first_walk = GraphWalk(graph, self.choices, kernels, packed, None, max_length, outputs, rests, ends)
        first_walk.walk(examples)
        walk = GraphWalk(
            graph, self.choices, kernels, packed, first_walk.found_shapes(), max_length, outputs, rests, ends
        )
        walk.walk(examples)
        planner = walk.planner
        steps = join_chains(without_idle_imports(planner.steps), kernels)
        set_lifetimes(steps)
        self.arena_floats = place(planner.storages)
        self.storages = arena_map(planner.storages, walk.values)
        self.constants = [storage for storage in planner.storages if storage.contents is not None]
        self.slots = planner.slots
        self.constant_slots = {
            value.slot: value.example for step in steps for value in _host_values(step) if value.constant
        }
        lasting = {*self.constant_slots, *(slot for slot, _, _ in planner.remembered)}
        if planner.position is not None:
            lasting.add(planner.position.slot)
        externals = [external for step in steps if isinstance(step, NativeStep) for external in step.externals]
        self.lasting = [(index, value.slot) for index, value in externals if value.slot in lasting]
        self.exported = walk.exported
        self.externals = planner.externals
        self.fault = planner.fault
        self.position = planner.position
        self.remembered = planner.remembered
        self.outputs = [value for value in walk.exported if value.slot in walk.export_slots]
        self.stretches = _stretches(steps, lasting, self.machine.cores)
        self._shelf: list[Workspace] = []

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
        observer : is called with each step, a ``StepCard`` or a ``LayerStep``, and the seconds that it took
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

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> x = np.zeros((1, 3, 32, 32), np.float32)
        >>> plan = Plan(kuiper.load(bundled("cifar_resnet20")), [x], {})
        >>> algorithms = []
        >>> y = plan.run([x], 1, lambda step, seconds: algorithms.append(step.algorithm))
        >>> algorithms[0], algorithms[-1]
        ('import', 'export')
        """
        try:
            workspace = self._shelf.pop()
        except IndexError:
            workspace = self._new_workspace()
        host = workspace.host
        host[: len(inputs)] = inputs
        if state is not None:
            self._turn_to(state, workspace)
        for value in self.outputs:
            host[value.slot] = np.empty(value.example.shape, value.example.dtype)
        for stretch in self.stretches:
            if isinstance(stretch, LayerStep):
                self._run_layer(stretch, workspace, observer, spans)
            else:
                self._run_program(stretch, workspace, num_threads, observer, spans)
        if self.fault is not None and workspace.arena[self.fault.offset]:
            raise LayerFailedError("an index that lies outside", is_mistake=True)
        results = tuple(deepcopy(value.example) if value.constant else host[value.slot] for value in self.exported)
        host[: len(inputs)] = [None] * len(inputs)
        for value in self.outputs:
            host[value.slot] = None
        self._shelf.append(workspace)
        return results

    def _turn_to(self, state: State, workspace: Workspace) -> None:
        """Name the state's arrays, which never move, to the programs: nothing to do if the last call was for it."""
        if workspace.session is not None and workspace.session() is state:
            return
        arrays = {slot: state.array(key, shape) for slot, key, shape in self.remembered}
        if self.position is not None:
            arrays[self.position.slot] = state.position
        self._name(workspace, arrays)
        workspace.session = ref(state)

    def _name(self, workspace: Workspace, arrays: dict[int, Array]) -> None:
        """Note where these arrays lie, by their slots; they stay there."""
        found = {slot: address(array) for slot, array in arrays.items()}
        for index, slot in self.lasting:
            if slot in found:
                workspace.addresses[index] = found[slot]

    def compiled(self) -> list[Stretch]:
        """The stretches of compiled steps."""
        return [stretch for stretch in self.stretches if isinstance(stretch, Stretch)]

    def _run_program(
        self,
        stretch: Stretch,
        workspace: Workspace,
        num_threads: int,
        observer: Observer | None,
        spans: list[Span] | None,
    ) -> None:
        kept = []  # alive until the program has run
        for index, value in stretch.externals:
            array = workspace.host[value.slot]
            if not array.flags.c_contiguous:
                array = np.ascontiguousarray(array)
                kept.append(array)
            workspace.addresses[index] = address(array)
        if len(workspace.scratch) < num_threads:
            floats = max(stretch.program.scratch_floats for stretch in self.compiled())
            # whole lines and one more for each thread, so that two threads never write to one line
            floats = (floats + 31) // 16 * 16
            workspace.scratch = aligned(num_threads * floats).reshape(num_threads, floats)
        seconds = np.zeros(len(stretch.steps)) if observer else None
        parts = None if spans is None else np.zeros((num_threads, len(stretch.steps), 2))
        stretch.program.run(workspace.arena, workspace.addresses, workspace.scratch[:num_threads], seconds, parts)
        if spans is not None and parts is not None:
            spans += [
                Span(step, thread, float(start), float(end - start))
                for i, step in enumerate(stretch.steps)
                for thread, (start, end) in enumerate(parts[:, i])
                if start
            ]
        if observer and seconds is not None:
            for step, time in zip(stretch.steps, seconds, strict=True):
                observer(step, float(time))

    def _run_layer(
        self, step: LayerStep, workspace: Workspace, observer: Observer | None, spans: list[Span] | None
    ) -> None:
        started = perf_counter()
        begun = seconds_now()
        inputs = [
            workspace.views[value] if isinstance(value, Value) else workspace.host[value.slot] for value in step.inputs
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
            workspace.host[value.slot] = _off(workspace.arena, result)
        if spans is not None:
            spans.append(Span(step, 0, begun, seconds_now() - begun))
        if observer:
            observer(step, perf_counter() - started)

    def _new_workspace(self) -> Workspace:
        arena = aligned(self.arena_floats + _SLACK)
        arena[-_SLACK:] = 0
        for storage in self.constants:
            assert storage.contents is not None
            flat = storage.contents.reshape(-1)
            arena[storage.offset : storage.offset + flat.size] = flat
            arena[storage.offset + flat.size : storage.offset + storage.floats] = 0
        host: list[Any] = [None] * self.slots
        for slot, constant in self.constant_slots.items():
            host[slot] = constant
        outside = self.constant_slots.keys() & {slot for _, slot in self.lasting}
        for slot in outside:
            host[slot] = np.asarray(host[slot], order="C")
        layers = [step for step in self.stretches if isinstance(step, LayerStep)]
        views = {v: view_on(arena, v) for step in layers for v in step.inputs if isinstance(v, Value)}
        addresses, scratch = np.zeros(max(1, self.externals), np.intp), np.empty((0, 0), np.float32)
        workspace = Workspace(arena, host, addresses, views, scratch)
        self._name(workspace, {slot: host[slot] for slot in outside})
        return workspace


def _host_values(step: PlannedStep) -> list[HostValue]:
    """What a step reads from the table of host values, or writes there."""
    if isinstance(step, NativeStep):
        return [value for _, value in step.externals]
    return [value for value in step.inputs if isinstance(value, HostValue)]


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


def _stretches(steps: Sequence[PlannedStep], lasting: set[int], cores: int) -> list[Stretch | LayerStep]:
    """The steps in order, neighbours that are compiled joined to programs; what is in ``lasting`` slots never moves."""
    stretches: list[Stretch | LayerStep] = []
    native: list[NativeStep] = []
    for step in [*steps, None]:
        if isinstance(step, NativeStep):
            native.append(step)
            continue
        if native:
            used = [external for each in native for external in each.externals]
            externals = [(index, value) for index, value in used if value.slot not in lasting]
            program = Program([_made(each) for each in native], cores)
            stretches.append(Stretch(program, [each.card for each in native], externals))
            native = []
        if step is not None:
            stretches.append(step)
    return stretches


def _made(step: NativeStep) -> Step:
    with noting(step.card.op.where):
        return step.make()


def view_on(arena: Array, value: Value) -> Array:
    """A value as a layer sees it: a view of the arena that cannot be written to."""
    start = arena.view(np.uint8)[value.byte_offset :][: value.view.itemsize].view(value.view.dtype)
    return np.lib.stride_tricks.as_strided(start, value.shape, value.view.strides, subok=False, writeable=False)
