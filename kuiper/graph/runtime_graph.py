"""RuntimeGraph: a PNNX file that can run.

    NEED_INIT --init()--> NEED_BUILD --build(registry)--> COMPLETE --forward(x)--> outputs

``init`` turns the nouns of the file into runtime objects and wires them, ``build`` makes one layer for each operator
and fixes the order, ``forward`` walks that order or leaves the work to an engine. The graph does not know any layer or
engine: it is handed the registry that makes layers, which is also how a student's own get into a real model, and what
makes the engine. What these steps consist of stands in modules of their own:

    from_pnnx   the runtime objects of a file          building    the operators, rewritten, with their layers
    execution   one run, by the engine or the layers   schedule    the order
    described   summary, profile, plan and drawing
"""

from __future__ import annotations

from copy import deepcopy
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.errors import GraphStateError, ParameterError
from kuiper.graph import pnnx
from kuiper.graph.boundary import as_output
from kuiper.graph.building import (
    make_layers,
    refuse_unsupported,
    rewritten,
    rewritten_in_turn,
    types_of,
    unsupported,
)
from kuiper.graph.described import Described
from kuiper.graph.execution import Execution
from kuiper.graph.fallback import Refusal
from kuiper.graph.from_pnnx import runtime_operators
from kuiper.graph.makers import Makers
from kuiper.graph.out_of_memory import naming_the_place
from kuiper.graph.passes import DEFAULT_PASSES, find_passes
from kuiper.graph.schedule import queue_order
from kuiper.graph.session import Session
from kuiper.graph.state import State
from kuiper.graph.unwired import Unwired
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from kuiper.graph.passes import Pass
    from kuiper.graph.protocols import ExecutorProtocol, ExplorerProtocol, RegistryProtocol, WiredGraph
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.graph.step import Observer, OperatorTime


class GraphState(Enum):
    """What a RuntimeGraph still needs before it can run."""

    NEED_INIT = "needs init()"
    NEED_BUILD = "needs build()"
    COMPLETE = "complete"


