"""From a graph and the shapes of its inputs to an ``Executable``, step by step on plain data:

    lower            each operator becomes a view, steps, or a call of its layer      graph_lowering.py, lowering/
    fuse rows        steps with a large image between them become one                 chains.py
    find lifetimes   from which step to which each buffer is needed                   planned_step.py
    place buffers    those that are never needed at the same time share memory        arena.py
    make steps       kernels with their offsets, strides and weights, in programs     program.pyx

Weights are packed during lowering, as the sizes of their panels decide how a step is cut; they are kept for later plans
of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.engine.arena import place_buffers
from kuiper.engine.arena_map import arena_map
from kuiper.engine.builder import Builder
from kuiper.engine.chains import join_chains
from kuiper.engine.cost import for_kernels
from kuiper.engine.executable import Executable, Segment
from kuiper.engine.graph_lowering import GraphLowering
from kuiper.engine.planned_step import LayerStep, NativeStep, find_lifetimes
from kuiper.engine.program import Program
from kuiper.engine.values import PythonValue
from kuiper.graph.fallback import noting
from kuiper.machine import this_machine

if TYPE_CHECKING:
    from collections.abc import Container, Sequence, Set

    from kuiper.engine.planned_step import PlannedStep
    from kuiper.engine.rest import Rests
    from kuiper.engine.step import Step
    from kuiper.graph.protocols import WiredGraph
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import Paging
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine


def compile_graph(
    graph: WiredGraph,
    examples: Sequence[Array],
    packed: dict[Any, Any],
    *,
    max_length: int = 0,
    outputs: bool = True,
    paging: Paging | None = None,
    machine: Machine | None = None,
    choices: Machine | None = None,
    rests: Rests | None = None,
    ends: Set[RuntimeOperator] = frozenset(),
) -> Executable:
    """How a graph runs for inputs of one set of shapes.

    Parameters
    ----------
    graph : a graph that has been built
    examples : an array for each input; only shapes and types matter, and the values of integers that become shapes
    packed : where packed weights are kept, so that plans for other shapes find them; empty at first
    max_length : of the sessions that it is for, if the graph has state
    outputs : False leaves out whatever no state needs
    paging : how the texts of a step share pages; None: a session is one text
    machine : what it is cut for; None: this machine
    choices : the machine for which algorithms are chosen, on which alone the bits of a result depend; None: ``machine``
    rests : makes what follows an operator whose output sizes depend on numbers; None: there is none
    ends : the operators in front of which the plan ends

    Returns
    -------
    What a ``Runner`` runs.

    Raises
    ------
    CannotPlanError
        If the graph cannot be planned for these inputs.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> x = np.zeros((2, 3, 32, 32), np.float32)
    >>> executable = compile_graph(kuiper.load(bundled("cifar_resnet20"), optimize=False), [x], {})
    >>> len(executable.segments), executable.exported[0].shape
    (1, (2, 10))
    """
    machine = machine or this_machine()
    choices, kernels = choices or machine, for_kernels(machine)
    builder = Builder(choices, kernels, packed, max_length, paging)
    lowered = GraphLowering(graph, builder, rests, ends)
    lowered.lower(examples, outputs)
    steps = join_chains(builder.steps, kernels)
    lifetimes = find_lifetimes(steps)
    arena_floats = place_buffers(builder.buffers, lifetimes)
    constants = {value.slot: value.example for step in steps for value in _python_values(step) if value.constant}
    integers = (value.slot for value in builder.state_integers.values())
    persistent = {*constants, *(array.slot for array in builder.state_arrays), *integers}
    bindings = [binding for step in steps if isinstance(step, NativeStep) for binding in step.bindings]
    return Executable(
        machine=machine,
        choices=choices,
        segments=_segments(steps, persistent, machine.cores),
        arena_floats=arena_floats,
        arena_map=arena_map(builder.buffers, lifetimes, lowered.values),
        constants=[buffer for buffer in builder.buffers if buffer.contents is not None],
        slots=builder.slots,
        bindings=builder.bindings,
        python_constants=constants,
        persistent=[(index, value.slot) for index, value in bindings if value.slot in persistent],
        exported=lowered.exported,
        written=builder.written,
        state_arrays=builder.state_arrays,
        state_integers=builder.state_integers,
        error_flag=builder.error_flag,
    )


def _python_values(step: PlannedStep) -> list[PythonValue]:
    """What a step reads from the table of Python values, or writes there."""
    if isinstance(step, NativeStep):
        return [value for _, value in step.bindings]
    return [value for value in step.inputs if isinstance(value, PythonValue)]


def _segments(steps: Sequence[PlannedStep], persistent: Container[int], cores: int) -> list[Segment | LayerStep]:
    """The steps in order, compiled neighbours joined to programs; what is in ``persistent`` slots never moves."""
    segments: list[Segment | LayerStep] = []
    native: list[NativeStep] = []
    for step in [*steps, None]:
        if isinstance(step, NativeStep):
            native.append(step)
            continue
        if native:
            used = [binding for each in native for binding in each.bindings]
            bindings = [(index, value) for index, value in used if value.slot not in persistent]
            program = Program([_made(each) for each in native], cores)
            segments.append(Segment(program, [each.info for each in native], bindings))
            native = []
        if step is not None:
            segments.append(step)
    return segments


def _made(step: NativeStep) -> Step:
    with noting(step.info.op.where):
        return step.make()
