"""The engine of one model: a plan for each set of input shapes, the last few of them kept."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.cannot_plan import CannotPlanError, PlanLeftError, PlanMismatchError
from kuiper.engine.compile import compile_graph
from kuiper.engine.kernels.split_int8_product import RUNS
from kuiper.engine.plan_report import plan_report
from kuiper.engine.rest import Rests
from kuiper.engine.runner import Runner
from kuiper.errors import GraphStateError, ParameterError
from kuiper.graph.fallback import Refusal, text_of
from kuiper.locks import open_in_children
from kuiper.machine import REPRODUCIBLE, this_machine
from kuiper.tensor_limit import Limited
from kuiper.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.runner import Observer
    from kuiper.graph.protocols import WiredGraph
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import Paging, State
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

_PLANS_KEPT = 8
_PLANS_OF_SESSIONS = 24  # nine lengths of a piece, with and without outputs, and some for the end of the capacity
_PLANS_OF_BATCHES = 128  # numbers of rows, each with numbers of outputs

Key = tuple[tuple[tuple[tuple[int, ...], str], ...], int, bool, "Paging | None"]


class Engine:
    """Runs a built graph by plans. Threads may share it.

    A graph that cannot be planned for some shapes, whatever the reason, is left to the readable layers, so that both
    ways of running a model fail with the same error. The answer is then a ``Refusal``, which says why, and whether that
    is a mistake if the layers do not fail. Where sizes turn out to depend on numbers, plans end in front of the
    operator that makes them (``rest.py``).

    Parameters
    ----------
    graph : a graph that has been built
    machine : what its plans are for; None: this machine
    reproducible : whether algorithms are chosen for ``kuiper.machine.REPRODUCIBLE`` instead; steps are cut for
        ``machine`` all the same, which changes no bit

    Raises
    ------
    ParameterError
        If the machine has an instruction that this CPU lacks, or this build; if KUIPER_MACHINE cannot be meant.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.machine import stated, this_machine
    >>> from kuiper.models import bundled
    >>> graph = kuiper.load(bundled("cifar_resnet20"), optimize=False)
    >>> engine = Engine(graph, stated(this_machine(), "l2=256K cores=1"))
    >>> engine.plan_for([np.zeros((1, 3, 32, 32), np.float32)]).executable.machine.cores
    1
    """

    def __init__(self, graph: WiredGraph, machine: Machine | None = None, reproducible: bool = False) -> None:
        if machine is not None and machine.vnni and not RUNS:
            raise ParameterError("machine", "features that this CPU and this build of kuiper have", "vnni")
        self._graph = graph
        self._machine = machine or this_machine()
        self._choices = REPRODUCIBLE if reproducible else self._machine
        self._plans: OrderedDict[Key, Runner | Refusal] = OrderedDict()
        self._packed: dict[Any, Any] = {}
        self._rests = Rests(graph.name, lambda rest: Engine(rest, machine, reproducible))
        self._lock = Lock()
        open_in_children(self)

    def run(
        self,
        inputs: Sequence[Array],
        observer: Observer | None = None,
        *,
        state: State | None = None,
        outputs: bool = True,
    ) -> tuple[Any, ...] | Refusal:
        """The outputs, or why the readable layers must do it.

        Parameters
        ----------
        inputs : an array for each input of the graph
        observer : is called with each step, a ``StepInfo`` or a ``LayerStep``, and the seconds that it took
        state : of the session, if the graph has state
        outputs : False brings the state up to date and computes nothing else

        Returns
        -------
        A tuple with an array for each output of the graph; a ``Refusal`` if the graph cannot be planned for these
        inputs, or a layer failed, so that the readable path computes it or raises the error.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> engine = Engine(kuiper.load(bundled("cifar_resnet20"), optimize=False))
        >>> [y.shape for y in engine.run([np.zeros((2, 3, 32, 32), np.float32)])]
        [(2, 10)]
        """
        while True:
            try:
                plan = self.plan_for(inputs, state.max_length if state else 0, outputs, state.paging if state else None)
                return plan if isinstance(plan, Refusal) else plan.run(inputs, get_num_threads(), observer, state)
            except MemoryError as error:
                # The layers need less at a time, above all without the plans, or can say where it ends.
                with self._lock:
                    self._plans.clear()
                return Refusal(text_of(error))
            except PlanMismatchError as error:
                if not self._ends_in_front_of(error, state):
                    key = _key(inputs, state.max_length if state else 0, outputs, state.paging if state else None)
                    return self._refusal_of(error, key)
            except PlanLeftError as error:
                return _refusal(error)

    def _ends_in_front_of(self, error: PlanMismatchError, state: State | None) -> bool:
        """Whether plans can end in front of the operator whose sizes depend on numbers, as they do from now on."""
        if error.is_mistake or state is not None:
            return False
        with self._lock:
            self._rests.starts.add(error.op)
            self._plans.clear()
        return True

    def _refusal_of(self, error: PlanMismatchError, key: Key) -> Refusal:
        """Why plans for these inputs do not hold, which is kept."""
        refusal = _refusal(error)
        if refusal.error is None:  # it keeps arrays alive
            with self._lock:
                self._plans[key] = refusal
        return refusal

    def report(self, inputs: Sequence[Array], runs: int, state: State | None = None) -> Report:
        """The plan for these inputs as a table, with the median time of each step.

        Parameters
        ----------
        inputs : an array for each input of the graph
        runs : how many runs are timed
        state : of a session, if the graph has state; it stays where it is

        Returns
        -------
        A table with a row for each step; ``plan_report`` explains its columns.

        Raises
        ------
        GraphStateError
            If the engine leaves these inputs to the layers.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> engine = Engine(kuiper.load(bundled("cifar_resnet20"), optimize=False))
        >>> engine.report([np.zeros((1, 3, 32, 32), np.float32)], runs=1).rows[-1][1]
        'pnnx.Output'
        """
        plan = self.plan_for(inputs, state.max_length if state else 0)
        answer = plan if isinstance(plan, Refusal) else self.run(inputs, state=state)
        if isinstance(answer, Refusal):
            got = "none: these inputs are left to the layers"
            raise GraphStateError(self._graph.name, "a plan", got, hint=answer.reason)
        assert isinstance(plan, Runner)
        return plan_report(self._graph.name, plan, inputs, runs, state)

    def plan_for(
        self, inputs: Sequence[Array], max_length: int = 0, outputs: bool = True, paging: Paging | None = None
    ) -> Runner | Refusal:
        """The plan for inputs of these shapes and types, kept or made anew, or why there is none.

        Parameters
        ----------
        inputs : an array for each input of the graph
        max_length : of the sessions that the plan is for, if the graph has state
        outputs : False leaves out what no state needs
        paging : how the texts of a step share pages; None: a session is one text

        Returns
        -------
        What runs it; there is one for each ``max_length`` and ``paging``, with and without ``outputs``. A
        ``Refusal`` if it cannot be made.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> engine = Engine(kuiper.load(bundled("cifar_resnet20"), optimize=False))
        >>> x = np.zeros((1, 3, 32, 32), np.float32)
        >>> engine.plan_for([x]) is engine.plan_for([x])
        True
        """
        ends: set[RuntimeOperator] = set()
        while True:
            plan = self._planned(inputs, max_length, outputs, paging, ends)
            if plan is not None:
                return plan

    def _planned(
        self,
        inputs: Sequence[Array],
        max_length: int,
        outputs: bool,
        paging: Paging | None,
        ends: set[RuntimeOperator],
    ) -> Runner | Refusal | None:
        """The same, with a plan that ends in front of these operators; None if there has been one more of them."""
        key = _key(inputs, max_length, outputs, paging)
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
                return self._plans[key]
            plan: Runner | Refusal
            rests = None if max_length else self._rests
            try:
                with np.errstate(all="ignore"), Limited():
                    ends |= self._rests.starts
                    executable = compile_graph(
                        self._graph,
                        inputs,
                        self._packed,
                        max_length=max_length,
                        outputs=outputs,
                        paging=paging,
                        machine=self._machine,
                        choices=self._choices,
                        rests=rests,
                        ends=ends,
                    )
                    plan = Runner(executable)
            except MemoryError:  # there may be enough another time
                raise
            except CannotPlanError as error:
                if error.op is not None and rests is not None and error.op not in ends:
                    (rests.starts if error.depends_on_numbers else ends).add(error.op)
                    return None
                plan = Refusal(str(error))
            except Exception as error:  # the layers will raise it, too, or a mistake has been found
                plan = Refusal.of(error)
                if plan.error is not None:
                    return plan
            self._plans[key] = plan
            if len(self._plans) > (_PLANS_OF_BATCHES if paging else _PLANS_OF_SESSIONS if max_length else _PLANS_KEPT):
                self._plans.popitem(last=False)
            return plan


def _refusal(error: PlanLeftError) -> Refusal:
    """Why a plan has given no answer."""
    if not error.is_mistake:
        return Refusal(str(error))
    return Refusal.of(error.__cause__ if isinstance(error.__cause__, Exception) else error)


def _key(inputs: Sequence[Array], max_length: int, outputs: bool, paging: Paging | None) -> Key:
    return tuple((array.shape, array.dtype.str) for array in inputs), max_length, outputs, paging