class RuntimeGraph(Described):
    """A model: operators, the operands between them, and the order in which they run.

    ``kuiper.load`` makes one, calls ``init`` and calls ``build``.

    Parameters
    ----------
    source : path of a .param file, a pnnx.Graph made in code, or a function that makes one: that is called again where
        the graph is wanted as it was, instead of being kept with all its weights
    bin_path : path of the weights; by default the sibling of the .param file
    name : what messages and tables call the model; by default the name of the file

    Examples
    --------
    >>> from kuiper.models import bundled
    >>> graph = RuntimeGraph(bundled("cifar_resnet20"))
    >>> graph.init()
    >>> graph.state.value, graph.input_operators
    ('needs build()', [RuntimeOperator('pnnx.Input', 'pnnx_input_0')])
    """

    def __init__(
        self,
        source: str | PathLike[str] | pnnx.Graph | Callable[[], pnnx.Graph],
        bin_path: str | PathLike[str] | None = None,
        name: str = "",
    ) -> None:
        self._source = source
        self._bin_path = bin_path
        self.name = name or ("graph" if isinstance(source, pnnx.Graph) or callable(source) else Path(source).name)
        self.state = GraphState.NEED_INIT
        self.operators: list[RuntimeOperator] = []
        self.operands: list[RuntimeOperand] = []
        self.order: list[RuntimeOperator] = []
        self._execution: Execution | None = None
        self._makers = Makers()
        self._rewrites: tuple[Pass, ...] = ()
        self._without_passes = ""

    @property
    def input_operators(self) -> list[RuntimeOperator]:
        """The pnnx.Input operators in the order of the file: one argument of ``forward`` each."""
        return [op for op in self.operators if op.type == "pnnx.Input"]

    @property
    def output_operators(self) -> list[RuntimeOperator]:
        """The pnnx.Output operators in the order of the file."""
        return [op for op in self.operators if op.type == "pnnx.Output"]

    def init(self) -> None:
        """Read the file and make the runtime operators, wired by the operands they share.

        Raises
        ------
        ModelFormatError
            If the files do not follow the format.
        """
        if self.state is not GraphState.NEED_INIT:
            return
        with naming_the_place(self.name):
            graph = self._as_nouns()
            self.operators, self.operands = runtime_operators(graph, self.name)
        if not (isinstance(self._source, pnnx.Graph) or callable(self._source)):  # it is nobody else's
            for op in graph.operators:  # they and the operands are a circle, which would keep the weights for a while
                op.attrs.clear()
        self.state = GraphState.NEED_BUILD

    def _as_nouns(self) -> pnnx.Graph:
        """What the file says."""
        if isinstance(self._source, pnnx.Graph):
            return self._source
        return self._source() if callable(self._source) else pnnx.load(self._source, self._bin_path)

    def build(
        self,
        registry: RegistryProtocol,
        optimize: bool = False,
        passes: Sequence[Pass | str] | None = None,
        engine: Callable[[WiredGraph], ExecutorProtocol] | None = None,
        explorer: ExplorerProtocol | None = None,
    ) -> None:
        """Make the layers and fix the order of execution; a graph that needs ``init`` gets it first.

        Whatever the passes are, the model computes the same: ``kuiper.graph.passes`` has them all. If one of
        ``DEFAULT_PASSES`` fails, the model is built without passes, and a ``FallbackWarning`` says so.

        Parameters
        ----------
        registry : what makes the layers: the module ``kuiper.layers.registry``, or your own with its functions
        optimize : which passes are meant if none are given
        passes : rewrites of the graph, functions or their names, done in this order before layers are made; None stands
            for ``DEFAULT_PASSES`` with ``optimize`` and for none without
        engine : what makes an engine of the finished graph, to which ``forward`` leaves the work; the layers then do
            what the engine cannot
        explorer : what makes the page of ``explore``

        Raises
        ------
        UnsupportedOperatorError
            If the registry lacks operators of the graph; the message lists all of them.
        ParameterError
            If there is no pass of a name; the message lists all names.

        Examples
        --------
        >>> from kuiper.layers import registry
        >>> from kuiper.models import bundled
        >>> graph = RuntimeGraph(bundled("cifar_resnet20"))
        >>> graph.build(registry, passes=["fuse_activation_into_conv"])
        >>> graph.state.value, graph.order[1].type
        ('complete', 'kuiper.FusedConv2d')
        """
        self.init()
        if self.state is GraphState.COMPLETE:
            return
        refuse_unsupported(self.operators, registry, self.name)
        if passes is None:
            passes = DEFAULT_PASSES if optimize else ()
        rewrites = find_passes(passes, self.name)
        try:
            self._rewrite_and_complete(registry, rewrites, engine, explorer)
            return
        except MemoryError:
            raise
        except Exception as error:
            if not rewrites or tuple(rewrites) != DEFAULT_PASSES:
                raise
            refusal = Refusal.of(error)
        self._rewrite_and_complete(registry, (), engine, explorer)  # the operators of the file say what is wrong
        self.execution.fallbacks.tell(refusal, "the default passes to succeed", "the model runs without passes, slower")
        (self._without_passes,) = self.fallbacks

    def _rewrite_and_complete(
        self,
        registry: RegistryProtocol,
        rewrites: Sequence[Pass],
        engine: Callable[[WiredGraph], ExecutorProtocol] | None,
        explorer: ExplorerProtocol | None,
    ) -> None:
        """The operators after these passes, and all that they need to run."""
        self.init()
        self.state = GraphState.NEED_INIT  # should a pass or a layer fail halfway, the next build starts from the file
        with naming_the_place(self.name):
            types = types_of(self.operators)
            self.operators = rewritten(self.operators, self.operands, registry, rewrites)
            types.update(op.type for op in self.operators)
            self._rewrites = tuple(rewrites)
            self._complete(Makers.of(registry, types, engine, explorer))

    def _complete(self, makers: Makers) -> None:
        """Make what is still missing: layers, order, engine."""
        assert makers.registry is not None
        make_layers(self.operators, makers.registry)
        for op in self.operators:
            if op.graphs and (take_bodies := getattr(op.layer, "take_bodies", None)):
                take_bodies({name: self._body(f"{op.where}: {name}", body, makers) for name, body in op.graphs.items()})
        self.order = queue_order(self.operators)
        self._execution = Execution(self, makers.engine(self) if makers.engine else None, self._without_passes)
        self._makers = makers
        self.state = GraphState.COMPLETE

    @property
    def execution(self) -> Execution:
        """What runs the graph: its ``executor`` is the engine, or None. The graph must have been built."""
        return self._ready()

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """The mistakes of kuiper's because of which the model takes a slower way than it should; docs/inside/engine.md.

        The first of them has been told by a FallbackWarning. The graph must have been built.

        >>> import kuiper
        >>> from kuiper.models import bundled
        >>> kuiper.load(bundled("cifar_resnet20")).fallbacks
        ()
        """
        return self._ready().fallbacks.texts

    def as_in_file(self) -> RuntimeGraph:
        """The same model from the same files and layers, built without passes and without an engine.

        Raises
        ------
        GraphStateError
            If the graph has not been built, or is a copy, which does not know its files.
        """
        self._ready()
        if self._source is None:
            raise GraphStateError(self.name, "a graph that was read from a file", "a copy of one")
        graph = RuntimeGraph(self._source, self._bin_path, self.name)
        graph.build(self._makers.registry)
        return graph

    def stages(self) -> Iterator[tuple[str, list[RuntimeOperator]]]:
        """The operators as they stand in the file, under the name "file", and again after each pass of ``build``.

        Each pass rewires the operators that it is given: look at one stage before you ask for the next.

        Raises
        ------
        GraphStateError
            As ``as_in_file``.

        Examples
        --------
        >>> import kuiper
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"), passes=["fuse_add_into_conv"])
        >>> [(name, len(operators)) for name, operators in model.stages()]
        [('file', 54), ('fuse_add_into_conv', 45)]
        """
        self._ready()
        if self._source is None:
            raise GraphStateError(self.name, "a graph that was read from a file", "a copy of one")
        graph = RuntimeGraph(self._source, self._bin_path, self.name)
        graph.init()
        names = ["file", *(rewrite.__name__ for rewrite in self._rewrites)]
        turns = rewritten_in_turn(graph.operators, graph.operands, self._makers.registry, self._rewrites)
        yield from zip(names, turns, strict=True)

    def unsupported(self, registry: RegistryProtocol) -> dict[str, list[str]]:
        """The operator types that the registry lacks, each with the names of its operators; ``init`` must have run."""
        return unsupported(self.operators, registry)

    def forward(self, *inputs: Any, observer: Observer | None = None) -> Any:
        """Run every operator in order and return the arrays that the graph returns.

        In between, outputs are passed on by reference and dropped after their last use; what is returned is the
        caller's alone, as after a call of the graph.

        Parameters
        ----------
        inputs : one argument for each pnnx.Input: anything that np.asarray takes
        observer : is called after each operator with the operator, its outputs and the seconds it took; ``print_step``
            is one for debugging. As it wants to see every output, the layers then do the work even if there is an
            engine.

        Returns
        -------
        An array, or a tuple with one entry for each output of the graph.

        Raises
        ------
        GraphStateError
            If the graph has not been built.
        KuiperError
            If an operator fails; the message names it, its type and the shapes of its inputs.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> types = []
        >>> y = model.forward(np.zeros((1, 3, 32, 32)), observer=lambda op, outputs, seconds: types.append(op.type))
        >>> y.shape, types[-1]
        ((1, 10), 'nn.Linear')
        """
        with naming_the_place(self.name), Limited():
            results = self._ready().run(inputs, observer)
        return results[0] if len(results) == 1 else results

    def time_operators(self, *inputs: Any) -> list[OperatorTime]:
        """Run once, as ``forward`` does without an observer, and say how long each operator took, in order.

        With an engine there is an entry for each of an operator's steps, and none for an operator that costs nothing,
        such as a view.

        Raises
        ------
        GraphStateError, KuiperError
            As ``forward``.
        """
        with naming_the_place(self.name), Limited():
            return self._ready().times(inputs)

    def __call__(self, *inputs: Any) -> Any:
        """Run the model: one argument for each pnnx.Input; a Tensor, or a (nested) tuple of them, comes back.

        Arguments are anything that np.asarray takes: nested numbers, arrays, Tensors.

        The outputs are the caller's alone: they share memory with no argument, no weight, no output of another call and
        no other output of this one. So they may be written to and kept, and the arguments may be written to when the
        call has returned. A copy is made only where that would not hold: of an input, a weight or a view that is an
        output.

        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> y = model(np.zeros((2, 3, 32, 32)))
        >>> y.shape, y.array.flags.writeable
        ((2, 10), True)

        Raises
        ------
        GraphStateError
            If the graph has not been built.
        ShapeError, DataTypeError
            If an argument has not the declared number of axes, or is no array of numbers.
        OutOfMemoryError
            If there is not enough memory. As after any error, the model can be called again.
        KuiperError
            If an operator fails; the message names it, its type and the shapes of its inputs.
        """
        return as_output(self.forward(*inputs))

    def start(self, max_length: int) -> Session:
        """Begin a text: a session, whose calls each go on where the one before has ended.

        Parameters
        ----------
        max_length : how many tokens the session has room for; its memory grows in proportion

        Returns
        -------
        What is called with tokens. Many sessions of one model can go on side by side.

        Raises
        ------
        GraphStateError
            If the graph has not been built, or none of its operators has state.
        ParameterError
            If ``max_length`` is not at least 1.

        Examples
        --------
        >>> import kuiper
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> model.start(max_length=64)
        Traceback (most recent call last):
        kuiper.errors.GraphStateError: cifar_resnet20.pnnx.param: expected a model with state, got one without
        """
        execution = self._ready()
        if not execution.has_state:
            raise GraphStateError(self.name, "a model with state", "one without")
        if max_length < 1:
            raise ParameterError(f"{self.name}: start", "a max_length of at least 1", max_length)
        return Session(execution, State(max_length), self.name)

    def __repr__(self) -> str:
        return f"<RuntimeGraph {self.name}: {len(self.operators)} operators, {self.state.value}>"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: the graph as the passes left it, with its weights. Layers, plans and memory are made anew."""
        self._makers.expect_importable(self.name)
        return self._state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        unwired: Unwired = state["operators"]
        self.operators, self.operands = unwired.wired()
        if self.state is GraphState.COMPLETE:
            with naming_the_place(self.name):
                self._complete(self._makers)

    def __copy__(self) -> RuntimeGraph:
        """A model of its own on the same weights."""
        return self._like(self._state())

    def __deepcopy__(self, memo: dict[int, Any]) -> RuntimeGraph:
        """A model of its own on weights of its own."""
        return self._like(deepcopy(self._state(), memo))

    def _like(self, state: dict[str, Any]) -> RuntimeGraph:
        graph = type(self).__new__(type(self))
        graph.__setstate__(state)
        return graph

    def _state(self) -> dict[str, Any]:
        """What another graph needs to answer as this one does."""
        unwired = Unwired.of(self.operators, self.operands, layer=None)
        made = {"operators": unwired, "operands": [], "order": [], "_execution": None}
        if self.state is GraphState.COMPLETE:
            made |= {"_source": None, "_bin_path": None, "_rewrites": ()}  # nobody will read it again
        return {**vars(self), **made}

    def _body(self, name: str, graph: pnnx.Graph, makers: Makers) -> RuntimeGraph:
        """What runs a body of one of the operators: a graph that is built as this one is."""
        body = RuntimeGraph(graph, name=f"{self.name}: {name}")
        body.build(makers.registry, passes=DEFAULT_PASSES if makers.engine else self._rewrites, engine=makers.engine)
        return body

    def run_body(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs for these arrays, of whatever types: what the operator runs whose body this graph is."""
        return self._ready().run_as_body(inputs)

    def _ready(self) -> Execution:
        """What runs the graph, if it can run."""
        if self._execution is None or self.state is not GraphState.COMPLETE:
            raise GraphStateError(self.name, "a built graph", f"one that {self.state.value}")
        return self._execution
