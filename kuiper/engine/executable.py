"""What a compiled graph is, as data: programs, layers between them, and what they find on the arena and outside of it.

inputs -> [program: import, convolution, ...] -> [layer in Python] -> [program: ..., export] -> outputs
           '-------- a segment ---------'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.arena_map import Placed
    from kuiper.engine.builder import StateArray
    from kuiper.engine.planned_step import LayerStep, StepInfo
    from kuiper.engine.program import Program
    from kuiper.engine.values import Buffer, PythonValue
    from kuiper.machine import Machine


@dataclass(eq=False, frozen=True)
class Segment:
    """Compiled steps without a stop, and which Python values they read and write that lie elsewhere in each call."""

    program: Program
    steps: list[StepInfo]
    bindings: list[tuple[int, PythonValue]]


@dataclass(eq=False, frozen=True, kw_only=True)
class Executable:
    """How one graph runs for inputs of one set of shapes: made by ``compile_graph``, run by a ``Runner``.

    Values that are not on the arena have a *slot* in a table of Python values, and an index among the *bindings* of a
    program, the addresses of memory outside of the arena, if compiled steps read or write them.
    """

    machine: Machine
    """What it is cut for."""
    choices: Machine
    """For which its algorithms are chosen."""
    segments: Sequence[Segment | LayerStep]
    arena_floats: int
    arena_map: list[Placed]
    constants: list[Buffer]
    """What is on the arena from the start."""
    slots: int
    bindings: int
    python_constants: dict[int, Any]
    """What is in the table of Python values from the start, by slot."""
    persistent: list[tuple[int, int]]
    """Binding and slot of what stays where it is from call to call: constants, and a session's arrays."""
    exported: list[PythonValue]
    """What the graph returns."""
    written: list[PythonValue]
    """The arrays among it that steps fill."""
    state_arrays: list[StateArray]
    state_integers: dict[str, PythonValue]
    """Arrays of integers of a session's state, by the names that it has for them: how many positions are filled."""
    error_flag: Buffer | None
    """A number on the arena that is not 0 after a run that only the layers can answer."""

    def compiled(self) -> list[Segment]:
        """The segments of compiled steps."""
        return [each for each in self.segments if isinstance(each, Segment)]
